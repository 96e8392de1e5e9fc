package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// What a killed program left is never found by a walk, and goes at a later
// session's first write in that folder; what may still be in use stays.
func TestTempFilesOfKilledPrograms(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		old, fresh := tempName(), tempName()
		others := []string{".garuda-x.tmp", ".garuda-0123456789abcdeg.tmp", "a.tmp"}
		for _, name := range append([]string{old, fresh, "f"}, others...) {
			write(t, filepath.Join(root, name), name)
		}
		past := time.Now().Add(-2 * staleAfter)
		for _, name := range append([]string{old}, others...) {
			if err := os.Chtimes(filepath.Join(root, name), past, past); err != nil {
				t.Fatal(err)
			}
		}
		w := open(root)
		for _, all := range []bool{false, true} {
			var mu sync.Mutex
			var seen []string
			_, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{IncludeIgnored: all}, func(_ int, e *Entry) error {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, e.Name)
				return nil
			})
			if err != nil || slices.Contains(seen, old) || slices.Contains(seen, fresh) || len(seen) != 1+len(others) {
				t.Errorf("the walk came across %v, %v", seen, err)
			}
		}
		if _, err := w.Create(mustResolve(t, w, "new"), nil); err != nil {
			t.Fatal(err)
		}
		for _, name := range append([]string{fresh, "f"}, others...) {
			if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
				t.Errorf("%s is gone: %v", name, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(root, old)); err == nil {
			t.Error("the old temporary file stays")
		}
	})
}
