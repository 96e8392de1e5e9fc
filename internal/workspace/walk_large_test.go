package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A folder of very many entries is walked by all workers, and an end of the
// context is noticed within a few entries. GARUDA_WALK_ENTRIES makes it larger.
func TestWalkOfALargeFolder(t *testing.T) {
	entries := 5000
	if s := os.Getenv("GARUDA_WALK_ENTRIES"); s != "" {
		if _, err := fmt.Sscan(s, &entries); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	for i := range entries {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("f%07d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := openTest(t, root, Options{})
	from := mustResolve(t, w, ".")
	seen := make([]atomic.Int32, entries)
	if _, err := w.Walk(context.Background(), from, WalkOptions{}, func(_ int, e *Entry) error {
		var i int
		if _, err := fmt.Sscanf(e.Name, "f%d", &i); err != nil {
			return err
		}
		seen[i].Add(1)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if n := seen[i].Load(); n != 1 {
			t.Fatalf("entry %d was visited %d times", i, n)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var visits atomic.Int32
	_, err := w.Walk(ctx, from, WalkOptions{}, func(int, *Entry) error {
		visits.Add(1)
		cancel()
		return nil
	})
	if most := int32(16 * WalkWorkers()); !errors.Is(err, context.Canceled) || visits.Load() > most {
		t.Errorf("after the end of the context %d more entries were visited: %v", visits.Load(), err)
	}
}

// The files of one folder are visited by several workers at once.
func TestWalkIsParallel(t *testing.T) {
	root := t.TempDir()
	for i := range 4 * walkBatch {
		write(t, filepath.Join(root, fmt.Sprint(i)), "")
	}
	w := openTest(t, root, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	both := make(chan struct{})
	var mu sync.Mutex
	workers := map[int]bool{}
	_, err := w.Walk(ctx, mustResolve(t, w, "."), WalkOptions{}, func(worker int, _ *Entry) error {
		mu.Lock()
		if workers[worker] = true; len(workers) == 2 {
			select {
			case <-both:
			default:
				close(both)
			}
		}
		mu.Unlock()
		select { // nobody goes on before a second worker is here
		case <-both:
			return nil
		case <-ctx.Done():
			return errors.New("one worker has it all")
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWalkOddNames(t *testing.T) {
	root := t.TempDir()
	want := []string{" ", "*", "-rf", "a\nb", "a\x1b[2Jb", "c\xff\xfe", `d\e`, "ü"}
	for _, name := range want {
		if err := os.MkdirAll(filepath.Join(root, "x"+name), 0o755); err != nil {
			t.Skip(err)
		}
		if err := os.WriteFile(filepath.Join(root, "x"+name, name), []byte("text"), 0o644); err != nil {
			t.Skip(err)
		}
	}
	w := openTest(t, root, Options{})
	var mu sync.Mutex
	var got []string
	if _, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(_ int, e *Entry) error {
		if e.Kind != KindFile {
			return nil
		}
		f, err := e.Open()
		if err != nil {
			return err
		}
		f.Close()
		if info, err := e.Info(); err != nil || info.Size != 4 || info.Kind != KindFile {
			t.Errorf("%q: %+v, %v", e.Name, info, err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// shutFolder may not be read at some places; root may read everything, so that
// the file system cannot be asked to refuse.
type shutFolder struct {
	folder
	shut map[string]bool
}

func (f *shutFolder) listOpen(rel string) (folder, []dirEntry, error) {
	if f.shut[rel] {
		return nil, nil, &fs.PathError{Op: "open", Path: rel, Err: fs.ErrPermission}
	}
	return f.folder.listOpen(rel)
}

func TestWalkReportsUnreadable(t *testing.T) {
	root := t.TempDir()
	shut := map[string]bool{}
	for i := range 30 {
		dir := fmt.Sprintf("d%02d", i)
		write(t, filepath.Join(root, dir, "f"), "")
		shut[dir] = i >= 5
	}
	w := openTest(t, root, Options{})
	w.mounts[0].dir = &shutFolder{w.mounts[0].dir, shut}
	files := 0
	var mu sync.Mutex
	report, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(_ int, e *Entry) error {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == KindFile {
			files++
		}
		return nil
	})
	if err != nil || files != 5 || report.UnreadableCount != 25 || len(report.Unreadable) != 20 || !slices.IsSorted(report.Unreadable) {
		t.Errorf("%d files, %+v, %v", files, report, err)
	}
	shut["."] = true
	if _, err := w.Walk(context.Background(), mustResolve(t, w, "."), WalkOptions{}, func(int, *Entry) error { return nil }); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a walk that cannot begin: %v", err)
	}
}
