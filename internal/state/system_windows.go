package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isReadOnly(err error) bool {
	return errors.Is(err, windows.ERROR_WRITE_PROTECT) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// Owner says that a file is this user's: here access lists say whose it is, and
// what a user unpacks is the user's.
func Owner(fs.FileInfo) (uid int, mine bool) { return 0, true }

// tryLock locks one byte far behind the process id, which others want to read.
func tryLock(file *os.File) (taken bool, err error) {
	const at = 1 << 30
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: at})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return false, nil
}

// Sync does nothing: Windows keeps a folder's entries by itself.
func (f *Folder) Sync() error { return nil }
