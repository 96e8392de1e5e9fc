package state

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Datasync puts a file's content on the disk, and of what describes it only
// what is needed to read it back.
func Datasync(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
