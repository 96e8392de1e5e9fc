package instructions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/workspace"
)

// write makes files below a folder; a name that ends in / is a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// top is the real path of a folder for a test's files.
func top(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// loader reads for a root below top; files named secret.md may not be read.
func loader(t *testing.T, root string, user ...UserFile) *Loader {
	t.Helper()
	w, err := workspace.Open(root, nil, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := Open(Options{Workspace: w, User: user, MayRead: func(abs string) bool { return filepath.Base(abs) != "secret.md" }})
	t.Cleanup(func() { l.Close(); w.Close() })
	return l
}

// told are the files as NAME=TEXT.
func told(files []File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Name+"="+strings.TrimSpace(f.Text))
	}
	return out
}

func TestSession(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
		said  []string
	}{
		"none": {nil, nil, nil},
		"in their order, from the top down": {
			map[string]string{".git/": "", "AGENTS.md": "1", "sub/CLAUDE.md": "2", "sub/root/GARUDA.md": "5", "sub/root/CLAUDE.md": "4", "sub/root/AGENTS.md": "3"},
			[]string{"../../AGENTS.md=1", "../CLAUDE.md=2", "AGENTS.md=3", "CLAUDE.md=4", "GARUDA.md=5"}, nil,
		},
		"a worktree's .git is a file":   {map[string]string{"sub/.git": "gitdir: x", "AGENTS.md": "not of it", "sub/AGENTS.md": "1"}, []string{"../AGENTS.md=1"}, nil},
		"no repository: the root alone": {map[string]string{"AGENTS.md": "no", "sub/AGENTS.md": "no", "sub/root/AGENTS.md": "1"}, []string{"AGENTS.md=1"}, nil},
		"imports": {
			map[string]string{
				".git/": "", "sub/root/AGENTS.md": "see @docs/a.md, and @../b.md.\n`@docs/c.md`\n```\n@docs/c.md\n```\nme@docs/c.md @nobody @scope/pkg",
				"sub/root/docs/a.md": "a @more/d.md", "sub/root/docs/more/d.md": "d", "sub/b.md": "b", "sub/root/docs/c.md": "c",
			},
			[]string{
				"AGENTS.md=see @docs/a.md, and @../b.md.\n`@docs/c.md`\n```\n@docs/c.md\n```\nme@docs/c.md @nobody @scope/pkg",
				"docs/a.md=a @more/d.md", "docs/more/d.md=d", "../b.md=b",
			}, nil,
		},
		"cycles end": {map[string]string{"sub/root/AGENTS.md": "@a.md", "sub/root/a.md": "@AGENTS.md @a.md @b.md", "sub/root/b.md": "b @a.md"},
			[]string{"AGENTS.md=@a.md", "a.md=@AGENTS.md @a.md @b.md", "b.md=b @a.md"}, nil},
		"no deeper than four": {
			map[string]string{
				"sub/root/AGENTS.md": "@1.md", "sub/root/1.md": "@2.md", "sub/root/2.md": "@3.md", "sub/root/3.md": "@4.md", "sub/root/4.md": "@5.md", "sub/root/5.md": "five",
			},
			[]string{"AGENTS.md=@1.md", "1.md=@2.md", "2.md=@3.md", "3.md=@4.md", "4.md=@5.md"}, nil,
		},
		"the same text once": {map[string]string{"sub/root/AGENTS.md": "same", "sub/root/CLAUDE.md": "same\n"}, []string{"AGENTS.md=same"}, nil},
		"outside the tree": {map[string]string{"sub/root/AGENTS.md": "@../x.md @/etc/passwd @~/y.md @~", "sub/x.md": "no"},
			[]string{"AGENTS.md=@../x.md @/etc/passwd @~/y.md @~"}, []string{"../x.md", "/etc/passwd"}},
		"sensitive":         {map[string]string{"sub/root/AGENTS.md": "@secret.md", "sub/root/secret.md": "no"}, []string{"AGENTS.md=@secret.md"}, []string{"secret.md"}},
		"hidden characters": {map[string]string{"sub/root/AGENTS.md": "do\u202e this\x1b[2K\r\nnow"}, []string{"AGENTS.md=do[U+202E] this␛[2K\nnow"}, nil},
		"not text":          {map[string]string{"sub/root/AGENTS.md": "\x00\x01\x02"}, nil, []string{"AGENTS.md"}},
		"a folder":          {map[string]string{"sub/root/AGENTS.md/": "", "sub/root/CLAUDE.md": "@docs", "sub/root/docs/": ""}, []string{"CLAUDE.md=@docs"}, []string{"AGENTS.md"}},
		"too large":         {map[string]string{"sub/root/AGENTS.md": strings.Repeat("x", 11<<20), "sub/root/CLAUDE.md": "1"}, []string{"CLAUDE.md=1"}, []string{"AGENTS.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := top(t)
			root := filepath.Join(dir, "sub", "root")
			write(t, dir, map[string]string{"sub/root/": ""})
			write(t, dir, tc.files)
			files, said := loader(t, root).Session()
			if d := cmp.Diff(tc.want, told(files)); d != "" {
				t.Error(d)
			}
			if len(said) != len(tc.said) {
				t.Fatalf("said %q", said)
			}
			for i, want := range tc.said {
				if !strings.HasPrefix(said[i], "the instructions in "+want+" are left out: ") {
					t.Errorf("said %q", said[i])
				}
			}
		})
	}
}

