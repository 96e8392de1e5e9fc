package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
)

// Kept is how one entry below the root looked, with what it takes to put it back.
type Kept struct {
	// Rel names it from the root, with slashes.
	Rel string
	// Exists says whether anything was there, and Kind what.
	Exists bool
	Kind   Kind
	Mode   fs.FileMode
	// Links is how many names a file has.
	Links uint64
	// Data is a file's contents, Target where a link leads as it is written.
	Data   []byte
	Target string
	// TooLarge is set for a file above MaxWhole: of it only Snapshot is kept.
	TooLarge bool
	Snapshot Snapshot
}

// Keep looks at an entry below the root, a link itself, and keeps what is there.
func (w *Workspace) Keep(rel string) (*Kept, error) {
	k := &Kept{Rel: rel}
	p, err := w.ResolveEntry(rel)
	if err != nil {
		return nil, err
	}
	if !p.Exists {
		return k, nil
	}
	k.Exists, k.Kind, k.Mode = true, p.Info.Kind, p.Info.Mode
	switch k.Kind {
	case KindLink:
		k.Target, err = w.Readlink(p)
	case KindFile:
		k.Links = p.Info.Links
		err = w.keepData(p, k)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

func (w *Workspace) keepData(p Path, k *Kept) error {
	c, err := w.ReadFile(p)
	var large *TooLargeError
	switch {
	case errors.As(err, &large):
		k.TooLarge = true
		k.Snapshot = Snapshot{ModTime: p.Info.ModTime, Size: p.Info.Size, Inode: p.Info.ino}
		return nil
	case err != nil:
		return err
	}
	k.Data, k.Snapshot = c.Raw, c.Snapshot
	return nil
}

// Same tells whether two looks at one entry found the same contents.
func (k *Kept) Same(o *Kept) bool {
	switch {
	case k.Exists != o.Exists || k.Kind != o.Kind || k.TooLarge != o.TooLarge:
		return false
	case k.TooLarge:
		return k.Snapshot.Same(o.Snapshot)
	}
	return k.Target == o.Target && bytes.Equal(k.Data, o.Data)
}

// PutBack makes an entry what it was: its contents, the link it was, or nothing. A
// folder that stands there by now is left, since nobody knows what is in it.
func (w *Workspace) PutBack(k *Kept) error {
	if k.TooLarge {
		return fmt.Errorf("put %s back: it has more than %d MB, of which no copy was kept", k.Rel, MaxWhole>>20)
	}
	if k.Exists && k.Kind != KindFile && k.Kind != KindLink {
		return fmt.Errorf("put %s back: it was %s", k.Rel, k.Kind)
	}
	now, err := w.ResolveEntry(k.Rel)
	switch {
	case err != nil:
		return fmt.Errorf("put %s back: %w", k.Rel, err)
	case !now.Exists:
	case k.Exists && k.Kind == KindFile && now.Info.Kind == KindFile:
		if _, err := w.Replace(now, now.Info, k.Data); !Made(err) {
			return fmt.Errorf("put %s back: %w", k.Rel, err)
		}
		return nil
	default:
		if err := w.Remove(now, now.Info); err != nil {
			return fmt.Errorf("put %s back: %w", k.Rel, err)
		}
	}
	if !k.Exists {
		return nil
	}
	return w.makeAgain(k)
}

// makeAgain makes an entry where nothing is.
func (w *Workspace) makeAgain(k *Kept) error {
	p, err := w.Resolve(k.Rel)
	switch {
	case err != nil:
	case k.Kind == KindLink:
		err = w.createLink(p, k.Target)
	default:
		if _, err = w.CreateAs(p, k.Data, k.Mode.Perm()); Made(err) {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("put %s back: %w", k.Rel, err)
	}
	return nil
}

func (w *Workspace) createLink(p Path, target string) error {
	out := &Written{}
	dir, name, err := w.makeParent(p, out)
	if err != nil {
		w.RemoveFolders(out)
		return err
	}
	defer dir.close()
	if err := dir.symlink(target, name); err != nil {
		return w.failure("make the link", p, err)
	}
	return dir.sync()
}
