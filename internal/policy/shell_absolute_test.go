package policy

import (
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/tool"
)

// TestShellPaths holds commands that name the root itself, and patterns that meet
// what lies in it, which the case tables cannot.
func TestShellPaths(t *testing.T) {
	e := newEngine(t, func(c *Config) { c.Rules = []RuleSource{shellRules()} })
	root := e.root.given
	for _, dir := range []string{"keys", "many"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"keys/id_rsa", "keys/a", "many/a", "many/b", "many/.env"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(root, "out")); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	for text, want := range map[string]tool.Outcome{
		"cd " + root + " && go test ./... 2>&1 | tail -5": tool.Allow,
		"cd " + root + "/src && ls":                       tool.Allow,
		"cd '" + root + "' && git status":                 tool.Allow,
		"head " + root + "/src/a.go":                      tool.Allow,
		"wc -l \"$PWD\"/src/a.go":                         tool.Allow,
		"cd src && head \"$PWD/../a.txt\"":                tool.Allow,
		"[ -f " + root + "/f ] && cat " + root + "/f":     tool.Allow,
		"head " + root + "/../x":                          tool.Ask,
		"head out/passwd":                                 tool.Ask,
		"cd out && head passwd":                           tool.Ask,
		"ls -la src/../out/../x | head -1 out/passwd":     tool.Ask,
		"cat " + root + "/.env":                           tool.Deny,
		"cat ./*":                                         tool.Allow,
		"cat many/*":                                      tool.Allow, // a star meets no name with a dot
		"cat many/.*":                                     tool.Deny,
		"cat keys/*":                                      tool.Deny,
		"cat keys/id*":                                    tool.Deny,
		"cat ke?s/id_rs[a]":                               tool.Deny,
		"cat */id_*":                                      tool.Deny,
		"cat " + root + "/keys/i*":                        tool.Deny,
		"grep -r x keys/*":                                tool.Deny,
		"ls keys/*":                                       tool.Allow, // only their names
	} {
		if d := e.Explain(command(text)); d.Outcome != want {
			t.Errorf("%q: want %s, got %s (row %d, %s: %s)", text, want, d.Outcome, d.Row, d.By, d.Reason)
		}
	}
}

// TestGlobBounds: a folder with more entries than the bound is looked at as far as
// the bound goes, and a pattern over many folders ends.
func TestGlobBounds(t *testing.T) {
	root, _ := project(t)
	for i := range 40 {
		dir := filepath.Join(root, "d", string(rune('a'+i%26))+string(rune('a'+i/26)))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for k := range 40 {
			if err := os.WriteFile(filepath.Join(dir, "f"+string(rune('A'+k))), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(glob(root + "/d/*/*")); n != maxGlobMatches {
		t.Errorf("a pattern with 1,600 matches gave %d, want %d", n, maxGlobMatches)
	}
	if got := glob(root + "/d/aa/fA"); len(got) != 1 {
		t.Errorf("a path without a pattern gave %q", got)
	}
	if got := glob(root + "/nope/*"); len(got) != 0 {
		t.Errorf("a folder that is not there gave %q", got)
	}
}
