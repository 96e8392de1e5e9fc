package workspace

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGitConfigValue(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		found      bool
	}{
		{"", "", false},
		{"[core]\n\texcludesFile = ~/.ignore\n", "~/.ignore", true},
		{"[CORE]\nExcludesfile=/a b/c  # note\n", "/a b/c", true},
		{"[core] excludesfile = x\n[core]\nexcludesfile = y\n", "y", true},
		{"[core]\nexcludesfile = \"a;b \" ; note\n", "a;b ", true},
		{"[core]\nexcludesfile = a\\\\b\\\"c\\\nd\n", "a\\b\"cd", true},
		{"[core \"sub\"]\nexcludesfile = x\n", "", false},
		{"[other]\nexcludesfile = x\n", "", false},
		{"# [core]\n;x\n[core]\n# excludesfile = x\n", "", false},
		{"[core\nexcludesfile = x\n", "", false},
		{"[core]\r\nexcludesfile = x\r\n", "x", true},
	} {
		got, found := gitConfigValue(tc.text, "core", "excludesfile")
		if got != tc.want || found != tc.found {
			t.Errorf("%q: %q, %v; want %q, %v", tc.text, got, found, tc.want, tc.found)
		}
	}
}

func FuzzGitConfigValue(f *testing.F) {
	f.Add("[core]\nexcludesfile = \"a\\\n")
	f.Fuzz(func(_ *testing.T, text string) { gitConfigValue(text, "core", "excludesfile") })
}

func TestGlobalExcludes(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(t.TempDir(), "repo")
	write(t, filepath.Join(root, ".git", "config"), "")
	write(t, filepath.Join(root, "byfile"), "")
	write(t, filepath.Join(root, "bydefault"), "")
	write(t, filepath.Join(home, "mine"), "byfile\n")
	write(t, filepath.Join(home, ".config", "git", "ignore"), "bydefault\n")
	ignored := func(opt Options, path string) bool {
		w := openTest(t, root, opt)
		return w.Ignored(mustResolve(t, w, path))
	}
	opt := Options{Home: home}
	if ignored(opt, "byfile") || !ignored(opt, "bydefault") {
		t.Error("the default place is not read")
	}
	write(t, filepath.Join(home, ".gitconfig"), "[core]\nexcludesFile = ~/mine\n")
	if !ignored(opt, "byfile") || ignored(opt, "bydefault") {
		t.Error("core.excludesFile does not replace the default place")
	}
	write(t, filepath.Join(root, ".git", "config"), "[core]\nexcludesFile = "+filepath.ToSlash(filepath.Join(home, "none"))+"\n")
	if ignored(opt, "byfile") {
		t.Error("the repository's own setting does not win")
	}
	write(t, filepath.Join(home, "xdg", "git", "ignore"), "byfile\n")
	write(t, filepath.Join(root, ".git", "config"), "")
	write(t, filepath.Join(home, ".gitconfig"), "")
	if !ignored(Options{Home: home, ConfigHome: filepath.Join(home, "xdg")}, "byfile") {
		t.Error("XDG_CONFIG_HOME is not honoured")
	}
}

// A worktree's .git is a file, and what worktrees share lies elsewhere.
func TestWorktreeExclude(t *testing.T) {
	base := t.TempDir()
	main, tree := filepath.Join(base, "main"), filepath.Join(base, "tree")
	write(t, filepath.Join(main, ".git", "info", "exclude"), "secret\n")
	write(t, filepath.Join(main, ".git", "worktrees", "tree", "commondir"), "../..\n")
	write(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.ToSlash(filepath.Join(main, ".git", "worktrees", "tree"))+"\n")
	write(t, filepath.Join(tree, "secret"), "")
	w := openTest(t, tree, Options{})
	if !w.Ignored(mustResolve(t, w, "secret")) {
		t.Error("info/exclude of the main repository is not read")
	}
}

func TestNewFileStyle(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		".editorconfig":     "root = true\n[*.bat]\nend_of_line = crlf\n[*.txt]\ncharset = utf-8-bom\n[lf/**]\nend_of_line = lf\n",
		"sub/.editorconfig": "[*.ps1]\nend_of_line = crlf\ncharset = utf-16le\n",
		".gitattributes":    "* text=auto\n*.cmd text eol=crlf\n*.sh eol=lf\n/att/*.x eol=crlf\n",
		"crlf/a.c":          "a\r\nb\r\n", "crlf/b.c": "a\r\n", "crlf/c.md": "a\n",
		"lf/a.c": "a\r\n", "plain/a.c": "a\n", "bin/a.c": "\x00\r\n", "broken/.editorconfig": "[[[\n",
	} {
		write(t, filepath.Join(root, path), text)
	}
	w := openTest(t, root, Options{})
	got := map[string]string{}
	want := map[string]string{
		"x.bat": "UTF-8, CRLF newlines", "x.txt": "UTF-8 with a byte order mark", "x.go": "UTF-8",
		"sub/x.ps1": "UTF-16 LE with a byte order mark, CRLF newlines", "sub/x.bat": "UTF-8, CRLF newlines",
		"x.cmd": "UTF-8, CRLF newlines", "att/1.x": "UTF-8, CRLF newlines", "other/1.x": "UTF-8",
		"crlf/new.c": "UTF-8, CRLF newlines", "crlf/new.md": "UTF-8", "crlf/new.h": "UTF-8, CRLF newlines", "crlf/new.sh": "UTF-8",
		"lf/new.c": "UTF-8", "plain/new.c": "UTF-8", "bin/new.c": "UTF-8", "new/folder/x.c": "UTF-8", "broken/x": "UTF-8",
	}
	for path := range want {
		got[path] = w.NewFileStyle(mustResolve(t, w, path)).String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
