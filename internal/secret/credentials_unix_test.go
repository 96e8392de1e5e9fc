//go:build unix

package secret

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A FIFO must be refused without waiting for a writer.
func TestCredentialsIsFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readCredentials(path)
	checkRefused(t, got, err, "not a regular file")
}

func TestCredentialsOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "credentials")
	write(t, path, `{"X": "`+leak+`"}`, 0o600)
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	got, err := readCredentials(path)
	checkRefused(t, got, err, "another user (uid 65534)")
}
