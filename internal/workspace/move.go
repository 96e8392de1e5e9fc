package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// ResolveEntry is Resolve for what is to be removed or moved itself: a symbolic
// link at the end of the path is not followed, those before it are. Exists is false
// where nothing is there.
func (w *Workspace) ResolveEntry(path string) (Path, error) {
	abs, err := w.absolute(path)
	if err != nil {
		return Path{}, err
	}
	if _, rel, ok := w.locate(abs); ok && rel == "." { // nothing before it belongs to the workspace
		return w.Resolve(path)
	}
	p, err := w.Resolve(filepath.Dir(abs))
	if err != nil {
		return Path{}, err
	}
	dir := p
	p.Abs, p.rel = filepath.Join(dir.Abs, filepath.Base(abs)), joinRel(dir.rel, filepath.Base(abs))
	p.Real, p.Rel = p.mount.path(p.rel), w.Rel(p.Abs)
	info, err := p.mount.dir.lstat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Exists, p.Info = false, Info{}
	case err != nil:
		return Path{}, w.failure("look at", p, err)
	default:
		p.Exists, p.Info = true, info
	}
	return p, nil
}

// Remove deletes a file or a link that looks as it did (was). A folder is a
// *FolderError, something else that is no file a *SpecialError, one that changed
// a *ChangedError.
func (w *Workspace) Remove(p Path, was Info) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	if err := removable(p, was); err != nil {
		return err
	}
	if err := w.unchanged(dir, p, name, was); err != nil {
		return err
	}
	if err := dir.remove(name); err != nil {
		return w.failure("delete", p, err)
	}
	return unsaved(p, dir.sync())
}

func removable(p Path, was Info) error {
	switch was.Kind {
	case KindFile, KindLink:
		return nil
	case KindFolder:
		return &FolderError{Path: p.Rel}
	default:
		return &SpecialError{Path: p.Rel, What: was.Kind.String()}
	}
}

// Move gives a file or a link another name, with its missing folders, in one
// step where the system can. What has the new name is left alone (a
// *ChangedError); mode, owner and attributes are kept.
func (w *Workspace) Move(from, to Path, was Info) (*Written, error) {
	if err := removable(from, was); err != nil {
		return nil, err
	}
	dir, name, err := w.parent(from)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if err := w.unchanged(dir, from, name, was); err != nil {
		return nil, err
	}
	out := &Written{}
	toDir, toName, err := w.makeParent(to, out)
	if err == nil {
		defer toDir.close()
		err = w.moveTo(dir, from, name, toDir, to, toName, was, out)
	}
	if !Made(err) {
		w.RemoveFolders(out)
		return nil, err
	}
	return out, err
}

func (w *Workspace) moveTo(dir folder, from Path, name string, toDir folder, to Path, toName string, was Info, out *Written) error {
	switch err := dir.move(name, toDir, toName); {
	case errors.Is(err, errCopy):
		return w.moveByCopy(from, to, was, out)
	case errors.Is(err, fs.ErrExist):
		return &ChangedError{Path: to.Rel, How: "is there already and was not overwritten"}
	case err != nil:
		return w.failure("move", from, err)
	}
	info, err := toDir.lstat(toName)
	if err != nil {
		return unsaved(to, err)
	}
	out.Info, out.Snapshot = info, snapshotOf(info)
	return unsaved(to, errors.Join(toDir.sync(), dir.sync()))
}

// moveByCopy writes the file anew and removes it at the old place; the copy is
// taken back when that fails.
func (w *Workspace) moveByCopy(from, to Path, was Info, out *Written) error {
	if was.Kind != KindFile {
		return &PathError{Doing: "move", Path: from.Rel, Err: errors.New("it is a symbolic link, and the new place is on another file system")}
	}
	c, err := w.ReadFile(from)
	if err != nil {
		return err
	}
	lost := (*UnsavedError)(nil)
	written, err := w.CreateAs(to, c.Raw, was.Mode.Perm())
	switch {
	case errors.As(err, &lost): // it must be safe before the other goes
		return errors.Join(w.failure("save", to, lost.Err), w.takeBack(to, written))
	case err != nil:
		return err
	}
	err = w.Remove(from, was)
	if !Made(err) { // else the copy is all there is
		return errors.Join(err, w.takeBack(to, written))
	}
	written.Folders, written.made = out.Folders, out.made
	*out = *written
	out.Notes = append(out.Notes, fmt.Sprintf("%s was copied and then deleted at the old place; its owner and extended attributes were not kept", from.Rel))
	return err
}

// takeBack removes a copy; that it is gone need not be saved.
func (w *Workspace) takeBack(p Path, written *Written) error {
	if err := w.Remove(p, written.Info); !Made(err) {
		return err
	}
	return nil
}
