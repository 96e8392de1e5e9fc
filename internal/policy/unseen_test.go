package policy

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"garuda/internal/tool"
)

// hiding makes a project with a file that the team hides and one that it does not.
func hiding(t *testing.T, change func(*Config)) *Engine {
	t.Helper()
	e := newEngine(t, configure(forTeam, change))
	for _, name := range []string{"secret/deep/plans.txt", "src/a.txt"} {
		path := filepath.Join(e.root.given, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("plans\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join("..", "secret"), filepath.Join(e.root.given, "src", "link")); err != nil {
		t.Skip(err)
	}
	return e
}

// TestCommandsThatShowWhatTheTeamHides: a command that would show hidden names or
// contents without naming them is no longer one that certainly just reads.
func TestCommandsThatShowWhatTheTeamHides(t *testing.T) {
	e := hiding(t, func(*Config) {})
	if out, err := exec.Command("git", "-C", e.root.given, "init", "-q").CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	for text, want := range map[string]tool.Outcome{
		"ls": tool.Ask, "ls -R": tool.Ask, "ls src": tool.Ask, "du": tool.Ask, "du -a src": tool.Ask,
		"grep -r plans": tool.Ask, "grep -rn plans .": tool.Ask, "rg plans": tool.Ask, "rg --files": tool.Ask,
		"find . -name 'p*'": tool.Ask, "find -type f": tool.Ask, "timeout 5 grep -r plans .": tool.Ask,
		"git diff": tool.Ask, "git show HEAD": tool.Ask, "git log -p": tool.Ask, "git ls-files": tool.Ask, "git status": tool.Ask,
		"echo x; ls": tool.Ask, "cd src && ls": tool.Ask, "cat secret/deep/plans.txt": tool.Deny, "ls secret": tool.Deny,
		// What shows nothing that is hidden is as it was.
		"cat src/a.txt": tool.Allow, "grep plans src/a.txt": tool.Allow, "cat src/a.txt | grep plans": tool.Allow, "pwd": tool.Allow,
		"git rev-parse HEAD": tool.Allow, "find src/a.txt": tool.Allow, "ls src/a.txt": tool.Allow,
	} {
		if d := e.Decide(command(text)); d.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", text, d.Outcome, d.Reason, want)
		}
	}
	if err := os.Remove(filepath.Join(e.root.given, "src", "link")); err != nil {
		t.Fatal(err)
	}
	e.BeginTurn()
	for _, text := range []string{"ls src", "grep -r plans src", "cd src && rg plans"} {
		if d := e.Decide(command(text)); d.Outcome != tool.Allow {
			t.Errorf("%s: %s (%s)", text, d.Outcome, d.Reason)
		}
	}
}

// TestShowingWhatTheTeamHides: unattended and in plan mode it is denied, beside an
// allowed command it is not carried along, in a sandbox the masks hold, and without
// denied paths nothing is asked.
func TestShowingWhatTheTeamHides(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		change        func(*Config)
		want          tool.Outcome
		by            string
	}{
		{"unattended", "grep -r plans .", unattendedSession, tool.Deny, "unattended"},
		{"plan mode", "grep -r plans .", inMode(Plan), tool.Deny, "plan"},
		{"beside an allowed one", "go test && ls -R", allowing("bash(go test)"), tool.Ask, "user"},
		{"a rule of its own", "ls -R", allowing("bash(ls -R)"), tool.Allow, "rule"},
		{"inside the sandbox", "ls -R", sandboxedSession, tool.Allow, "read_only"},
		{"no paths are denied", "ls -R", func(c *Config) { c.Team.Paths = nil }, tool.Allow, "read_only"},
	} {
		e := hiding(t, tt.change)
		if d := e.Decide(command(tt.command)); d.Outcome != tt.want || d.By != tt.by {
			t.Errorf("%s: %s by %s (%s)", tt.name, d.Outcome, d.By, d.Reason)
		}
	}
}

// TestAFolderOfTooManyNames: what cannot be looked at in time might hold anything.
func TestAFolderOfTooManyNames(t *testing.T) {
	e := newEngine(t, forTeam)
	e.walkLimit = 20
	dir := filepath.Join(e.root.given, "many")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range e.walkLimit {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if d := e.Decide(command("ls many")); d.Outcome != tool.Ask {
		t.Error(d.Outcome)
	}
	if err := os.Remove(filepath.Join(dir, "0")); err != nil {
		t.Fatal(err)
	}
	if d := e.Decide(command("ls many")); d.Outcome != tool.Allow {
		t.Error(d.Reason)
	}
}
