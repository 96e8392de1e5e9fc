//go:build unix

package provider

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO in the place of models.json must not make every start wait.
func TestFileIsAFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "models.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	var wrong *FileError
	if _, err := ReadFile(path); !errors.As(err, &wrong) {
		t.Errorf("%v", err)
	}
}
