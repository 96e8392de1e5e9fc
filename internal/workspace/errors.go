package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// OutsideError is a path that is, or leads, outside the root and the added folders.
type OutsideError struct {
	Path string // as the caller wrote it
	// LeadsTo is where it would end, as far as that can be told without leaving.
	LeadsTo string
	Roots   []string
}

func (e *OutsideError) Error() string {
	where := e.Path + " is"
	if e.LeadsTo != "" && e.LeadsTo != e.Path {
		where = fmt.Sprintf("%s leads to %s, which is", e.Path, e.LeadsTo)
	}
	return fmt.Sprintf("%s outside the project (%s); only the user can add a folder, with --add-dir", where, strings.Join(e.Roots, ", "))
}

// NotFoundError is a path that does not exist.
type NotFoundError struct {
	Path string // as it is shown
	// Folder is the deepest folder of the path that does exist.
	Folder string
	// Near are names in that folder that look like the missing one.
	Near []string
}

func (e *NotFoundError) Error() string {
	switch {
	case len(e.Near) > 0:
		return fmt.Sprintf("%s does not exist; did you mean %s?", e.Path, strings.Join(e.Near, " or "))
	case e.Folder == "." || e.Folder == "":
		return e.Path + " does not exist; use glob to find it"
	}
	return fmt.Sprintf("%s does not exist; the deepest folder of that path that does is %s", e.Path, e.Folder)
}

func (e *NotFoundError) Unwrap() error { return fs.ErrNotExist }

// FolderError is a folder where a file is needed.
type FolderError struct{ Path string }

func (e *FolderError) Error() string {
	return e.Path + " is a folder; use list_dir to see what is in it"
}

// NotFolderError is a file where a folder is needed.
type NotFolderError struct{ Path string }

func (e *NotFolderError) Error() string {
	return fmt.Sprintf("%s is a file, not a folder; it lies in %s, and read_file reads it", e.Path, path.Dir(e.Path))
}

// SpecialError is a pipe, device, socket or kernel file. It was not opened.
type SpecialError struct {
	Path string
	// What says what it is: "a named pipe".
	What string
}

func (e *SpecialError) Error() string {
	return fmt.Sprintf("%s is %s; only regular files are read and written", e.Path, e.What)
}

// TooLargeError is a file over a limit, both in bytes.
type TooLargeError struct {
	Path        string
	Size, Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the %d that are read at once", e.Path, e.Size, e.Limit)
}

// ChangedError is a file that is no longer what it was when the call was planned.
type ChangedError struct{ Path, How string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s %s; read it again and repeat the call", e.Path, e.How)
}

// PathError is any other failure of the file system at a path.
type PathError struct {
	// Doing is what was tried, as a verb: "read".
	Doing, Path string
	Err         error
}

func (e *PathError) Error() string { return fmt.Sprintf("cannot %s %s: %v", e.Doing, e.Path, e.Err) }
func (e *PathError) Unwrap() error { return e.Err }

// failure turns an error of a folder's method into one that a person can act on.
func (w *Workspace) failure(doing string, p Path, err error) error {
	var kind *kindError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLink), errors.Is(err, errSwapped):
		return &ChangedError{Path: p.Rel, How: "was exchanged for something else after it was looked at"}
	case errors.As(err, &kind) && kind.kind == KindFolder:
		return &FolderError{Path: p.Rel}
	case errors.As(err, &kind) && kind.kind == KindFile:
		return &NotFolderError{Path: p.Rel}
	case errors.As(err, &kind):
		return &SpecialError{Path: p.Rel, What: kind.kind.String()}
	case errors.Is(err, fs.ErrNotExist):
		return w.NotFound(p, nil)
	}
	return &PathError{Doing: doing, Path: p.Rel, Err: plainCause(err)}
}

// UnsavedError says that a change was made, and that it may be lost if the
// computer stops now, as its folder could not be saved.
type UnsavedError struct {
	Path string
	Err  error
}

func (e *UnsavedError) Error() string {
	return fmt.Sprintf("the change of %s was made, but could not be saved for good: %v", e.Path, plainCause(e.Err))
}

func (e *UnsavedError) Unwrap() error { return e.Err }

// Made reports whether a step that ended so changed the disk, also when it failed.
func Made(err error) bool {
	lost := (*UnsavedError)(nil)
	return err == nil || errors.As(err, &lost)
}

// unsaved is nil for no error.
func unsaved(p Path, err error) error {
	if err == nil {
		return nil
	}
	return &UnsavedError{Path: p.Rel, Err: err}
}
