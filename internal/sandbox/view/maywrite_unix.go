//go:build unix

package view

import (
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite says why nothing can be made in a folder.
func mayWrite(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write to", Path: dir, Err: err}
	}
	return nil
}

// sameDevice tells whether two folders lie on one disk, so that one can be moved.
func sameDevice(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev
}
