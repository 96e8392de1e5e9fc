package fileread

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListDir(t *testing.T) {
	env := newEnv(t, map[string]string{
		".git/config": "", ".gitignore": "*.o\n", "a.o": "", "README.md": "hello", "src/main.go": strings.Repeat("x", 1500),
		"src/sub/deep/f": "", "node_modules/m/i.js": "", "id.key": "", ".env.example": "",
	})
	root := env.Workspace.Root()
	if err := os.Symlink("README.md", filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	want := `./
  .env.example  0 B
  .gitignore  4 B
  README.md  5 B
  link -> README.md
  src/
    main.go  1.5 KB
    sub/ …
[2 entries are ignored; include_ignored shows them]`
	if got := mustRun(t, env, listDir{}, args{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = `src/
  main.go  1.5 KB
  sub/
    deep/
      f  0 B
[depth 9 was cut to 6, the most there is]`
	if got := mustRun(t, env, listDir{}, args{"path": "src", "depth": 9}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	got := mustRun(t, env, listDir{}, args{"include_ignored": true})
	for _, name := range []string{"a.o", "node_modules/", "    m/ …"} {
		if !strings.Contains(got, name) {
			t.Errorf("with ignored files %q is missing in\n%s", name, got)
		}
	}
	for _, name := range []string{"id.key", ".git/"} {
		if strings.Contains(got, name) {
			t.Errorf("%q is shown in\n%s", name, got)
		}
	}
	wantError(t, env, listDir{}, args{"path": "README.md"}, "is a file")
	wantError(t, env, listDir{}, args{"path": "scr"}, "did you mean src?")
	wantError(t, env, listDir{}, args{"path": ".."}, "outside")
}

func TestListDirIsBounded(t *testing.T) {
	files := map[string]string{"z/last": ""}
	for i := range 500 {
		files[fmt.Sprintf("a/%03d", i)] = ""
	}
	for i := range 50 {
		files[fmt.Sprintf("b%02d/f", i)] = ""
	}
	got := mustRun(t, newEnv(t, files), listDir{}, args{})
	if n := strings.Count(got, "\n"); n > 303 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"  z/", "  b49/", "a/ … (252 not shown)", "[303 more entries are not shown"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

func TestListDirOddNames(t *testing.T) {
	env := newEnv(t, map[string]string{"plain": ""})
	root := env.Workspace.Root()
	for _, name := range []string{"new\nline", "\x1b[31mred", "bad\xff"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			t.Logf("%q: %v", name, err)
		}
	}
	got := mustRun(t, env, listDir{}, args{})
	if strings.Contains(got, "\x1b") || strings.Contains(got, "\xff") || strings.Count(got, "\n") > 4 {
		t.Errorf("got %q", got)
	}
	empty := mustRun(t, newEnv(t, nil), listDir{}, args{})
	if !strings.Contains(empty, "nothing to show") {
		t.Errorf("an empty folder: %q", empty)
	}
}
