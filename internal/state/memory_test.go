package state_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/state"
	"garuda/internal/testkit"
)

func TestFolderItself(t *testing.T) {
	root := t.TempDir()
	d := open(t, root)
	if _, err := d.Folder(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(root, ".garuda")); err == nil {
		t.Error("looking made it")
	}
	f, err := d.MakeFolder()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Stat(".gitignore"); err != nil {
		t.Error(err)
	}
	again, err := d.Folder()
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestFolderRefusesLinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, ".garuda")); err != nil {
		t.Skip(err)
	}
	d := open(t, root)
	if _, err := d.MakeFolder(); !errors.Is(err, state.ErrLink) {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("%d files were made where the link leads", len(entries))
	}
}

func TestReadSmall(t *testing.T) {
	f := made(t)
	if err := f.WriteNew("a", []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ReadSmall("a", 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := f.ReadSmall("a", 4); !errors.Is(err, state.ErrLarge) {
		t.Errorf("%v", err)
	}
}

// A file is read whole while another process replaces it again and again.
func TestReadWhileReplaced(t *testing.T) {
	f := made(t)
	if err := f.Replace("a", []byte("first"), false); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		for range 300 {
			if err := f.Replace("a", []byte("other"), false); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		if got, err := f.ReadSmall("a", 5); err != nil || len(got) != 5 {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

func made(t *testing.T) *state.Folder {
	t.Helper()
	f, err := open(t, t.TempDir()).MakeFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func TestLockWithin(t *testing.T) {
	f := made(t)
	held, err := f.Lock("x.lock")
	if err != nil {
		t.Fatal(err)
	}
	clock := testkit.NewClock()
	waited := make(chan error, 1)
	go func() {
		_, err := f.LockWithin(t.Context(), clock, "x.lock", time.Second)
		waited <- err
	}()
	if err := clock.WaitFor(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	var taken *state.LockedError
	if err := <-waited; !errors.As(err, &taken) {
		t.Errorf("after the limit: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.LockWithin(ctx, clock, "x.lock", time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := f.LockWithin(t.Context(), core.SystemClock, "x.lock", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
