package bwrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// nothing is an empty file and an empty folder of Garuda's own: what lies where
// something is hidden, since bwrap can only show what is somewhere on the machine.
type nothing struct {
	// records is the folder that keeps them for all sessions; "" keeps them for this
	// executor alone.
	records string

	mu           sync.Mutex
	dir          string // "" until they are made
	file, folder unix.Stat_t
}

// make makes them, and looks whether they are what they should be.
func (n *nothing) make() (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dir != "" {
		return nil
	}
	dir := filepath.Join(n.records, "nothing")
	if n.records == "" {
		dir, err = os.MkdirTemp("", "garuda-nothing-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o555); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "file"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o444)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if n.folder, err = n.empty(filepath.Join(dir, "folder"), unix.S_IFDIR); err != nil {
		return err
	}
	if n.file, err = n.empty(filepath.Join(dir, "file"), unix.S_IFREG); err != nil {
		return err
	}
	n.dir = dir
	return nil
}

// empty reports an error for what holds something.
func (n *nothing) empty(at string, kind uint32) (unix.Stat_t, error) {
	f, st, err := look(at, unix.O_NOFOLLOW)
	if err != nil {
		return st, err
	}
	if err := f.Close(); err != nil {
		return st, err
	}
	names := []os.DirEntry(nil)
	if kind == unix.S_IFDIR {
		names, err = os.ReadDir(at)
	}
	if err != nil || st.Mode&unix.S_IFMT != kind || kind == unix.S_IFREG && st.Size > 0 || len(names) > 0 {
		return st, errors.Join(err, fmt.Errorf("%s should be empty, and is not; remove it", at))
	}
	return st, nil
}

// over says what is put over a place, and what that is; "" where nothing lies there.
func (n *nothing) over(at string) (source string, _ *unix.Stat_t, err error) {
	f, st, err := look(at, unix.O_NOFOLLOW)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil, nil
	case err != nil:
		return "", nil, fmt.Errorf("hide %s: %w", at, err)
	}
	if err := f.Close(); err != nil {
		return "", nil, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "", nil, fmt.Errorf("hide %s: bwrap hides no symbolic link; hide what it points to, or the folder it lies in", at)
	case unix.S_IFDIR:
		return filepath.Join(n.dir, "folder"), &n.folder, nil
	}
	return filepath.Join(n.dir, "file"), &n.file, nil
}

// close removes them, unless they are kept.
func (n *nothing) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.records != "" || n.dir == "" {
		return nil
	}
	err := os.RemoveAll(n.dir)
	n.dir = ""
	return err
}