func TestUserFiles(t *testing.T) {
	home, root := top(t), top(t)
	write(t, home, map[string]string{
		".garuda/AGENTS.md": "mine, and @more.md and @../secret.txt", ".garuda/more.md": "more", "secret.txt": "no", "dots/CLAUDE.md": "linked",
	})
	if err := os.Mkdir(filepath.Join(home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "dots", "CLAUDE.md"), filepath.Join(home, ".claude", "CLAUDE.md")); err != nil {
		t.Skip("no links here: ", err)
	}
	write(t, root, map[string]string{"AGENTS.md": "theirs"})
	l := loader(t, root, UserFile{filepath.Join(home, ".garuda", "AGENTS.md"), "the user's AGENTS.md"},
		UserFile{filepath.Join(home, ".claude", "CLAUDE.md"), "the user's CLAUDE.md"}, UserFile{filepath.Join(home, "none.md"), "none"})
	files, said := l.Session()
	want := []string{
		"the user's AGENTS.md=mine, and @more.md and @../secret.txt", "more.md, which the user's AGENTS.md imports=more",
		"the user's CLAUDE.md=linked", "AGENTS.md=theirs",
	}
	if d := cmp.Diff(want, told(files)); d != "" || len(said) != 1 {
		t.Errorf("said %q: %s", said, d)
	}
	for i, f := range files {
		if f.User != (i < 3) {
			t.Errorf("%s: of the user: %v", f.Name, f.User)
		}
	}
}

func TestBelow(t *testing.T) {
	dir := top(t)
	write(t, dir, map[string]string{
		"AGENTS.md": "root", "a/AGENTS.md": "of a", "a/b/CLAUDE.md": "of b", "a/b/x.go": "", "a/y.go": "", "z.go": "", "c/AGENTS.md": "of c",
	})
	l := loader(t, dir)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for i, step := range []struct {
		read []string
		want []string
	}{
		{[]string{at("z.go")}, nil},
		{[]string{at("a/y.go")}, []string{"a/AGENTS.md=of a"}},
		{[]string{at("a/b/x.go"), at("a/b/x.go")}, []string{"a/b/CLAUDE.md=of b"}},
		{[]string{at("a/b/x.go"), filepath.Join(filepath.Dir(dir), "x")}, nil},
	} {
		files, said := l.Below(step.read)
		if d := cmp.Diff(step.want, told(files)); d != "" || len(said) > 0 {
			t.Errorf("step %d: said %q: %s", i, said, d)
		}
	}
	l.Forget()
	if files, _ := l.Below([]string{at("a/b/x.go")}); len(files) != 2 {
		t.Errorf("after it was forgotten: %q", told(files))
	}
}

// However many files import each other, reading ends.
func TestManyImports(t *testing.T) {
	dir := top(t)
	var all strings.Builder
	for i := range 300 {
		fmt.Fprintf(&all, "@%d.md ", i)
		write(t, dir, map[string]string{fmt.Sprint(i, ".md"): fmt.Sprint("file ", i)})
	}
	write(t, dir, map[string]string{"AGENTS.md": all.String()})
	if files, said := loader(t, dir).Session(); len(files) != maxFiles || len(said) == 0 {
		t.Errorf("%d files, said %d things", len(files), len(said))
	}
}

func TestRank(t *testing.T) {
	if !(Rank("GARUDA.md") < Rank("AGENTS.md") && Rank("AGENTS.md") < Rank("CLAUDE.md") && Rank("CLAUDE.md") < Rank("other.md")) {
		t.Error("the order is another one")
	}
}
