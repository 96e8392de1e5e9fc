package state

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Folder is one folder of the state. Names are single names or slash paths
// below it; nothing outside can be reached, through links neither. Files it
// makes are 0600, folders 0700.
type Folder struct {
	root *os.Root
	path string
}

// Path is the folder's path, for messages.
func (f *Folder) Path() string { return f.path }

// Close gives the handle back. Nothing can be lost by it.
func (f *Folder) Close() { _ = f.root.Close() }

// Sub opens a folder in this one.
func (f *Folder) Sub(name string) (*Folder, error) {
	return openFolder(f.root, name, filepath.Join(f.path, name))
}

// MakeSub opens a folder in this one, made if it is missing, closed to others.
func (f *Folder) MakeSub(name string) (*Folder, error) {
	path := filepath.Join(f.path, name)
	if err := makeFolder(f.root, name, path); err != nil {
		return nil, err
	}
	sub, err := openFolder(f.root, name, path)
	if err != nil {
		return nil, err
	}
	if info, err := sub.root.Stat("."); err == nil && info.Mode().Perm() != folderMode {
		// Fails where the file system has no modes or the folder is another's,
		// and then there is nothing to be gained.
		_ = sub.root.Chmod(".", folderMode)
	}
	return sub, nil
}

// Open opens a regular file for reading.
func (f *Folder) Open(name string) (*os.File, error) { return f.open(name, os.O_RDONLY) }

// OpenAppend opens a regular file for reading and appending.
func (f *Folder) OpenAppend(name string) (*os.File, error) {
	return f.open(name, os.O_RDWR|os.O_APPEND)
}

// OpenUpdate opens a regular file for reading and writing in place.
func (f *Folder) OpenUpdate(name string) (*os.File, error) { return f.open(name, os.O_RDWR) }

// Create makes a file for appending; fs.ErrExist when there is one.
func (f *Folder) Create(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, fileMode)
	return file, Explain("create", filepath.Join(f.path, name), err)
}

// open refuses links, pipes and devices before opening, since opening one may
// already block or have an effect, and looks again afterwards. A file that another
// process has just replaced is looked at anew.
func (f *Folder) open(name string, flag int) (*os.File, error) {
	const attempts = 10
	for n := 1; ; n++ {
		file, err := f.openOnce(name, flag)
		if n == attempts || !errors.Is(err, errSwapped) {
			return file, err
		}
	}
}

// errSwapped: what was opened is not what was looked at.
var errSwapped = fmt.Errorf("%w, or stop what replaces it all the time", ErrNotRegular)

func (f *Folder) openOnce(name string, flag int) (*os.File, error) {
	path := filepath.Join(f.path, name)
	before, err := f.root.Lstat(name)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: %w", path, ErrNotRegular)
	}
	file, err := f.root.OpenFile(name, flag, 0)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errSwapped
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), file.Close())
	}
	return file, nil
}

// ReadFile reads a whole regular file.
func (f *Folder) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(file, data)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(f.path, name), err)
	}
	return data[:n], nil // a file that grew meanwhile is read up to where it was
}

// ReadSmall reads a whole regular file of at most limit bytes; one that is larger
// is ErrLarge.
func (f *Folder) ReadSmall(name string, limit int64) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrLarge, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(f.path, name), err)
	}
	return data, nil
}

// WriteNew makes a file with this content; fs.ErrExist when there is one. A
// failure leaves nothing behind.
func (f *Folder) WriteNew(name string, data []byte) error {
	file, err := f.Create(name)
	if err != nil {
		return err
	}
	if err := f.fill(file, name, data, false); err != nil {
		return errors.Join(err, f.root.Remove(name))
	}
	return nil
}

// Replace gives a file new content in one step: a reader sees the old one or
// the new one. With durable it is on the disk when Replace returns.
func (f *Folder) Replace(name string, data []byte, durable bool) error {
	temp := name + ".tmp-" + randomName()
	file, err := f.Create(temp)
	if err != nil {
		return err
	}
	if err := f.fill(file, temp, data, durable); err != nil {
		return errors.Join(err, f.root.Remove(temp))
	}
	if err := f.root.Rename(temp, name); err != nil {
		return errors.Join(Explain("write", filepath.Join(f.path, name), err), f.root.Remove(temp))
	}
	if durable {
		return f.Sync()
	}
	return nil
}

func (f *Folder) fill(file *os.File, name string, data []byte, durable bool) error {
	_, err := file.Write(data)
	if err == nil && durable {
		err = file.Sync()
	}
	return Explain("write", filepath.Join(f.path, name), errors.Join(err, file.Close()))
}

// Rename gives a file another name in this folder, in place of what has it.
func (f *Folder) Rename(from, to string) error {
	return Explain("rename", filepath.Join(f.path, from), f.root.Rename(from, to))
}

// Stat describes a file or folder, not following a last link.
func (f *Folder) Stat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

// ReadDir lists the folder, in the order of the file system.
func (f *Folder) ReadDir() ([]fs.DirEntry, error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", f.path, err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", f.path, err)
	}
	return entries, nil
}

// KeepsModes reports whether files here keep the mode that they are given, which
// they do not on disks that other systems' drivers serve. It makes a file to find
// out, and removes it.
func (f *Folder) KeepsModes() bool {
	name := "mode.tmp-" + randomName()
	file, err := f.Create(name)
	if err != nil {
		return true // nothing says otherwise
	}
	info, err := file.Stat()
	_, _ = file.Close(), f.root.Remove(name) // it is empty
	return err != nil || info.Mode().Perm()&^fileMode == 0
}

// Remove deletes a file, or a folder with all that is in it.
func (f *Folder) Remove(name string) error {
	return Explain("delete", filepath.Join(f.path, name), f.root.RemoveAll(name))
}

// SetTime sets when a file counts as last changed.
func (f *Folder) SetTime(name string, t time.Time) error {
	return Explain("set the time of", filepath.Join(f.path, name), f.root.Chtimes(name, t, t))
}

func randomName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}
