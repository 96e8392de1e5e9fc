//go:build unix

package config

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"garuda/internal/userfile"
)

// A FIFO in the file's place must not make the start wait for a writer.
func TestProjectFileIsAFIFO(t *testing.T) {
	p := newPlace(t)
	if err := syscall.Mkfifo(filepath.Join(p.root, ".garuda", "settings.json"), 0o644); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	refused(t, p)
}

// The same for a file of the user's, read and edited.
func TestUserFileIsAFIFO(t *testing.T) {
	p := newPlace(t)
	path := filepath.Join(p.home, "settings.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	if _, _, err := Load(p.options()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("read: %v", err)
	}
	err := Edit(path, func([]byte) ([]byte, error) {
		t.Error("a FIFO was edited")
		return nil, nil
	})
	if !errors.Is(err, userfile.ErrNotRegular) {
		t.Errorf("edited: %v", err)
	}
}
