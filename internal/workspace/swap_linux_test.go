package workspace

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// swapper exchanges root/d for a link to a folder outside, and back, as fast as
// it can until stop is called.
func swapper(t *testing.T, root, outside string) (stop func()) {
	d, spare := filepath.Join(root, "d"), filepath.Join(root, "spare")
	symlink(t, outside, spare)
	if err := unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, spare, unix.RENAME_EXCHANGE); err != nil {
		t.Skipf("cannot exchange names here: %v", err)
	}
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !done.Load() {
			if err := unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, spare, unix.RENAME_EXCHANGE); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() {
		done.Store(true)
		wg.Wait()
	}
}

// TestSwappedFile is the race for a file and a link to another file inside: what
// was resolved, and decided about, is not exchanged for something else.
func TestSwappedFile(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		write(t, filepath.Join(root, "f"), "harmless")
		write(t, filepath.Join(root, ".env"), "SECRET")
		w := open(root)
		p := mustResolve(t, w, "f")
		if err := os.Remove(filepath.Join(root, "f")); err != nil {
			t.Fatal(err)
		}
		symlink(t, ".env", filepath.Join(root, "f"))
		if c, err := w.ReadFile(p); err == nil {
			t.Errorf("a link that took the file's place was followed: %q", c.Raw)
		}
		if _, err := w.Replace(p, p.Info, []byte("x")); err == nil {
			t.Error("a link that took the file's place was replaced")
		}
		if raw, _ := os.ReadFile(filepath.Join(root, ".env")); string(raw) != "SECRET" {
			t.Errorf("the other file was written: %q", raw)
		}
	})
}
