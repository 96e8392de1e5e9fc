//go:build unix

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the place of a file of settings makes nobody wait: it settles
// nothing, and all else goes on.
func TestPipesInThePlaceOfSettings(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		write(t, filepath.Join(root, "sub", "f.txt"), "a\r\n")
		write(t, filepath.Join(root, ".git", "info", "x"), "")
		for _, name := range []string{
			".gitignore", ".garudaignore", ".gitattributes", ".editorconfig", ".git/config", ".git/info/exclude", ".git/HEAD",
			"sub/.gitignore", "sub/.garudaignore", "sub/.gitattributes", "sub/.editorconfig", "sub/pipe.txt",
		} {
			if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		w := open(root)
		seen := make(chan string, 20)
		_, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(_ int, e *Entry) error {
			if e.Kind == KindFile {
				seen <- e.Path().Rel
			}
			return nil
		})
		if close(seen); err != nil || len(seen) != 1 {
			t.Errorf("the walk came across %d files, %v", len(seen), err)
		}
		if style := w.NewFileStyle(mustResolve(t, w, "sub/new.txt")); style.Newline != CRLF {
			t.Errorf("a new file has %v, not what is beside it", style)
		}
		c, err := w.ReadFile(mustResolve(t, w, "sub/f.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if text := c.Text(); text.LF != "a\n" {
			t.Errorf("read as %q", text.LF)
		}
	})
}

// The kernel's ways to other places are no ways for a path: neither by name nor
// by a link that stands in the project.
func TestMagicLinks(t *testing.T) {
	if _, err := os.Stat("/proc/self/root/etc/passwd"); err != nil {
		t.Skip("no such links here")
	}
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		write(t, filepath.Join(root, "f"), "inside")
		w := open(root)
		ways := []string{
			"/proc/self/root/etc/passwd", "/proc/self/root" + root + "/f", "/proc/self/cwd/f", "/proc/self/cwd", "/proc/thread-self/root/etc/passwd",
			"/proc/self/fd/0", "/dev/fd/0", "/dev/stdin", "/dev/zero", "/sys/kernel/notes", "../../../../../../../proc/self/environ",
		}
		for i, way := range ways {
			name := filepath.Join(root, "way"+string(rune('a'+i)))
			symlink(t, way, name)
			for _, path := range []string{way, filepath.Base(name)} {
				if p, err := w.Resolve(path); err == nil {
					t.Errorf("%s leads to %s", path, p.Real)
				}
			}
		}
	})
}
