//go:build unix

package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openNoFollow opens a file for reading without following a link at its end and
// without waiting for the other end of a FIFO.
func openNoFollow(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	// FreeBSD and its kin say EMLINK where the others say ELOOP.
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EMLINK) {
		return nil, errIsLink
	}
	return f, err
}

// noFollow is the flag with which opening a link fails.
const noFollow = unix.O_NOFOLLOW

// syncFolder puts the folder's own entries on the disk.
func syncFolder(folder *os.Root) error {
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkOwner refuses a file that somebody else could have written or can read.
func checkOwner(path string, info fs.FileInfo) (problem, fix string) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "its owner cannot be read", "move it to an ordinary file system"
	}
	if int(st.Uid) != os.Geteuid() {
		return fmt.Sprintf("it belongs to another user (uid %d)", st.Uid), "store the keys again with `garuda setup`"
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return fmt.Sprintf("its mode is %04o, so that others may use it", perm), fmt.Sprintf("run: chmod 600 %q", path)
	}
	return "", ""
}
