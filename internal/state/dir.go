// Package state is the `.garuda` folder below a project's root, and its only
// writer: sessions and the project's memory now, indexes, jobs and the like later.
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
// The project's memory is not among it: that is for the project to keep or not.
var ignored = []string{".gitignore", SessionsName, "index", "evals", "jobs", "worktrees", "memory.state.json", "*.lock", "*.tmp-*"}

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

// Folder opens `.garuda` itself. Where there is none yet the error is fs.ErrNotExist.
func (d *Dir) Folder() (*Folder, error) { return openFolder(d.root, Name, d.path) }

// MakeFolder opens `.garuda` itself and makes it where it is missing, with a
// .gitignore where there is none.
func (d *Dir) MakeFolder() (*Folder, error) {
	if err := makeFolder(d.root, Name, d.path); err != nil {
		return nil, err
	}
	garuda, err := d.Folder()
	if err != nil {
		return nil, err
	}
	if err := garuda.writeIgnore(); err != nil && !errors.Is(err, fs.ErrExist) {
		garuda.Close()
		return nil, err
	}
	return garuda, nil
}

// MakeSessions opens the folder of journals and makes what is missing of it.
func (d *Dir) MakeSessions() (*Folder, error) {
	garuda, err := d.MakeFolder()
	if err != nil {
		return nil, err
	}
	defer garuda.Close()
	sessions, err := garuda.MakeSub(SessionsName)
	if err != nil {
		return nil, err
	}
	if err := garuda.hide(sessions); err != nil {
		sessions.Close()
		return nil, err
	}
	return sessions, nil
}

const ignoreName = ".gitignore"

func (f *Folder) writeIgnore() error {
	return f.WriteNew(ignoreName, []byte("/"+strings.Join(ignored, "\n/")+"\n"))
}

// hide lets the sessions hide themselves where a .gitignore that the project has
// of its own, which stays as it is, does not name them.
func (f *Folder) hide(sessions *Folder) error {
	have, err := f.ReadFile(ignoreName)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(have)) {
		if strings.Trim(strings.TrimSpace(line), "/") == SessionsName || strings.TrimSpace(line) == "*" {
			return nil
		}
	}
	if err := sessions.WriteNew(ignoreName, []byte("*\n")); err != nil && !errors.Is(err, fs.ErrExist) {
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
