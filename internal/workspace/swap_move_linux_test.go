package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Moving and deleting lose no race either: a folder that is exchanged for a link
// to outside takes nothing outside with it, and nothing is moved there.
func TestSwappedFolderMoveAndRemove(t *testing.T) {
	const rounds = 300
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		base := t.TempDir()
		root, outside := filepath.Join(base, "root"), filepath.Join(base, "outside")
		for i := range rounds {
			write(t, filepath.Join(root, fmt.Sprint("d/f", i)), "inside")
			write(t, filepath.Join(root, fmt.Sprint("top", i)), "inside")
			write(t, filepath.Join(outside, fmt.Sprint("f", i)), "OUTSIDE")
		}
		w := open(root)
		stop := swapper(t, root, outside)
		defer stop()
		worked := 0
		for i := range rounds {
			f, err := w.ResolveEntry(fmt.Sprint("d/f", i))
			if err == nil && f.Exists && i%2 == 0 && w.Remove(f, f.Info) == nil {
				worked++
			}
			for _, move := range [][2]string{{fmt.Sprint("d/f", i), fmt.Sprint("moved", i)}, {fmt.Sprint("top", i), fmt.Sprint("d/new/top", i)}} {
				from, err := w.ResolveEntry(move[0])
				if err != nil || !from.Exists {
					continue
				}
				to, err := w.Resolve(move[1])
				if err != nil {
					continue
				}
				if _, err := w.Move(from, to, from.Info); err == nil {
					worked++
				}
			}
		}
		stop()
		entries, err := os.ReadDir(outside)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if raw, err := os.ReadFile(filepath.Join(outside, e.Name())); err != nil || string(raw) != "OUTSIDE" {
				t.Errorf("outside %s is now %q, %v", e.Name(), raw, err)
			}
		}
		if len(entries) != rounds {
			t.Errorf("outside there are now %d files", len(entries))
		}
		if worked == 0 {
			t.Error("nothing was ever moved or deleted, so this test shows nothing")
		}
	})
}
