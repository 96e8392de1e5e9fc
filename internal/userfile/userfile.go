// Package userfile reads small files of the user's that are read at every start:
// settings, models.json. What stands in their place may be anything by now, so a
// read never waits (for the writer of a FIFO), never reads what is no regular
// file, and never reads without an end.
//
// It decides nothing about owners and links: what must be private is read by
// package secret.
package userfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

var (
	// ErrNotRegular is what every error about a folder, a FIFO, a device is.
	ErrNotRegular = errors.New("it is not a regular file")
	// ErrTooLarge is what every error about a file above its limit is.
	ErrTooLarge = errors.New("it is too large")
	// ErrDangling is what every error about a link that leads nowhere is. Such a file
	// is not missing: what it says cannot be told, as on a disk that is not there.
	ErrDangling = errors.New("it is, or lies below, a link that leads nowhere; mend the link or remove it")
)

// Read returns a file's content, of at most limit bytes. A link is followed. The
// errors are ErrNotRegular, a wrapped ErrTooLarge, or the system's own (such as
// fs.ErrNotExist).
func Read(path string, limit int) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return ReadAll(f, limit)
}

// ReadAll does the same with a file that was opened with NonBlocking, and closes it.
func ReadAll(f *os.File, limit int) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return data, nil
}

// Open opens a file for reading, and waits for no other side of a FIFO. The error is
// fs.ErrNotExist only where there is nothing, and ErrDangling behind a link that leads
// nowhere.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|NonBlocking, 0)
	if errors.Is(err, fs.ErrNotExist) && dangling(path) {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrDangling}
	}
	return f, err
}

// dangling tells whether the first part of a path that cannot be followed is a link.
func dangling(path string) bool {
	for {
		info, err := os.Lstat(path)
		if err == nil {
			if info.Mode()&fs.ModeSymlink == 0 {
				return false
			}
			_, err = os.Stat(path)
			return errors.Is(err, fs.ErrNotExist)
		}
		up := filepath.Dir(path)
		if up == path {
			return false
		}
		path = up
	}
}
