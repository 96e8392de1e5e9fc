package state

import (
	"errors"
	"fmt"
	"io/fs"
)

// What went wrong, for errors.Is.
var (
	// ErrLink: a link stands where a folder is expected.
	ErrLink = errors.New("it is a link; Garuda keeps its files in a folder of its own, so remove the link")
	// ErrNotRegular: a link, pipe or device stands where a file is expected.
	ErrNotRegular = errors.New("it is not a regular file; remove it")
	// ErrLarge: a file is larger than the one who reads it takes.
	ErrLarge = errors.New("the file is too large")
	// ErrFull: no room is left on the disk, or of the user's quota.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly: the place cannot be written by this user.
	ErrReadOnly = errors.New("it cannot be written to")
)

// Explain names what was done to which path in a failure to write, and puts
// ErrFull or ErrReadOnly beside the system's own error. nil stays nil.
func Explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // its path is the last part of ours
	}
	switch {
	case isFull(err):
		return fmt.Errorf("%s %s: %w (%w)", op, path, ErrFull, err)
	case isReadOnly(err):
		return fmt.Errorf("%s %s: %w (%w)", op, path, ErrReadOnly, err)
	default:
		return fmt.Errorf("%s %s: %w", op, path, err)
	}
}
