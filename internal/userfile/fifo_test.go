//go:build unix

package userfile

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// Nobody writes to the FIFO: a read that waited would never end.
func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	if _, err := Read(path, 10); !errors.Is(err, ErrNotRegular) {
		t.Errorf("%v", err)
	}
}
