package workspace

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
)

// Written says how a write went.
type Written struct {
	Info     Info
	Snapshot Snapshot
	// Folders are the folders that were made, as they are shown, outermost first.
	Folders []string
	// Notes are what the user should know: other names of the file that keep the
	// old text, an owner or attributes that could not be kept.
	Notes []string

	made []place
}

// place is a path of a mount.
type place struct {
	mount *mount
	rel   string
}

// Create writes a new file, with its missing folders, in one step: other
// programs see all of it or nothing. A file that is there, or appears
// meanwhile, is left alone and the error is a *ChangedError. With an
// *UnsavedError, here and in the other writes, the change was made.
func (w *Workspace) Create(p Path, data []byte) (*Written, error) {
	return w.CreateAs(p, data, 0)
}

// CreateAs is Create with this mode; 0 is what the umask leaves.
func (w *Workspace) CreateAs(p Path, data []byte, mode fs.FileMode) (*Written, error) {
	out := &Written{}
	dir, name, err := w.makeParent(p, out)
	if err != nil {
		w.RemoveFolders(out)
		return nil, err
	}
	defer dir.close()
	err = w.createIn(dir, name, p, data, mode, out)
	if !Made(err) {
		w.RemoveFolders(out)
		return nil, err
	}
	return out, err
}

// RemoveFolders takes back the folders that a write made, as far as nothing is
// in them. It is for a write that failed, or that is taken back itself; a folder
// that stays does no harm, so what cannot be removed is left.
func (w *Workspace) RemoveFolders(out *Written) {
	for _, at := range slices.Backward(out.made) {
		dir, name := splitRel(at.rel)
		parent, err := at.mount.dir.sub(dir)
		if err != nil {
			return
		}
		err = parent.rmdir(name)
		parent.close()
		if err != nil {
			return
		}
	}
	out.Folders, out.made = nil, nil
}

func (w *Workspace) createIn(dir folder, name string, p Path, data []byte, mode fs.FileMode, out *Written) error {
	t := &tempFile{w: w, p: p, dir: dir}
	defer t.discard()
	const everyone = 0o666 // less the umask
	if err := t.fill(data, cmp.Or(mode, everyone)); err != nil {
		return err
	}
	if mode != 0 {
		if err := t.f.Chmod(mode); err != nil {
			return w.failure("create", p, err)
		}
	}
	info, err := t.finish()
	if err != nil {
		return err
	}
	switch err := t.place(name); {
	case errors.Is(err, fs.ErrExist):
		return &ChangedError{Path: p.Rel, How: "appeared meanwhile and was not overwritten"}
	case err != nil:
		return w.failure("create", p, err)
	}
	t.discard() // it may still have its first name too
	out.done(placed(dir, name, info), data)
	return unsaved(p, dir.sync())
}

// placed describes a file again that got its name: some systems count that as a
// change of it.
func placed(dir folder, name string, was Info) Info {
	if now, err := dir.lstat(name); err == nil && now.sameFile(was) {
		return now
	}
	return was // someone else was quicker; the next look at it tells
}

// Replace writes a file that exists in one step. It must still look as it did
// when it was read (was); otherwise the error is a *ChangedError and nothing is
// written. Mode, extended attributes and, where the system permits, the owner
// are kept; what is not kept is in the notes.
func (w *Workspace) Replace(p Path, was Info, data []byte) (*Written, error) {
	dir, name, err := w.parent(p)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if err := w.unchanged(dir, p, name, was); err != nil {
		return nil, err
	}
	out := &Written{}
	t := &tempFile{w: w, p: p, dir: dir}
	defer t.discard()
	if err := t.fill(data, was.Mode.Perm()); err != nil {
		return nil, err
	}
	out.Notes = t.keepAttributes(name, was)
	info, err := t.finish()
	if err != nil {
		return nil, err
	}
	if err := w.unchanged(dir, p, name, was); err != nil {
		return nil, err
	}
	if err := dir.rename(t.name, name); err != nil {
		return nil, w.failure("replace", p, err)
	}
	t.name = ""
	if was.Links > 1 {
		out.Notes = append(out.Notes, fmt.Sprintf("the file had %d other name(s) (hard links); they keep the old text", was.Links-1))
	}
	return out.done(placed(dir, name, info), data), unsaved(p, dir.sync())
}

func (out *Written) done(info Info, data []byte) *Written {
	out.Info, out.Snapshot = info, snapshotOf(info)
	out.Snapshot.Hash = sha256.Sum256(data)
	return out
}

// CheckUnchanged fails with a *ChangedError unless p looks as it did.
func (w *Workspace) CheckUnchanged(p Path, was Info) error {
	dir, name, err := w.parent(p)
	if err != nil {
		return err
	}
	defer dir.close()
	return w.unchanged(dir, p, name, was)
}

