//go:build unix

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func isReadOnly(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}

// Owner says whose a file is, and whether that is this user.
func Owner(info fs.FileInfo) (uid int, mine bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, false
	}
	return int(st.Uid), int(st.Uid) == os.Geteuid()
}

// tryLock takes an exclusive lock without waiting.
func tryLock(file *os.File) (taken bool, err error) {
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		return false, nil
	}
}

// Sync puts the folder's own entries on the disk: that a new file exists.
func (f *Folder) Sync() error {
	dir, err := f.root.Open(".")
	if err != nil {
		return fmt.Errorf("sync %s: %w", f.path, err)
	}
	return Explain("sync", f.path, errors.Join(dir.Sync(), dir.Close()))
}
