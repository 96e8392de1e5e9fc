//go:build unix

package state_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/state"
)

func TestExplain(t *testing.T) {
	for err, want := range map[error]error{
		unix.ENOSPC: state.ErrFull, unix.EDQUOT: state.ErrFull, unix.EROFS: state.ErrReadOnly, unix.EACCES: state.ErrReadOnly,
	} {
		got := state.Explain("write", "/r/.garuda", &fs.PathError{Op: "write", Path: "x", Err: err})
		if !errors.Is(got, want) || !errors.Is(got, err) {
			t.Errorf("%v is explained as %v", err, got)
		}
	}
	if got := state.Explain("write", "x", unix.ENOSPC).Error(); got != "write x: the disk is full (no space left on device)" {
		t.Error(got)
	}
	if state.Explain("write", "x", nil) != nil {
		t.Error("nil is explained")
	}
}

// A pipe or device would block whoever opens it.
func TestPipes(t *testing.T) {
	f := sessions(t, t.TempDir())
	if err := unix.Mkfifo(filepath.Join(f.Path(), "p"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := f.ReadFile("p"); !errors.Is(err, state.ErrNotRegular) {
		t.Errorf("read: %v", err)
	}
	if _, err := f.OpenAppend("p"); !errors.Is(err, state.ErrNotRegular) {
		t.Errorf("append: %v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, root).MakeSessions(); !errors.Is(err, state.ErrReadOnly) {
		t.Errorf("%v", err)
	}
}
