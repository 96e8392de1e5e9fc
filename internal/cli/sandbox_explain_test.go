package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/wire"
)

func TestExplainShort(t *testing.T) {
	c := &wire.Confinement{
		Backend: "linux", Network: "no host", Env: []string{"PATH", "HOME"}, Left: []wire.Place{{Path: "/x", Why: "y"}},
		Places: []wire.Place{
			{Access: "read", Path: "/etc", Host: "/h/etc", Why: "the system's settings, without secrets"},
			{Access: "read", Path: "/etc/ssl", Why: "the system's settings"},
			{Access: "write", Path: "/h", Why: "the session's own home folder, empty at first"},
			{Access: "read", Path: "/h/.gitconfig", Host: "/c", Why: "settings of git, a copy without credentials"},
			{Access: "write", Path: "/h/.npm", Why: "npm: a cache"},
			{Access: "write", Path: "/h/go/pkg/mod", Why: "go names it: a cache"},
			{Access: "write", Path: "/h/go/pkg/sumdb", Why: "go: a cache"},
			{Access: "write", Path: "/p", Why: "the project"},
			{Access: "locked", Path: "/p/.git/config", Why: "settings of git"},
			{Access: "locked", Path: "/p/.vscode", Missing: true, Why: "settings of an agent or editor"},
			{Access: "hidden", Path: "/p/\x1b[31m.env", Why: "sandbox.denyRead"},
			{Access: "read", Path: "/tool", Why: "rustup"},
			{Access: "read", Path: "/usr", Why: "the system"},
		},
	}
	var out bytes.Buffer
	if err := explainShort(&out, c); err != nil {
		t.Fatal(err)
	}
	want := `Commands run in the sandbox linux. What is not named here does not exist for them.

They may write:
  /h (the session's own home folder, empty at first), /p (the project), caches of go, npm

They may read:
  /usr, parts of /etc, /tool, settings without credentials, of git

They may read, but not change or make:
  .git/config, .vscode

They find empty:
  ␛[31m.env

They may reach no host.
Their environment has HOME, PATH.
Bounds: none of our own.
Left out, although asked for or found: 1.

Every place, and why: garuda sandbox explain --all
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	if err := explainWhole(&out, c); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"/p/.vscode ", "/h/.npm ", "Left out: /x: y\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the whole does not name %q:\n%s", part, out.String())
		}
	}
}

// TestExplainFits: however much there is, it fits a screen's width.
func TestExplainFits(t *testing.T) {
	var items []string
	for i := range 3 * maxListed {
		items = append(items, fmt.Sprintf("folder/file-%d", i))
	}
	var out bytes.Buffer
	wrapList(&out, items)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, line := range lines {
		if len(line) > maxWide {
			t.Errorf("%d: %s", len(line), line)
		}
	}
	if !strings.HasSuffix(out.String(), fmt.Sprintf("and %d more\n", 2*maxListed)) || len(lines) > 10 {
		t.Errorf("%d lines: %s", len(lines), out.String())
	}
}
