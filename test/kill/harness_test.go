//go:build unix

// Package kill_test ends the real binary from outside, at any moment and in
// every phase, and looks at what is left: the journal, the output, the
// processes.
package kill_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "garuda/internal/cli" // a change of the program makes the go command run these tests again
	"garuda/internal/session"
	"garuda/internal/state"
	"garuda/internal/testkit/modelserver"
)

// binary is the path of the built garuda, made once.
var binary string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// Programs that are started inherit what is ignored, and not what is caught.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP)
	dir, err := os.MkdirTemp("", "garuda-kill-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "garuda")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "garuda/cmd/garuda")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build garuda: %v\n%s", err, out)
		return 1
	}
	// Much of the time is spent waiting for what a run is given to end.
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// project is a folder to work in, with a home and a model of its own.
type project struct {
	t         testing.TB
	dir, home string
}

func newProject(t testing.TB) *project {
	t.Helper()
	base := t.TempDir()
	p := &project{t: t, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for _, dir := range []string{p.dir, filepath.Join(p.home, ".garuda")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// serve starts a server that plays these steps, and makes it the project's model.
func (p *project) serve(format string, steps ...modelserver.Step) *modelserver.Server {
	p.t.Helper()
	s := modelserver.Start(p.t, &modelserver.Scenario{Steps: steps, Wire: modelserver.Wire{DripMs: 1}}, modelserver.Options{Strict: true})
	p.useModel(format, s.URL())
	return s
}

func (p *project) useModel(format, url string) {
	p.t.Helper()
	typ, base := "openai-compatible", url+"/v1"
	switch format {
	case "anthropic":
		typ, base = "anthropic", url
	case "gemini":
		typ, base = "gemini", url
	case "responses":
		typ = "openai-responses"
	}
	b, err := json.Marshal(map[string]any{
		"default":   "mock/scripted",
		"providers": map[string]any{"mock": map[string]any{"type": typ, "baseUrl": base}},
		"models": map[string]any{"mock/scripted": map[string]any{
			"contextWindow": 200000, "maxTokens": 64000, "price": map[string]float64{"input": 1, "output": 2}}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(filepath.Join(p.home, ".garuda", "models.json"), string(b))
}

func (p *project) write(path, text string) {
	p.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, path)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) read(path string) string {
	b, err := os.ReadFile(filepath.Join(p.dir, path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(b)
}

// garuda is the program, not started, with a bare environment.
func (p *project) garuda(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"HOME=" + p.home, "GARUDA_HOME=" + filepath.Join(p.home, ".garuda"),
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
	}
	return cmd
}

// record is one whole line of a journal, as far as tests look at it.
type record struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Name string `json:"name"`
	// Message is a user's, an assistant's or a tool result's.
	Message struct {
		Blocks []struct{ Type, ID, Text string } `json:"blocks"`
	} `json:"message"`
	StopReason string `json:"stopReason"`
}

// journal gives the only session's id and whole records; "" where there is none.
func (p *project) journal() (id string, records []record) {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, ".garuda", "sessions", "*.jsonl"))
	if err != nil || len(files) > 1 {
		p.t.Fatalf("journals: %v, %v", files, err)
	}
	if len(files) == 0 {
		return "", nil
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		p.t.Fatal(err)
	}
	lines := bytes.Split(data, []byte("\n"))
	for n, line := range lines[:len(lines)-1] {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			p.t.Fatalf("journal, line %d: %v", n+1, err)
		}
		records = append(records, r)
	}
	return strings.TrimSuffix(filepath.Base(files[0]), ".jsonl"), records
}

func (p *project) store() *session.Store {
	p.t.Helper()
	dir, err := state.Open(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(dir.Close)
	return session.NewStore(dir, session.Options{})
}

// types are the kinds of records, in order.
func types(records []record) []string {
	var out []string
	for _, r := range records {
		out = append(out, r.Type)
	}
	return out
}

// line is one line of stream-json output, as far as tests look at it.
type line struct {
	Type           string   `json:"type"`
	Subtype        string   `json:"subtype"`
	TerminalReason string   `json:"terminal_reason"`
	IsError        bool     `json:"is_error"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	// Message is an object in what was said, and a text in other lines.
	Message json.RawMessage `json:"message"`
}

// content is one block of a line's message.
type content struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
	Text      string `json:"text"`
}

// said are the blocks of a line that says something.
func (l *line) said(t testing.TB) []content {
	t.Helper()
	if l.Type != "assistant" && l.Type != "user" {
		return nil
	}
	var m struct{ Content []content }
	if err := json.Unmarshal(l.Message, &m); err != nil {
		t.Fatalf("a message in the output: %v: %s", err, l.Message)
	}
	return m.Content
}

// outputLines are the whole lines of JSON output.
func outputLines(t testing.TB, out []byte) []line {
	t.Helper()
	var all []line
	pieces := bytes.Split(out, []byte("\n"))
	for n, piece := range pieces[:len(pieces)-1] {
		var l line
		if err := json.Unmarshal(piece, &l); err != nil {
			t.Fatalf("output, line %d: %v: %s", n+1, err, piece)
		}
		all = append(all, l)
	}
	return all
}