func (w *Workspace) unchanged(dir folder, p Path, name string, was Info) error {
	now, err := dir.lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &ChangedError{Path: p.Rel, How: "was removed meanwhile"}
	case err != nil:
		return w.failure("replace", p, err)
	case !now.sameState(was):
		return &ChangedError{Path: p.Rel, How: "was changed meanwhile by someone else, and was not overwritten"}
	}
	return nil
}

// parent opens the folder that holds p.
func (w *Workspace) parent(p Path) (folder, string, error) {
	dir, name := splitRel(p.rel)
	if name == "." {
		return nil, "", &FolderError{Path: p.Rel}
	}
	f, err := p.mount.dir.sub(dir)
	if err != nil {
		return nil, "", w.failure("write", p, err)
	}
	return f, name, nil
}

func splitRel(rel string) (dir, name string) {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:]
	}
	return ".", rel
}

// makeParent opens the folder that holds p and makes what is missing of it.
func (w *Workspace) makeParent(p Path, out *Written) (folder, string, error) {
	dir, name := splitRel(p.rel)
	if name == "." {
		return nil, "", &FolderError{Path: p.Rel}
	}
	if f, err := p.mount.dir.sub(dir); err == nil {
		return f, name, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", w.failure("write", p, err)
	}
	at, err := p.mount.dir.sub(".")
	if err != nil {
		return nil, "", w.failure("write", p, err)
	}
	rel := ""
	for part := range strings.SplitSeq(dir, "/") {
		rel = strings.TrimPrefix(rel+"/"+part, "/")
		const everyone = 0o777 // less the umask
		switch err := at.mkdir(part, everyone); {
		case err == nil:
			out.Folders = append(out.Folders, w.Rel(p.mount.path(rel)))
			out.made = append(out.made, place{p.mount, rel})
			if err := at.sync(); err != nil {
				at.close()
				return nil, "", w.failure("save the folder of", p, err)
			}
		case !errors.Is(err, fs.ErrExist):
			at.close()
			return nil, "", w.failure("make the folder of", p, err)
		}
		next, err := at.sub(part)
		at.close()
		if err != nil {
			return nil, "", w.failure("write", p, err)
		}
		at = next
	}
	return at, name, nil
}

// tempFile is the new text beside its target until it takes the target's place.
type tempFile struct {
	w    *Workspace
	p    Path
	dir  folder
	name string // empty once there is nothing to remove
	f    newFile
}

// fill makes the file and writes it. A private file's new text is never
// readable by others, as the mode is there from the start.
func (t *tempFile) fill(data []byte, mode fs.FileMode) error {
	t.w.sweep(t.p, t.dir)
	for range 10 {
		name := tempName()
		f, err := t.dir.create(name, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return t.w.failure("write beside", t.p, err)
		}
		t.name, t.f = name, f
		_, err = f.Write(data)
		return t.w.failure("write", t.p, err)
	}
	return &PathError{Doing: "write", Path: t.p.Rel, Err: errors.New("no free name for a temporary file")}
}

// keepAttributes carries what the old file had over to the new one, and says
// what could not be. The mode comes last: a new owner clears bits of it, and an
// access control list that the folder gave the new file hides some.
func (t *tempFile) keepAttributes(name string, was Info) []string {
	notes := keepOwner(t.f, was)
	if old, info, err := t.dir.open(name); err == nil { // else it may not be read; unchanged tells the rest
		if info.sameFile(was) {
			notes = append(notes, keepXattrs(t.f, old)...)
		}
		_ = old.Close() // it was only read
	}
	if err := t.f.Chmod(was.Mode.Perm()); err != nil {
		notes = append(notes, fmt.Sprintf("the file's mode %v could not be kept: %v", was.Mode.Perm(), plainCause(err)))
	}
	if was.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		notes = append(notes, "the file lost its setuid or setgid bit, as any file does that is written to")
	}
	const writable = 0o222
	if runtime.GOOS != "windows" && was.Mode.Perm()&writable == 0 {
		notes = append(notes, fmt.Sprintf("the file was marked read-only (%v) and still is", was.Mode.Perm()))
	}
	return notes
}

// finish makes the text durable.
func (t *tempFile) finish() (Info, error) {
	f := t.f
	t.f = nil
	err := f.Sync()
	var info Info
	if fi, statErr := f.Stat(); statErr == nil {
		info = infoFrom(fi)
	} else if err == nil {
		err = statErr
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return info, t.w.failure("save", t.p, err)
}

// place gives the file its name unless that is taken.
func (t *tempFile) place(name string) error {
	err := t.dir.link(t.name, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Some file systems have no hard links: take the name with an empty file of
	// our own, and put the text in its place.
	own, err := t.dir.create(name, 0o600)
	if err != nil {
		return err
	}
	_ = own.Close()
	if err := t.dir.rename(t.name, name); err != nil {
		return errors.Join(err, t.dir.remove(name))
	}
	t.name = ""
	return nil
}

// discard removes the file unless it has taken its place.
func (t *tempFile) discard() {
	if t.f != nil {
		_ = t.f.Close()
	}
	if t.name != "" {
		_ = t.dir.remove(t.name)
		t.name = ""
	}
}
