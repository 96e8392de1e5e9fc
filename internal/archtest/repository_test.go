package archtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// output runs a tool and returns what it printed, or "" where the tool is missing.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

func required(t *testing.T) []string {
	t.Helper()
	var mod struct{ Require []struct{ Path string } }
	if err := json.Unmarshal([]byte(output(t, "go", "mod", "edit", "-json")), &mod); err != nil {
		t.Fatalf("read go.mod: %v", err)
	}
	var out []string
	for _, r := range mod.Require {
		out = append(out, r.Path)
	}
	return out
}

func TestLedger(t *testing.T) {
	document, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range Ledger(graph(t), required(t), string(document)) {
		t.Error(what)
	}
}

func TestLedgerFindsOffences(t *testing.T) {
	g := Graph{"internal/a": imports("fmt", "internal/b", "example.org/mod/v2/sub", "example.org/other", "example.org/mod"), "internal/b": nil}
	got := Ledger(g, []string{"example.org/mod", "example.org/mod/v2", "example.org/other", "example.org/unused"}, `
| module | what for | why this one | weight |
| --- | --- | --- | --- |
| `+"`example.org/mod/v2`"+` | x | y | 1 MB |
| `+"`example.org/other`"+` | x |  | 1 MB |
| `+"`example.org/unused`"+` | x | y | 1 MB |

| `+"`example.org/mod`"+` | another | table | entirely |
`)
	want := []string{
		"-: module example.org/mod has no row in docs/dependencies.md (module, what for, why this one, weight)",
		"docs/dependencies.md: nothing imports example.org/unused",
		"docs/dependencies.md: the row of example.org/other must say what for, why this one, and weight",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNothingPrivate reads every tracked file.
func TestNothingPrivate(t *testing.T) {
	list := output(t, "git", "ls-files", "-z")
	if list == "" {
		t.Skip("not a git checkout: there is no list of tracked files")
	}
	paths := Paths(strings.Fields(output(t, "git", "rev-parse", "--show-toplevel") + output(t, "go", "env", "GOMODCACHE", "GOCACHE")))
	hosts := Hosts(output(t, "go", "env", "GOPROXY", "GOSUMDB") + output(t, "npm", "config", "get", "registry") + aptSources(t))
	if len(hosts) == 0 {
		t.Log("no tool of this machine names a host of packages")
	}
	for _, name := range strings.Split(strings.TrimRight(list, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		report(t, Private(name, text, paths, hosts), nil)
	}
}

func aptSources(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("/etc/apt/sources.list.d/*")
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range append(files, "/etc/apt/sources.list") {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // not Debian
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") {
				all.WriteString(line)
			}
		}
	}
	return all.String()
}

func TestPrivateFindsOffences(t *testing.T) {
	paths := Paths([]string{"/srv/build/garuda", "/tmp", "relative/path", "/usr/local", "/home/ann/go/pkg/mod"})
	if diff := cmp.Diff([]string{"/srv/build/garuda", "/home/ann/go/pkg/mod"}, paths); diff != "" {
		t.Error(diff)
	}
	hosts := Hosts("https://mirror.example.org/go,direct\nsum.example.org+abc123 https://other.example.com:8080/x|off\nTypes: deb\nhttp://localhost:4873/ http://127.0.0.1/\nsigned.gpg main\n")
	if diff := cmp.Diff([]string{"mirror.example.org", "sum.example.org", "other.example.com", "signed.gpg"}, hosts); diff != "" {
		t.Error(diff)
	}
	text := "ok /srv/build/garudax and x/srv/build/garuda\nsee /srv/build/garuda/cmd\nfrom https://mirror.example.org/x, not xmirror.example.org\nsum.example.org."
	var got []string
	for _, o := range Private("f", []byte(text), paths, hosts) {
		got = append(got, o.Where+" "+o.Path[1])
	}
	want := []string{"f:2 /srv/build/garuda", "f:3 mirror.example.org", "f:4 sum.example.org"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if found := Private("f", []byte("\x00/srv/build/garuda"), paths, hosts); found != nil {
		t.Errorf("a binary file: %v", found)
	}
}
