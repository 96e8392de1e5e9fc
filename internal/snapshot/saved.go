package snapshot

import (
	"slices"
	"strings"
	"sync"

	"garuda/internal/workspace"
)

// maxSaved is how many bytes of files are kept in memory beside a snapshot that is
// still being taken.
const maxSaved = 64 << 20

// savedPaths are entries as they were before a tool changed them while the snapshot
// was still being taken: what the walk found of them does not count. They are kept in
// memory, since they are of use only together with that snapshot.
type savedPaths struct {
	mu      sync.Mutex
	entries map[string]savedEntry // by path, a folder's without a slash
	size    int
}

// savedEntry is one of them; kept is false where nothing was.
type savedEntry struct {
	kept bool
	mode uint32
	data []byte
}

// save keeps an entry unless it was saved already or is one that is left out, and
// says whether it could.
func (sp *savedPaths) save(s *Store, rel string) bool {
	w := s.opt.Workspace
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if _, done := sp.entries[rel]; done {
		return true
	}
	p, err := w.At(rel)
	if err != nil {
		return false
	}
	if !p.Exists {
		sp.entries[missingPart(w, rel)] = savedEntry{}
		sp.entries[rel] = savedEntry{}
		return true
	}
	if !s.mayKeep(p) || w.Ignored(p) {
		return true
	}
	e := savedEntry{kept: true, mode: modeOf(p.Info)}
	switch p.Info.Kind {
	case workspace.KindLink:
		target, err := w.Readlink(p)
		if err != nil {
			return false
		}
		e.data = []byte(target)
	case workspace.KindFile:
		if p.Info.Size > MaxFile {
			return true // it is left out
		}
		c, err := w.ReadFile(p)
		if err != nil || sp.size+len(c.Raw) > maxSaved {
			return false
		}
		e.data = c.Raw
	default:
		return true // no tool writes to one
	}
	sp.size += len(e.data)
	sp.entries[rel] = e
	return true
}

// missingPart is the outermost folder of a path that is missing, or the path itself.
func missingPart(w *workspace.Workspace, rel string) string {
	for i, c := range []byte(rel) {
		if c != '/' {
			continue
		}
		if p, err := w.At(rel[:i]); err == nil && !p.Exists {
			return rel[:i]
		}
	}
	return rel
}

// apply puts the entries in the place of what the walk found, and says whether there
// are any. put keeps contents.
func (sp *savedPaths) apply(x *index, put func([]byte) (id, error)) (bool, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	dirty := map[string]bool{}
	for path, e := range sp.entries {
		if !e.kept {
			markDirty(dirty, path)
			x.entries = slices.DeleteFunc(x.entries, func(c cached) bool {
				return c.path == path || strings.HasPrefix(c.path, path+"/")
			})
			continue
		}
		at, found := slices.BinarySearchFunc(x.entries, path, func(c cached, p string) int { return strings.Compare(c.path, p) })
		if !found && !x.hasFolderOf(path) {
			continue // somebody removed the whole folder meanwhile
		}
		name, err := put(e.data)
		if err != nil {
			return false, err
		}
		markDirty(dirty, path)
		c := cached{entry: entry{path: path, mode: e.mode, id: name}, racy: true}
		if found {
			x.entries[at] = c
		} else {
			x.entries = slices.Insert(x.entries, at, c)
		}
	}
	for i := range x.entries {
		if c := &x.entries[i]; c.isFolder() && dirty[c.path] {
			c.id = id{}
		}
	}
	return len(sp.entries) > 0, nil
}

// hasFolderOf reports whether the folder that holds path is among the entries.
func (x *index) hasFolderOf(path string) bool {
	folder := path[:strings.LastIndexByte(path, '/')+1]
	_, found := slices.BinarySearchFunc(x.entries, folder, func(c cached, p string) int { return strings.Compare(c.path, p) })
	return found || folder == ""
}
