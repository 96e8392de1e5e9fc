package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/state"
)

// objects are the contents of all snapshots of a project, in the folder objects of a
// git repository. All are in packs: each snapshot that differs from the one before
// makes one, since making and flushing a file for each object would take far longer.
type objects struct {
	folder *state.Folder // objects
	packs  []*pack
	dir    *state.Folder // objects/pack
}

const (
	objectsName, packName = "objects", "pack"
	// tempMark begins the names of files that are not finished; what is left of them
	// was left by a program that was killed.
	tempMark = "tmp-"
)

func randomName() string { return core.NewUUID() }

// openObjects opens the folder and makes what is missing of it.
func openObjects(store *state.Folder) (*objects, error) {
	folder, err := store.MakeSub(objectsName)
	if err != nil {
		return nil, err
	}
	dir, err := folder.MakeSub(packName)
	if err != nil {
		folder.Close()
		return nil, err
	}
	o := &objects{folder: folder, dir: dir}
	if err := o.refresh(); err != nil {
		return nil, errors.Join(err, o.close())
	}
	return o, nil
}

// refresh takes up packs that other processes wrote, and drops those that are gone.
func (o *objects) refresh() error {
	entries, err := o.dir.ReadDir()
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		if base, ok := strings.CutSuffix(e.Name(), ".idx"); ok && strings.HasPrefix(base, "pack-") {
			there[base] = true
		}
	}
	var failed error
	o.packs = slices.DeleteFunc(o.packs, func(p *pack) bool {
		stays := there[p.name]
		delete(there, p.name)
		if !stays {
			failed = errors.Join(failed, p.file.Close())
		}
		return !stays
	})
	for base := range there {
		p, err := o.openPack(base)
		if err != nil {
			return errors.Join(failed, err)
		}
		o.packs = append(o.packs, p)
	}
	return failed
}

// maxIdx is the largest index of a pack that is read, in bytes: seven million objects.
const maxIdx = 512 << 20

func (o *objects) openPack(base string) (*pack, error) {
	idx, err := o.dir.ReadSmall(base+".idx", maxIdx)
	if err != nil {
		return nil, err
	}
	p := &pack{name: base, idx: idx}
	if p.count, err = parseIdx(idx); err != nil {
		return nil, err
	}
	file, err := o.dir.Open(base + ".pack")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	p.file, p.size = file, info.Size()
	return p, nil
}

func (o *objects) close() error {
	var err error
	for _, p := range o.packs {
		err = errors.Join(err, p.file.Close())
	}
	o.packs = nil
	o.dir.Close()
	o.folder.Close()
	return err
}

// has reports whether an object is kept.
func (o *objects) has(name id) bool {
	for _, p := range o.packs {
		if p.find(name) >= 0 {
			return true
		}
	}
	return false
}

// read gives an object's contents, which are checked against its name.
func (o *objects) read(name id, want kind) ([]byte, error) {
	k, data, err := o.find(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read object %s: %w", name, err)
	case k != want || nameOf(k, data) != name:
		return nil, fmt.Errorf("read object %s: %w: it has other contents", name, errCorrupt)
	}
	return data, nil
}

func (o *objects) find(name id) (kind, []byte, error) {
	for _, p := range o.packs {
		if i := p.find(name); i >= 0 {
			return p.read(i)
		}
	}
	return 0, nil, fmt.Errorf("%w: it is missing", errCorrupt)
}

// size is how many bytes the packs and their indexes have.
func (o *objects) size() int64 {
	var n int64
	for _, p := range o.packs {
		n += p.size + int64(len(p.idx))
	}
	return n
}
