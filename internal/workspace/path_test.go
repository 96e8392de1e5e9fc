package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		base := t.TempDir()
		root := filepath.Join(base, "root")
		outside := filepath.Join(base, "outside")
		write(t, filepath.Join(root, "a", "b", "f"), "x")
		write(t, filepath.Join(outside, "secret"), "x")
		symlink(t, "b", filepath.Join(root, "a", "rel"))
		symlink(t, filepath.Join(root, "a", "b"), filepath.Join(root, "abs"))
		symlink(t, "../a/../a/b/f", filepath.Join(root, "a", "zigzag"))
		symlink(t, "abs/f", filepath.Join(root, "chain"))
		symlink(t, "../outside", filepath.Join(root, "out"))
		symlink(t, filepath.Join(outside, "secret"), filepath.Join(root, "outabs"))
		symlink(t, "../root/a", filepath.Join(root, "around"))
		symlink(t, "loop2", filepath.Join(root, "loop1"))
		symlink(t, "loop1", filepath.Join(root, "loop2"))
		symlink(t, "a/new", filepath.Join(root, "dangling"))
		symlink(t, "nowhere/../a", filepath.Join(root, "broken"))
		symlink(t, "/proc/self/environ", filepath.Join(root, "proc"))
		symlink(t, "/", filepath.Join(root, "slash"))
		w := open(root)
		root = w.Root()
		outside = filepath.Join(filepath.Dir(root), "outside")

		for _, tc := range []struct {
			path, real string // real below root
			exists     bool
		}{
			{".", ".", true},
			{root, ".", true},
			{"a/b/f", "a/b/f", true},
			{"./a//b/../b/f", "a/b/f", true},
			{root + "/a/b/f", "a/b/f", true},
			{root + "/../root/a/b/f", "a/b/f", true},
			{"a/b/none", "a/b/none", false},
			{"x/y/z", "x/y/z", false},
			{"a/rel/f", "a/b/f", true},
			{"abs/f", "a/b/f", true},
			{"abs", "a/b", true},
			{"abs/new/deep", "a/b/new/deep", false},
			{"a/zigzag", "a/b/f", true},
			{"chain", "a/b/f", true},
			{"around/b/f", "a/b/f", true},
			{"dangling", "a/new", false},
			{"slash" + root + "/a/b/f", "a/b/f", true},
		} {
			p, err := w.Resolve(tc.path)
			if err != nil {
				t.Errorf("Resolve(%q): %v", tc.path, err)
				continue
			}
			if want := filepath.Join(root, tc.real); p.Real != want || p.Exists != tc.exists {
				t.Errorf("Resolve(%q) = %s, exists %v; want %s, %v", tc.path, p.Real, p.Exists, want, tc.exists)
			}
		}

		for _, path := range []string{
			"..", "../outside/secret", outside, outside + "/secret", "out", "out/secret", "outabs",
			"a/../../outside/secret", root + "2", filepath.Dir(root), "slash/etc/passwd", "slash" + outside,
		} {
			_, err := w.Resolve(path)
			var out *OutsideError
			if !errors.As(err, &out) {
				t.Errorf("Resolve(%q) = %v, want an OutsideError", path, err)
			} else if strings.HasPrefix(path, "out") && !strings.Contains(out.LeadsTo, outside) {
				t.Errorf("Resolve(%q) leads to %q, want %s", path, out.LeadsTo, outside)
			}
		}
		for path, want := range map[string]string{
			"": "empty", "a\x00b": "NUL", "loop1": "more than 40", "a/b/f/x": "not a folder",
			"/proc/self/environ": "kernel", "/dev/null": "kernel", "/sys/kernel": "kernel",
			"broken": "does not exist", "proc": "outside",
		} {
			if _, err := w.Resolve(path); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Resolve(%q) = %v, want %q", path, err, want)
			}
		}
	})
}

