package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"garuda/internal/core"
)

// LockedError says that another process, or another part of this one, holds a lock.
type LockedError struct {
	Path string
	// PID is the holder's process id as it wrote it down, or 0 when unknown.
	PID int
}

func (e *LockedError) Error() string {
	if e.PID > 0 {
		return fmt.Sprintf("%s is in use by process %d", e.Path, e.PID)
	}
	return e.Path + " is in use by another process"
}

// Lock is an exclusive lock on a file of its own. It ends with Close or with
// the process, however that ends.
type Lock struct{ file *os.File }

// lockPoll is how often LockWithin tries.
const lockPoll = 10 * time.Millisecond

// LockWithin is Lock, but it waits for whoever holds the lock, at most for this
// long; then the error is the *LockedError after all.
func (f *Folder) LockWithin(ctx context.Context, clock core.Clock, name string, limit time.Duration) (*Lock, error) {
	for end := clock.Now().Add(limit); ; {
		lock, err := f.Lock(name)
		var taken *LockedError
		if !errors.As(err, &taken) || !clock.Now().Before(end) {
			return lock, err
		}
		if err := clock.Sleep(ctx, lockPoll); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", taken.Path, err)
		}
	}
}

// Lock takes the lock named by a file, which it makes, without waiting; a
// *LockedError when it is taken.
func (f *Folder) Lock(name string) (*Lock, error) {
	path := filepath.Join(f.path, name)
	const attempts = 10 // each lost to somebody who deleted the file meanwhile
	for range attempts {
		file, err := f.lockFile(name)
		if err != nil {
			return nil, err
		}
		if taken, err := tryLock(file); err != nil || taken {
			if taken {
				err = &LockedError{Path: path, PID: readPID(file)}
			}
			return nil, errors.Join(err, file.Close())
		}
		mine, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if now, err := f.root.Lstat(name); err == nil && os.SameFile(mine, now) {
			l := &Lock{file: file}
			l.writePID()
			return l, nil
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return nil, &LockedError{Path: path}
}

func (f *Folder) lockFile(name string) (*os.File, error) {
	file, err := f.open(name, os.O_RDWR)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	file, err = f.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) { // somebody was quicker
		return f.open(name, os.O_RDWR)
	}
	return file, Explain("create", filepath.Join(f.path, name), err)
}

// writePID tells others who holds the lock. Where that fails, on a full disk
// for one, the lock holds all the same.
func (l *Lock) writePID() {
	if err := l.file.Truncate(0); err == nil {
		_, _ = l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

// Close gives the lock up.
func (l *Lock) Close() error { return l.file.Close() }

func readPID(file *os.File) int {
	var b [16]byte
	n, err := file.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return 0
	}
	return pid
}
