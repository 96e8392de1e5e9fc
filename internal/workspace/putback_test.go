package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPutBack changes an entry in every way and puts it back.
func TestPutBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	at := func(root string) string { return filepath.Join(root, "d", "f") }
	before := map[string]func(t *testing.T, root string){
		"nothing": func(*testing.T, string) {},
		"a file":  func(t *testing.T, root string) { write(t, at(root), "old\n") },
		"a link": func(t *testing.T, root string) {
			write(t, filepath.Join(root, "d", "g"), "other\n")
			symlink(t, "g", at(root))
		},
		"a link to nothing": func(t *testing.T, root string) {
			write(t, filepath.Join(root, "d", "g"), "other\n")
			symlink(t, "nowhere", at(root))
		},
	}
	after := map[string]func(t *testing.T, root string){
		"left alone":     func(*testing.T, string) {},
		"removed":        func(t *testing.T, root string) { remove(t, at(root)) },
		"folder removed": func(t *testing.T, root string) { remove(t, filepath.Join(root, "d")) },
		"written": func(t *testing.T, root string) {
			remove(t, at(root))
			write(t, at(root), "new\n")
		},
		"linked": func(t *testing.T, root string) {
			remove(t, at(root))
			write(t, filepath.Join(root, "x"), "x\n")
			symlink(t, "../x", at(root))
		},
	}
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		for was, prepare := range before {
			for how, change := range after {
				t.Run(was+" "+how, func(t *testing.T) {
					root := t.TempDir()
					prepare(t, root)
					w := open(root)
					kept, err := w.Keep("d/f")
					if err != nil {
						t.Fatal(err)
					}
					_ = os.MkdirAll(filepath.Join(root, "d"), 0o755)
					change(t, root)
					if err := w.PutBack(kept); err != nil {
						t.Fatal(err)
					}
					now, err := w.Keep("d/f")
					if err != nil {
						t.Fatal(err)
					}
					if !now.Same(kept) {
						t.Errorf("it is %+v and was %+v", now, kept)
					}
				})
			}
		}
	})
}

// TestPutBackRefuses names what cannot be put back, and leaves it.
func TestPutBackRefuses(t *testing.T) {
	root := t.TempDir()
	w := openTest(t, root, Options{})
	write(t, filepath.Join(root, "f"), "old\n")
	write(t, filepath.Join(root, "large"), strings.Repeat("x", MaxWhole+1))
	kept, err := w.Keep("f")
	if err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(root, "f"))
	write(t, filepath.Join(root, "f", "mine"), "kept\n")
	if err := w.PutBack(kept); err == nil || !strings.Contains(err.Error(), "put f back") {
		t.Errorf("a folder in its place: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "f", "mine")); err != nil {
		t.Error(err)
	}
	large, err := w.Keep("large")
	if err != nil || !large.TooLarge {
		t.Fatalf("%+v, %v", large, err)
	}
	write(t, filepath.Join(root, "large"), "small")
	if now, err := w.Keep("large"); err != nil || now.Same(large) {
		t.Errorf("a change of a large file was not seen: %+v, %v", now, err)
	}
	if err := w.PutBack(large); err == nil || !strings.Contains(err.Error(), "no copy was kept") {
		t.Errorf("a large file: %v", err)
	}
	folder, err := w.Keep("f")
	if err != nil || w.PutBack(folder) == nil {
		t.Errorf("a folder was put back: %+v, %v", folder, err)
	}
}

// TestKeepOutside leaves alone what a link on the way leads out to.
func TestKeepOutside(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	write(t, filepath.Join(outside, "f"), "theirs\n")
	symlink(t, outside, filepath.Join(root, "out"))
	w := openTest(t, root, Options{})
	if k, err := w.Keep("out/f"); err == nil {
		t.Errorf("kept %+v", k)
	}
	if err := w.PutBack(&Kept{Rel: "out/f"}); err == nil {
		t.Error("it was removed")
	}
	if b, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(b) != "theirs\n" {
		t.Errorf("%q, %v", b, err)
	}
}

func remove(t testing.TB, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}
