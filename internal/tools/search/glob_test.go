package search

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"garuda/internal/tool"
)

func age(t *testing.T, env *tool.Env, path string, minutes int) {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(filepath.Join(env.Workspace.Root(), path), at, at); err != nil {
		t.Fatal(err)
	}
}

func TestGlob(t *testing.T) {
	env := newEnv(t, map[string]string{
		".gitignore": "*.o\n", "a.go": "", "b.go": "", "b.o": "", "src/c.go": "", "src/x/d.ts": "", "src/x/e.tsx": "",
		"node_modules/m/i.js": "", "id.key": "", "src/[x].md": "", ".github/w.yml": "",
	})
	for i, p := range []string{"src/c.go", "b.go", "a.go", "src/x/d.ts", "src/x/e.tsx"} {
		age(t, env, p, i)
	}
	for _, tc := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "*.go"}, "src/c.go\nb.go\na.go"},
		{args{"pattern": "**/*.go"}, "src/c.go\nb.go\na.go"},
		{args{"pattern": "./src/*.go"}, "src/c.go"},
		{args{"pattern": "src/**/*.{ts,tsx}"}, "src/x/d.ts\nsrc/x/e.tsx"},
		{args{"pattern": "*.go", "path": "src"}, "src/c.go"},
		{args{"pattern": "[ab].go", "limit": 1}, "b.go\n[the 1 newest of 2; narrow the pattern or raise limit (at most 1000)]"},
		{args{"pattern": "x/*.ts"}, "src/x/d.ts\n[nothing matches x/*.ts from . on; these match it below]"},
		{args{"pattern": `\[x\].md`}, "src/[x].md"},
		{args{"pattern": "*.yml"}, ".github/w.yml"},
		{args{"pattern": "*.o"}, "No files match *.o in .: 9 files looked at; 2 ignored entries left out (node_modules among them); include_ignored searches them."},
		{args{"pattern": "*.o", "include_ignored": true}, "b.o"},
		{args{"pattern": "node_modules/**/*.js"}, "node_modules/m/i.js"},
		{args{"pattern": "src/"}, "src"},
		{args{"pattern": "src"}, "No files match src in .: 9 files looked at; 2 ignored entries left out (node_modules among them); include_ignored searches them; 1 folder matches; end the pattern in / to list folders."},
	} {
		if got := mustRun(t, env, globTool{}, tc.in); strings.TrimSuffix(got, "\n[node_modules was left out; name it in the pattern or set include_ignored]") != tc.want {
			t.Errorf("%v: %q, want %q", tc.in, got, tc.want)
		}
	}
	if got := mustRun(t, env, globTool{}, args{"pattern": "*.key"}); !strings.HasPrefix(got, "No files match") {
		t.Errorf("a hidden file: %q", got)
	}
	for _, tc := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "/etc/*"}, "absolute"},
		{args{"pattern": "../*"}, "goes up"},
		{args{"pattern": "a/../../*"}, "goes up"},
		{args{"pattern": "a["}, "not valid"},
		{args{"pattern": ""}, "empty"},
		{args{"pattern": "*", "path": ".."}, "outside"},
		{args{"pattern": "*", "path": "none"}, "does not exist"},
		{args{"pattern": "*", "path": "a.go"}, "is a file"},
	} {
		wantError(t, env, globTool{}, tc.in, tc.want)
	}
}

func TestGlobLinks(t *testing.T) {
	env := newEnv(t, map[string]string{"a.md": "", "id.key": "", "sub/b.md": ""})
	root := env.Workspace.Root()
	for link, target := range map[string]string{"l.md": "a.md", "secret.md": "id.key", "out.md": "/etc/passwd", "loop.md": "loop.md", "dir.md": "sub"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skip(err)
		}
	}
	got := strings.Fields(mustRun(t, env, globTool{}, args{"pattern": "*.md"}))
	want := map[string]bool{"a.md": true, "l.md": true, "sub/b.md": true}
	for _, g := range got {
		if !want[g] {
			t.Errorf("%s is listed", g)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}

func TestGlobEndsEarly(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/f", i)] = ""
	}
	env := newEnv(t, files)
	raw, err := json.Marshal(args{"pattern": "f"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := globTool{}.Plan(context.Background(), env, raw)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("out of time"))
	out, err := globTool{}.Run(ctx, &tool.Call{Env: env, Plan: p})
	if err != nil || !out.IsError || !strings.Contains(out.Text, "ended early (out of time)") {
		t.Errorf("%+v, %v", out, err)
	}
}
