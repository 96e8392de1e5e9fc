package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/tool"
)

// knownTools is what the tests take for the tools of a session.
func knownTools() []ToolInfo {
	return []ToolInfo{
		{Name: "read_file", Class: tool.ClassRead}, {Name: "list_dir", Class: tool.ClassRead}, {Name: "glob", Class: tool.ClassRead}, {Name: "grep", Class: tool.ClassRead},
		{Name: "git_diff", Class: tool.ClassRead}, {Name: "process_manager", Class: tool.ClassRead}, {Name: "git_log", Class: tool.ClassRead},
		{Name: "write_file", Class: tool.ClassPath}, {Name: "edit_file", Class: tool.ClassPath}, {Name: "delete_file", Class: tool.ClassPath}, {Name: "move_file", Class: tool.ClassPath},
		{Name: "bash", Class: tool.ClassCommand}, {Name: "repl", Class: tool.ClassCommand}, {Name: "web_fetch", Class: tool.ClassURL},
		{Name: "remember", Class: tool.ClassInput, Fields: []string{"kind", "text"}}, {Name: "web_search", Class: tool.ClassInput}, {Name: "todo_write", Class: tool.ClassSession},
	}
}

// project makes a root with a git repository, some files, and a home beside it.
func project(t testing.TB) (root, home string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, home = filepath.Join(base, "home", "u", "project"), filepath.Join(base, "home", "u")
	for _, dir := range []string{"src", "pkg", "x", ".git/objects", ".git/refs"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"README.md": "hi\n", "a.txt": "a\n", "f": "f\n", "src/a.go": "package a\n",
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		".env": "KEY=SECRET\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root, home
}

// shellRules are the rules named in the header of the case table.
func shellRules() RuleSource {
	return RuleSource{
		Source: "test",
		Allow: Rules("bash(ls *)", "bash(cat *)", "bash(echo *)", "bash(git status *)", "bash(git diff *)", "bash(git log *)",
			"bash(rg *)", "bash(find *)", "bash(sed *)", "bash(sort *)", "bash(go test *)", "bash(npm run test *)"),
		Deny: Rules("bash(curl *)", "bash(rm *)", "bash(npx *)"),
	}
}

func newEngine(t testing.TB, change func(*Config)) *Engine {
	t.Helper()
	root, home := project(t)
	cfg := Config{Root: root, Home: home, Attended: true, Tools: knownTools(), EnvNames: []string{"PATH", "HOME", "LANG", "TMPDIR"}}
	if change != nil {
		change(&cfg)
	}
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func command(text string) *tool.DecisionRequest {
	return &tool.DecisionRequest{CallID: "c1", Tool: "bash", Class: tool.ClassCommand,
		Plan: &tool.Plan{Target: text, Preview: text, Effects: tool.Effects{Commands: []string{text}}}}
}

type shellCase struct {
	line            int
	expect, command string
}

func shellCases(t testing.TB, file string) []shellCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []shellCase
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' || strings.HasPrefix(line, "expect\t") {
			continue
		}
		expect, quoted, ok := strings.Cut(line, "\t")
		var text string
		if err := json.Unmarshal([]byte(quoted), &text); !ok || err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		out = append(out, shellCase{i + 1, expect, text})
	}
	return out
}

func TestShellCases(t *testing.T) {
	for _, file := range []string{"shell.tsv", "shell_more.tsv", "shell_kinds.tsv"} {
		t.Run(file, func(t *testing.T) {
			e := newEngine(t, func(c *Config) { c.Rules = []RuleSource{shellRules()} })
			for _, c := range shellCases(t, file) {
				d := e.Explain(command(c.command))
				good := false
				switch c.expect {
				case "allow":
					good = d.Outcome == tool.Allow
				case "deny":
					good = d.Outcome == tool.Deny
				case "ask":
					good = d.Outcome == tool.Ask
				case "no":
					good = d.Outcome != tool.Allow
				default:
					t.Fatalf("%s:%d: unknown expectation %q", file, c.line, c.expect)
				}
				if !good {
					t.Errorf("%s:%d: %q: want %s, got %s (row %d, %s: %s) %+v", file, c.line, c.command, c.expect, d.Outcome, d.Row, d.By, d.Reason, d.Commands)
				}
			}
		})
	}
}
