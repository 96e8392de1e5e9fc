package workspace

import (
	"context"
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

// TestSwappedFolder is the race that a check of a path and a later use of it
// lose: the folder is exchanged for a link to outside in between. Nothing from
// outside may be read, nothing outside written, nothing outside named.
func TestSwappedFolder(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		base := t.TempDir()
		root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
		write(t, filepath.Join(root, "d", "f"), "inside")
		write(t, filepath.Join(root, "d", "sub", "g"), "inside")
		write(t, filepath.Join(outside, "f"), "OUTSIDE")
		write(t, filepath.Join(outside, "sub", "g"), "OUTSIDE")
		write(t, filepath.Join(outside, "only-outside"), "OUTSIDE")
		w := open(root)
		stop := swapper(t, root, outside)
		defer stop()

		visit := func(_ int, e *Entry) error {
			if e.Name == "only-outside" {
				t.Errorf("the walk came across %s", e.Path().Rel)
			}
			if e.Kind != KindFile {
				return nil
			}
			f, err := e.Open()
			if err != nil {
				return nil
			}
			defer f.Close()
			head := make([]byte, 8)
			if n, _ := f.Read(head); string(head[:n]) == "OUTSIDE" {
				t.Errorf("the walk read %s outside", e.Path().Rel)
			}
			return nil
		}
		const rounds = 3000
		reads, naive := 0, 0
		for i := range rounds {
			for _, name := range []string{"d/f", "d/sub/g"} {
				p, err := w.Resolve(name)
				if err != nil {
					continue
				}
				if c, err := w.ReadFile(p); err == nil {
					reads++
					if string(c.Raw) == "OUTSIDE" {
						t.Fatalf("round %d: %s was read outside", i, name)
					}
				}
			}
			// The control: the same by path does get out.
			if raw, err := os.ReadFile(filepath.Join(root, "d", "f")); err == nil && string(raw) == "OUTSIDE" {
				naive++
			}
			if i%30 != 0 {
				continue // the rest is slow: it waits for the disk
			}
			if p, err := w.Resolve("d/made"); err == nil && !p.Exists {
				_, _ = w.Create(p, []byte("made")) // whether it works depends on the moment
				_ = os.Remove(filepath.Join(root, "d", "made"))
				_ = os.Remove(filepath.Join(root, "spare", "made"))
			}
			if p, err := w.Resolve("d/f"); err == nil && p.Exists {
				_, _ = w.Replace(p, p.Info, []byte("inside"))
			}
			if _, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, visit); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		entries, err := os.ReadDir(outside)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) != 3 {
			t.Errorf("something was made outside: %v", entries)
		}
		if raw, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(raw) != "OUTSIDE" {
			t.Errorf("the file outside is %q, %v", raw, err)
		}
		left, err := filepath.Glob(filepath.Join(root, "*", ".garuda-*"))
		if err != nil || len(left) > 0 {
			t.Errorf("temporary files remain: %v, %v", left, err)
		}
		t.Logf("%d reads inside; by path %d of %d reads got out", reads, naive, rounds)
		if reads == 0 || naive == 0 {
			t.Errorf("the race was not exercised: %d reads inside, %d out by path", reads, naive)
		}
	})
}

// TestSwappedFile is the same for a file and a link to another file inside: what
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
