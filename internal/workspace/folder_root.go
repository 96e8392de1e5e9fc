package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// rootFolder is a folder on top of os.Root. It goes down one component at a
// time, looks at each before opening it, and compares what it opened with what
// it saw, because os.Root itself would follow a link that appears in between.
type rootFolder struct{ r *os.Root }

func openRootFolder(path string) (folder, error) {
	r, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &rootFolder{r}, nil
}

// osFile is a file of the os package.
type osFile struct{ *os.File }

func (f osFile) control(use func(fd uintptr)) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	return conn.Control(use)
}

// step opens a child folder that is not a link.
func (f *rootFolder) step(name string) (*rootFolder, error) {
	before, err := f.r.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch kind := kindOf(before.Mode()); kind {
	case KindFolder:
	case KindLink:
		return nil, errLink
	default:
		return nil, &kindError{kind}
	}
	r, err := f.r.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := r.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = errSwapped
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &rootFolder{r}, nil
}

// parent opens the folder that holds the last component of rel; done gives it back.
func (f *rootFolder) parent(rel string) (dir *rootFolder, name string, done func(), err error) {
	dir, done = f, func() {}
	for {
		first, rest, more := strings.Cut(rel, "/")
		if !more {
			return dir, first, done, nil
		}
		next, err := dir.step(first)
		done()
		if err != nil {
			return nil, "", nil, err
		}
		dir, rel, done = next, rest, next.close
	}
}

func (f *rootFolder) lstat(rel string) (Info, error) {
	dir, name, done, err := f.parent(rel)
	if err != nil {
		return Info{}, err
	}
	defer done()
	fi, err := dir.r.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoFrom(fi), nil
}

func (f *rootFolder) readlink(rel string) (string, error) {
	dir, name, done, err := f.parent(rel)
	if err != nil {
		return "", err
	}
	defer done()
	return dir.r.Readlink(name)
}

func (f *rootFolder) openListed(rel string) (file, Info, error) { return f.open(rel) }

func (f *rootFolder) open(rel string) (file, Info, error) {
	dir, name, done, err := f.parent(rel)
	if err != nil {
		return nil, Info{}, err
	}
	defer done()
	before, err := dir.r.Lstat(name)
	if err != nil {
		return nil, Info{}, err
	}
	if kind := kindOf(before.Mode()); kind == KindLink {
		return nil, Info{}, errLink
	} else if kind != KindFile {
		return nil, Info{}, &kindError{kind}
	}
	opened, err := dir.r.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, Info{}, err
	}
	after, err := opened.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errSwapped
	}
	if err != nil {
		_ = opened.Close()
		return nil, Info{}, err
	}
	return osFile{opened}, infoFrom(after), nil
}

func (f *rootFolder) listOpen(rel string) (folder, []dirEntry, error) {
	sub, err := f.sub(rel)
	if err != nil {
		return nil, nil, err
	}
	entries, err := sub.(*rootFolder).entries()
	return sub, entries, err
}

func (f *rootFolder) entries() ([]dirEntry, error) {
	dir, err := f.r.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	out := make([]dirEntry, len(entries))
	for i, e := range entries {
		out[i] = dirEntry{e.Name(), kindOf(e.Type())}
	}
	return out, err
}

func (f *rootFolder) sub(rel string) (folder, error) {
	if rel == "." {
		r, err := f.r.OpenRoot(".")
		if err != nil {
			return nil, err
		}
		return &rootFolder{r}, nil
	}
	dir, name, done, err := f.parent(rel)
	if err != nil {
		return nil, err
	}
	defer done()
	return asFolder(dir.step(name))
}

// asFolder keeps a nil *rootFolder from becoming a folder that is not nil.
func asFolder(f *rootFolder, err error) (folder, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *rootFolder) create(name string, perm fs.FileMode) (newFile, error) {
	created, err := f.r.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	return created, nil
}

func (f *rootFolder) mkdir(name string, perm fs.FileMode) error { return f.r.Mkdir(name, perm) }
func (f *rootFolder) rename(from, to string) error              { return f.r.Rename(from, to) }
func (f *rootFolder) move(string, folder, string) error         { return errCopy }
func (f *rootFolder) link(from, to string) error                { return f.r.Link(from, to) }
func (f *rootFolder) symlink(target, name string) error         { return f.r.Symlink(target, name) }
func (f *rootFolder) remove(name string) error                  { return f.r.Remove(name) }
func (f *rootFolder) chmod(name string, was Info, mode fs.FileMode) error {
	before, err := f.r.Lstat(name)
	if err != nil {
		return err
	}
	if now := infoFrom(before); !now.sameFile(was) || now.Kind != was.Kind {
		return errSwapped
	}
	opened, err := f.r.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer opened.Close()
	if after, err := opened.Stat(); err != nil || !os.SameFile(before, after) {
		return cmp.Or(err, errSwapped)
	}
	return opened.Chmod(mode.Perm())
}

func (f *rootFolder) rmdir(name string) error {
	if info, err := f.lstat(name); err != nil || info.Kind != KindFolder {
		return cmp.Or(err, error(&kindError{info.Kind}))
	}
	return f.r.Remove(name)
}
func (f *rootFolder) close() { _ = f.r.Close() }

func (f *rootFolder) sync() error {
	dir, err := f.r.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !syncUnsupported(err) {
		return err
	}
	return nil
}
