package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// nest makes one folder in another, so many levels deep that no path names the
// innermost, which holds a file. The paths that it uses itself stay short.
func nest(t *testing.T, root string, levels int) {
	t.Helper()
	do := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	top, next := filepath.Join(root, "d"), filepath.Join(root, "next")
	do(os.Mkdir(top, 0o755))
	do(os.WriteFile(filepath.Join(top, "end"), []byte("needle\n"), 0o644))
	for range levels - 1 {
		do(os.Mkdir(next, 0o755))
		do(os.Rename(top, filepath.Join(next, "d")))
		do(os.Rename(next, top))
	}
	t.Cleanup(func() { // os.RemoveAll would hold every level open
		for os.Rename(filepath.Join(top, "d"), next) == nil {
			_ = os.Remove(top)
			_ = os.Rename(next, top)
		}
	})
}

// GARUDA_WALK_LEVELS makes the tree deeper.
func TestWalkDeepTree(t *testing.T) {
	levels := 2200 // two calls of the system are needed for the way down
	if s := os.Getenv("GARUDA_WALK_LEVELS"); s != "" {
		if _, err := fmt.Sscan(s, &levels); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	nest(t, root, levels)
	w := openTest(t, root, Options{})
	var folders, read atomic.Int32
	report, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(_ int, e *Entry) error {
		if e.Kind == KindFolder {
			folders.Add(1)
			return nil
		}
		f, err := e.Open()
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := readUpTo(f, f.Info.Size, 100)
		if string(text) == "needle\n" && e.Depth == levels+1 {
			read.Add(1)
		}
		return err
	})
	if err != nil || int(folders.Load()) != levels || read.Load() != 1 || report.UnreadableCount != 0 {
		t.Errorf("%d folders, %d files read, %+v, %v", folders.Load(), read.Load(), report, err)
	}
}

// A link deep down is as little followed as one at the top.
func TestDeepLink(t *testing.T) {
	const levels = 2200
	root := t.TempDir()
	nest(t, root, levels)
	w := openTest(t, root, Options{})
	deep := strings.Repeat("d/", levels)
	f, _, err := w.mounts[0].dir.open(deep + "end")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	// The outermost folder is exchanged for a link to where it went.
	if err := os.Rename(filepath.Join(root, "d"), filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	symlink(t, "moved", filepath.Join(root, "d"))
	defer func() { // so that the tree can be taken apart
		_ = os.Remove(filepath.Join(root, "d"))
		_ = os.Rename(filepath.Join(root, "moved"), filepath.Join(root, "d"))
	}()
	if f, _, err := w.mounts[0].dir.open(deep + "end"); !errors.Is(err, errLink) {
		if err == nil {
			_ = f.Close()
		}
		t.Errorf("through a link: %v", err)
	}
}
