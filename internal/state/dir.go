// Package state is the `.garuda` folder below a project's root, and its only
// writer: sessions now, indexes, jobs and the like later.
//
// It goes through directory handles, so that no link in the project can lead a
// write outside of it; it makes nothing before something is to be kept; and it
// keeps what it makes out of git. What files hold is other packages' concern,
// and settings, which belong to the user, are never written here.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// Name is the folder's name below the root.
	Name = ".garuda"
	// SessionsName is the folder of journals below it.
	SessionsName = "sessions"

	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
)

// ignored is what git must not see, in .garuda/.gitignore.
var ignored = []string{".gitignore", SessionsName, "index", "evals", "jobs", "worktrees"}

// Dir is the `.garuda` folder of one root, which need not exist yet.
type Dir struct {
	root *os.Root
	path string
}

// Open prepares the use of root's `.garuda` folder. It makes nothing.
func Open(root string) (*Dir, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the project's root: %w", err)
	}
	return &Dir{root: r, path: filepath.Join(root, Name)}, nil
}

// Close gives the root's handle back; folders that were opened stay usable.
func (d *Dir) Close() { _ = d.root.Close() }

// Path is the folder's path, for messages.
func (d *Dir) Path() string { return d.path }

// Sessions opens the folder of journals. Where there is none yet the error is
// fs.ErrNotExist.
func (d *Dir) Sessions() (*Folder, error) {
	garuda, err := openFolder(d.root, Name, d.path)
	if err != nil {
		return nil, err
	}
	defer garuda.Close()
	return garuda.Sub(SessionsName)
}

// MakeSessions opens the folder of journals and makes what is missing of it.
func (d *Dir) MakeSessions() (*Folder, error) {
	if err := makeFolder(d.root, Name, d.path); err != nil {
		return nil, err
	}
	garuda, err := openFolder(d.root, Name, d.path)
	if err != nil {
		return nil, err
	}
	defer garuda.Close()
	sessions, err := garuda.MakeSub(SessionsName)
	if err != nil {
		return nil, err
	}
	if err := garuda.hideFromGit(sessions); err != nil {
		sessions.Close()
		return nil, err
	}
	return sessions, nil
}

// hideFromGit makes .gitignore. One that is there is the project's and stays;
// where it does not name the sessions they hide themselves.
func (f *Folder) hideFromGit(sessions *Folder) error {
	const name = ".gitignore"
	have, err := f.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.WriteNew(name, []byte("/"+strings.Join(ignored, "\n/")+"\n"))
	case err != nil:
		return err
	}
	for line := range strings.Lines(string(have)) {
		if strings.Trim(strings.TrimSpace(line), "/") == SessionsName || strings.TrimSpace(line) == "*" {
			return nil
		}
	}
	if err := sessions.WriteNew(name, []byte("*\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// makeFolder makes one folder, which may be there already.
func makeFolder(in *os.Root, name, path string) error {
	if err := in.Mkdir(name, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return Explain("make", path, err)
	}
	return nil
}

// openFolder opens a folder that is really there. A link in its place is
// refused wherever it leads: what the project brings must not choose where
// journals lie.
func openFolder(in *os.Root, name, path string) (*Folder, error) {
	before, err := in.Lstat(name)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("open %s: %w", path, ErrLink)
	}
	r, err := in.OpenRoot(name)
	if err != nil {
		return nil, Explain("open", path, err)
	}
	if after, err := r.Stat("."); err != nil || !os.SameFile(before, after) {
		r.Close()
		return nil, fmt.Errorf("open %s: %w", path, errors.Join(ErrLink, err))
	}
	return &Folder{root: r, path: path}, nil
}

// CreateExport makes a file that a person asked for, anywhere below the root,
// named relative to it. It never overwrites one (fs.ErrExist) and never leaves
// the root, through links neither.
func (d *Dir) CreateExport(name string) (*os.File, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	return f, Explain("create", filepath.Join(filepath.Dir(d.path), name), err)
}