func TestResolveLongChain(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "l0"), "x")
	for i := 1; i <= 42; i++ {
		symlink(t, fmt.Sprintf("l%d", i-1), filepath.Join(root, fmt.Sprintf("l%d", i)))
	}
	w := openTest(t, root, Options{})
	if p, err := w.Resolve("l40"); err != nil || !p.Exists {
		t.Errorf("40 links: %v", err)
	}
	if _, err := w.Resolve("l41"); err == nil {
		t.Error("41 links were followed")
	}
}

func TestResolveAddedFolders(t *testing.T) {
	base := t.TempDir()
	root, added := filepath.Join(base, "root"), filepath.Join(base, "added")
	write(t, filepath.Join(root, "f"), "")
	write(t, filepath.Join(added, "sub", "g"), "")
	symlink(t, added, filepath.Join(root, "link"))
	symlink(t, added, filepath.Join(base, "alias"))
	w, err := Open(root, []string{filepath.Join(base, "alias")}, Options{Home: filepath.Join(base, "home")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	added = w.Roots()[1]
	for _, path := range []string{filepath.Join(added, "sub/g"), filepath.Join(base, "alias/sub/g"), "link/sub/g", "../added/sub/g"} {
		p, err := w.Resolve(path)
		if err != nil {
			t.Errorf("Resolve(%q): %v", path, err)
			continue
		}
		if want := filepath.Join(added, "sub/g"); p.Real != want {
			t.Errorf("Resolve(%q) = %s, want %s", path, p.Real, want)
		}
		if path != "link/sub/g" && p.Rel != filepath.ToSlash(p.Real) {
			t.Errorf("an added folder's file is shown as %s", p.Rel)
		}
	}
	p := mustResolve(t, w, "link/sub/g")
	if p.Rel != "link/sub/g" || p.Through()[p.Abs] != p.Real {
		t.Errorf("a file behind a link: %+v", p)
	}
}

func TestResolveHome(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "project", "f"), "")
	w := openTest(t, filepath.Join(home, "project"), Options{Home: home})
	if p, err := w.Resolve("~/project/f"); err != nil || !p.Exists || p.Rel != "f" {
		t.Errorf("~/project/f = %+v, %v", p, err)
	}
	if _, err := w.Resolve("~/.ssh/id"); err == nil {
		t.Error("~/.ssh/id was resolved")
	}
}

func TestNotFoundNamesNearOnes(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"src/server.go", "src/serve.go", "src/secret.key", "README.md"} {
		write(t, filepath.Join(root, f), "")
	}
	w := openTest(t, root, Options{})
	keep := func(abs string) bool { return !strings.HasSuffix(abs, ".key") }
	err := w.NotFound(mustResolve(t, w, "src/servr.go"), keep)
	if want := "src/servr.go does not exist; did you mean src/serve.go or src/server.go?"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Error("it is not fs.ErrNotExist")
	}
	if err := w.NotFound(mustResolve(t, w, "src/secret.ke"), keep); strings.Contains(err.Error(), "secret.key") {
		t.Errorf("a hidden name is shown: %v", err)
	}
	if err := w.NotFound(mustResolve(t, w, "src/deep/er/f"), keep); !strings.Contains(err.Error(), "is src") {
		t.Errorf("got %v", err)
	}
}

func TestNamesThatAreNotPlain(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		names := []string{"new\nline", "tab\t", "\x1b[31m", "a b", "-rf", "*", "[x]", "ä", "\u202egnp", strings.Repeat("n", 255), "\\", "a:b", "…", "'\"$`"}
		for _, n := range append(names, "\xff\xfe") {
			if err := os.WriteFile(filepath.Join(root, n), []byte("x"), 0o644); err != nil {
				t.Logf("%q cannot be made here: %v", n, err)
				continue
			}
			w := open(root)
			p := mustResolve(t, w, n)
			if c, err := w.ReadFile(p); err != nil || string(c.Raw) != "x" {
				t.Errorf("%q: %v", n, err)
				continue
			}
			if _, err := w.Replace(p, p.Info, []byte("yy")); err != nil {
				t.Errorf("%q: %v", n, err)
			}
		}
	})
}
