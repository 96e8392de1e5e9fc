//go:build unix

package config

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A FIFO in the file's place must not make the start wait for a writer.
func TestProjectFileIsAFIFO(t *testing.T) {
	p := newPlace(t)
	if err := syscall.Mkfifo(filepath.Join(p.root, ".garuda", "settings.json"), 0o644); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	refused(t, p)
}
