package script_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"garuda/internal/archtest/doctest"
	"garuda/internal/demo"
	"garuda/internal/testkit/modelserver"
)

// docsKey is the key that documents work with.
const docsKey = "sk-ant-of-the-documents-wxyz"

// TestDocuments runs every block of the documents that shows commands ("console")
// or a chat ("chat"; see chat_docs_test.go), each in a fresh home and a fresh
// copy of the demo's sample project, and compares what comes out with what the
// document says.
//
// The model is a scripted server in Anthropic's place. A comment in the line
// before a block says what is different for it:
//
//	<!-- model: fix -->    the model plays docs/fix.json instead of docs/answers.json
//	<!-- model: none -->   there is no key and no model
//	<!-- home: empty -->   commands run where a first start has them run, in the
//	                       sandbox; else they run on the host, since most blocks
//	                       show what is asked
func TestDocuments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents show the commands of a Unix shell")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("the documents show commands for bash: %v", err)
	}
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(documents) == 0 {
		t.Fatalf("find the documents: %d, %v", len(documents), err)
	}
	for _, path := range append(documents, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, b := range doctest.Blocks(string(text)) {
				t.Run(fmt.Sprintf("line %d", b.Line), func(t *testing.T) {
					t.Parallel()
					w := newDocsWorld(t, modelComment(string(text), b.Line), emptyHome(string(text), b.Line))
					if err := b.Run(w.project, w.env); err != nil {
						t.Errorf("%s: %v", filepath.Base(path), err)
					}
				})
			}
			for _, b := range chatBlocks(string(text)) {
				t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
					t.Parallel()
					b.run(t, bash, newDocsWorld(t, modelComment(string(text), b.line), emptyHome(string(text), b.line)))
				})
			}
		})
	}
}

// modelComment is what the comment above the fence in this line says of the model.
func modelComment(document string, line int) string {
	lines := strings.Split(document, "\n")
	if line < 2 {
		return ""
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(lines[line-2]), "<!-- model: ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(text, "-->"))
}

// emptyHome tells whether the comment above the fence in this line wants a home without
// settings.
func emptyHome(document string, line int) bool {
	lines := strings.Split(document, "\n")
	return line >= 2 && strings.TrimSpace(lines[line-2]) == "<!-- home: empty -->"
}

// docsWorld is where one block runs.
type docsWorld struct {
	project string
	env     []string
}

func newDocsWorld(t *testing.T, model string, emptyHome bool) *docsWorld {
	t.Helper()
	w := &docsWorld{project: filepath.Join(t.TempDir(), "convert")}
	if err := os.Mkdir(w.project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := demo.Write(w.project); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".garuda"), 0o700); err != nil {
		t.Fatal(err)
	}
	if !emptyHome {
		if err := os.WriteFile(filepath.Join(home, ".garuda", "settings.json"), []byte(onTheHost), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "TZ=UTC", "LC_ALL=C.UTF-8", "TERM=dumb",
	}
	if model == "none" {
		hideLocalServers(t, home)
		return w
	}
	if model == "" {
		model = "answers"
	}
	scenario, err := modelserver.ReadFile(filepath.Join("docs", model+".json"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := modelserver.New(scenario, modelserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(context.Background(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w.env = append(w.env, "ANTHROPIC_API_KEY="+docsKey, "ANTHROPIC_BASE_URL="+s.URL())
	return w
}

// hideLocalServers moves the local providers to a port where nothing answers:
// whoever runs the tests may have a model server of their own.
func hideLocalServers(t *testing.T, home string) {
	t.Helper()
	providers := map[string]any{}
	for _, name := range []string{"ollama", "lmstudio", "llamacpp", "vllm"} {
		providers[name] = map[string]string{"baseUrl": "http://localhost:9/v1"}
	}
	text, err := json.Marshal(map[string]any{"providers": providers})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".garuda", "models.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentsFindDifferences is the control: a document that is wrong fails.
func TestDocumentsFindDifferences(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents show the commands of a Unix shell")
	}
	for _, document := range []string{
		"```console\n$ garuda version\ngaruda 9.9.9\n```\n",
		"```console\n$ garuda -p 'say hello'\n```\n```console\n$ garuda -p 'say hello'\nGoodbye.\n```\n",
		"<!-- model: none -->\n```console\n$ garuda -p 'say hello'\n```\n",
	} {
		blocks := doctest.Blocks(document)
		b := blocks[len(blocks)-1]
		w := newDocsWorld(t, modelComment(document, b.Line), false)
		if err := b.Run(w.project, w.env); err == nil {
			t.Errorf("no difference was found in\n%s", document)
		}
	}
	if got := modelComment("text\n<!-- model: fix -->\n```console\n", 3); got != "fix" {
		t.Errorf("the comment names %q", got)
	}
}

// TestScenariosAreUsed: each file in docs is named by a document.
func TestScenariosAreUsed(t *testing.T) {
	var all bytes.Buffer
	documents, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(documents, "../../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	scenarios, err := filepath.Glob("docs/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scenarios {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if name != "answers" && !strings.Contains(all.String(), "<!-- model: "+name+" -->") {
			t.Errorf("no document uses %s", path)
		}
	}
}
