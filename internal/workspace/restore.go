package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// At is the place below the root that a slash path names when no link counts: one
// that stands before the last name is a *ChangedError here and in all that is done
// with the place, and one that is the last name is described itself. Where a folder
// before it is missing, or is a file, nothing is there.
func (w *Workspace) At(rel string) (Path, error) {
	native := filepath.FromSlash(rel)
	if !filepath.IsLocal(native) || filepath.ToSlash(filepath.Clean(native)) != rel || rel == "." {
		return Path{}, &PathError{Doing: "use", Path: fmt.Sprintf("%q", rel), Err: errors.New("it names no place below the root")}
	}
	m := w.mounts[0]
	abs := m.path(rel)
	p := Path{Abs: abs, Real: abs, Rel: rel, mount: m, rel: rel}
	info, err := m.dir.lstat(rel)
	var kind *kindError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.As(err, &kind):
		return p, nil
	case err != nil:
		return Path{}, w.failure("look at", p, err)
	}
	p.Exists, p.Info = true, info
	return p, nil
}

// PutFile gives a place that At found these bytes and this mode in one step: other
// programs see the whole old file or the whole new one. A file is replaced when it
// is still as it was found, with its owner and attributes kept where that is
// possible; where nothing was, nothing is overwritten; anything else is a
// *ChangedError. The contents are on the disk when it returns, the name once
// SyncFolder has returned for its folder, which must be there.
func (w *Workspace) PutFile(p Path, data []byte, mode fs.FileMode) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	t := &tempFile{w: w, p: p, dir: dir}
	defer t.discard()
	if err := t.fill(data, mode.Perm()); err != nil {
		return err
	}
	if p.Exists {
		t.keepAttributes(name, p.Info)
	}
	if err := t.f.Chmod(mode); err != nil {
		return w.failure("set the mode of", p, err)
	}
	if _, err := t.finish(); err != nil {
		return err
	}
	if !p.Exists {
		return w.placeFailure(p, t.place(name))
	}
	if err := w.unchanged(dir, p, name, p.Info); err != nil {
		return err
	}
	if err := dir.rename(t.name, name); err != nil {
		return w.failure("replace", p, err)
	}
	t.name = ""
	return nil
}

func (w *Workspace) placeFailure(p Path, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return &ChangedError{Path: p.Rel, How: "appeared meanwhile and was not overwritten"}
	}
	return w.failure("create", p, err)
}

// PutLink is PutFile for a link that leads to target, as that is written.
func (w *Workspace) PutLink(p Path, target string) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	target = filepath.FromSlash(target)
	if !p.Exists {
		return w.placeFailure(p, dir.symlink(target, name))
	}
	temp := tempName()
	if err := dir.symlink(target, temp); err != nil {
		return w.failure("make the link", p, err)
	}
	err = w.unchanged(dir, p, name, p.Info)
	if err == nil {
		err = w.failure("replace", p, dir.rename(temp, name))
	}
	if err != nil {
		return errors.Join(err, dir.remove(temp))
	}
	return nil
}

// Unlink deletes a file or a link that is still as At found it. The name is gone for
// good once SyncFolder has returned.
func (w *Workspace) Unlink(p Path) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	if err := removable(p, p.Info); err != nil {
		return err
	}
	if err := w.unchanged(dir, p, name, p.Info); err != nil {
		return err
	}
	return w.failure("delete", p, dir.remove(name))
}

// MakeFolder makes a folder at a place where At found nothing, for this user alone
// until SetMode says otherwise.
func (w *Workspace) MakeFolder(p Path) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	return w.placeFailure(p, dir.mkdir(name, fs.ModePerm&^0o077))
}

// RemoveFolder removes a folder that is empty.
func (w *Workspace) RemoveFolder(p Path) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	return w.failure("remove the folder", p, dir.rmdir(name))
}

// SetMode sets the permission bits of the file or folder that At found.
func (w *Workspace) SetMode(p Path, mode fs.FileMode) error {
	if p.Info.Kind != KindFile && p.Info.Kind != KindFolder {
		return &SpecialError{Path: p.Rel, What: p.Info.Kind.String()}
	}
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	return w.failure("set the mode of", p, dir.chmod(name, p.Info, mode.Perm()))
}

// SyncFolder puts on the disk which names the folder with this slash path holds, "."
// for the root. One that is not there, or is no folder any more, has none.
func (w *Workspace) SyncFolder(rel string) error {
	m := w.mounts[0]
	dir, err := m.dir.sub(rel)
	if err != nil {
		return nil
	}
	defer dir.close()
	return unsaved(Path{Rel: rel}, dir.sync())
}

// Readlink is the target of a link that a walk came across, as it is written.
func (e *Entry) Readlink() (string, error) {
	target, err := e.dir.readlink(e.Name)
	if err != nil {
		return "", e.w.failure("read the link", e.Path(), err)
	}
	return filepath.ToSlash(target), nil
}

// Stamp is what changes when a file does, or nearly always: see Racy. Times are in
// nanoseconds since 1970; Changed and Inode are 0 where the system has none.
type Stamp struct {
	Size, Modified, Changed int64
	Device, Inode           uint64
}

// Stamp is the entry's.
func (i Info) Stamp() Stamp {
	return Stamp{Size: i.Size, Modified: i.ModTime.UnixNano(), Changed: i.changed, Device: i.dev, Inode: i.ino}
}
