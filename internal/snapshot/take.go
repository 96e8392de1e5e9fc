package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"garuda/internal/state"
	"garuda/internal/workspace"
)

// taking is one snapshot while it is taken.
type taking struct {
	s    *Store
	old  *index
	root workspace.Path
	pack *packWriter

	seen    []bool // by number in old
	workers []worker

	mu   sync.Mutex
	left []LeftOut
}

// worker is what one goroutine of the walk has for itself.
type worker struct {
	found []cached
	d     deflater
	buf   []byte
	hash  hash.Hash
}

// take keeps the work tree as it is, and returns the snapshot's index. Entries with
// paths of also are kept even where they are ignored by now; saved are those that
// somebody changes meanwhile, as they were before, and may be nil. With ctx it ends
// early, and nothing is kept.
func (s *Store) take(ctx context.Context, also []string, saved *savedPaths) (*index, error) {
	s.loadIndex()
	root, err := s.opt.Workspace.Resolve(".")
	if err != nil {
		return nil, err
	}
	t := &taking{
		s: s, old: s.index, root: root, seen: make([]bool, len(s.index.entries)),
		workers: make([]worker, workspace.WalkWorkers()),
		pack:    newPack(s.objects.dir, s.opt.MaxStore),
	}
	x, err := t.run(ctx, also, saved)
	if err != nil {
		return nil, errors.Join(err, t.pack.drop())
	}
	return x, nil
}

func (t *taking) run(ctx context.Context, also []string, saved *savedPaths) (*index, error) {
	w := t.s.opt.Workspace
	_, err := w.Walk(ctx, t.root, workspace.WalkOptions{LeftOut: t.ignored}, t.visit)
	if err != nil {
		return nil, err
	}
	found := slices.Concat(t.found()...)
	more, err := t.also(also, found)
	if err != nil {
		return nil, err
	}
	found = append(found, more...)
	slices.SortFunc(t.left, func(a, b LeftOut) int { return strings.Compare(a.Path, b.Path) })
	t.left = slices.CompactFunc(t.left, func(a, b LeftOut) bool { return a.Path == b.Path })
	x, changed := t.merge(found)
	if saved != nil {
		some, err := saved.apply(x, func(data []byte) (id, error) { return t.put(&t.workers[0], kindBlob, data) })
		if err != nil {
			return nil, err
		}
		changed = changed || some
	}
	if !changed && slices.Equal(t.left, t.old.left) && t.old.top != (id{}) {
		t.old.left = t.left
		return t.old, t.pack.drop()
	}
	x.left = t.left
	b := &builder{t: t, x: x, w: &t.workers[0]}
	if x.top, err = b.build(); err != nil {
		return nil, err
	}
	if _, err := t.pack.finish(); err != nil {
		return nil, err
	}
	if err := t.s.objects.refresh(); err != nil {
		return nil, err
	}
	x.number()
	return x, t.s.saveIndex(x)
}

func (t *taking) found() [][]cached {
	out := make([][]cached, len(t.workers))
	for i := range t.workers {
		out[i] = t.workers[i].found
	}
	return out
}

func (t *taking) leave(path string, why Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = append(t.left, LeftOut{Path: path, Reason: why})
}

// ignored is the walk's LeftOut.
func (t *taking) ignored(rel string, k workspace.Kind) {
	if k == workspace.KindFolder {
		rel += "/"
	}
	if !ownState(rel) {
		t.leave(rel, Ignored)
	}
}

// ownState are the parts of a project's .garuda folder that sessions write and that
// no turn of theirs is to take back.
func ownState(path string) bool {
	rest, ok := strings.CutPrefix(path, state.Name+"/")
	if !ok {
		return false
	}
	switch name, _, _ := strings.Cut(rest, "/"); name {
	case "sessions", "index", "evals", "jobs", "worktrees", "memory.md", "memory.state.json", ".gitignore":
		return true
	default:
		return strings.HasSuffix(name, ".lock") || strings.Contains(name, ".tmp-")
	}
}

// visit looks at one entry. What looks as it did when it was read is not read again.
func (t *taking) visit(number int, e *workspace.Entry) error {
	w := &t.workers[number]
	rel := e.Below(t.root)
	if e.Kind == workspace.KindFolder {
		rel += "/"
	}
	if ownState(rel) || !validName(e.Name) {
		return workspace.ErrSkipFolder
	}
	switch e.Kind {
	case workspace.KindFile, workspace.KindFolder, workspace.KindLink:
	default:
		t.leave(rel, Special)
		return nil
	}
	info, err := e.Info()
	if err != nil {
		// Of a folder that cannot be looked at nothing is kept either.
		return cmp.Or(t.passedOver(rel, err), workspace.ErrSkipFolder)
	}
	i, known := t.old.at[rel]
	if known && t.old.entries[i].may || e.Kind == workspace.KindFolder || t.s.mayKeep(e.Path()) {
		if known && t.old.entries[i].stands(info) {
			t.old.entries[i].may = true
			t.seen[i] = true
			return nil
		}
		return t.read(w, rel, info, e)
	}
	t.leave(rel, Secret)
	return nil
}

// mayKeep reports whether what lies here is no secret.
func (s *Store) mayKeep(p workspace.Path) bool {
	return !s.secrets.Has("/"+p.Rel) && (s.opt.MayKeep == nil || s.opt.MayKeep(p.Real))
}

// stands reports whether an entry is still what it was.
func (c *cached) stands(info workspace.Info) bool {
	if modeOf(info) != c.mode {
		return false
	}
	return info.Kind == workspace.KindFolder || !c.racy && c.stamp == info.Stamp()
}

func modeOf(info workspace.Info) uint32 {
	perm := uint32(info.Mode.Perm())
	switch info.Kind {
	case workspace.KindFolder:
		return modeFolder | perm
	case workspace.KindLink:
		return modeLink
	default:
		return modeFile&typeMask | perm
	}
}

// passedOver takes note of an entry that cannot be looked at; one that has gone
// meanwhile is nothing.
func (t *taking) passedOver(rel string, err error) error {
	var changed *workspace.ChangedError
	if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &changed) {
		t.leave(rel, Unreadable)
	}
	return nil
}

// read keeps an entry that is new or looks otherwise.
func (t *taking) read(w *worker, rel string, info workspace.Info, e *workspace.Entry) error {
	c := cached{entry: entry{path: rel, mode: modeOf(info)}, may: true}
	var err error
	switch info.Kind {
	case workspace.KindFolder:
	case workspace.KindLink:
		var target string
		if target, err = e.Readlink(); err != nil {
			return t.passedOver(rel, err)
		}
		c.stamp, c.racy = info.Stamp(), isRacy(info.Stamp(), time.Now().UnixNano())
		c.id, err = t.put(w, kindBlob, []byte(target))
	default:
		var f *workspace.File
		began := time.Now().UnixNano()
		if f, err = e.Open(); err != nil {
			return t.passedOver(rel, err)
		}
		defer f.Close()
		err = t.readFile(w, &c, f, began)
	}
	if errors.Is(err, errLarge) {
		t.leave(rel, Large)
		return nil
	}
	var failed *readError
	if errors.As(err, &failed) {
		return t.passedOver(rel, failed)
	}
	if err == nil {
		w.found = append(w.found, c)
	}
	return err
}

// errLarge is a file above MaxFile.
var errLarge = errors.New("the file is larger than what is kept")

// readError is a failure of the project's disk, not of the store's.
type readError struct{ error }

func (e *readError) Unwrap() error { return e.error }

func (t *taking) readFile(w *worker, c *cached, f *workspace.File, began int64) error {
	c.mode = modeOf(f.Info)
	c.stamp = f.Info.Stamp()
	c.racy = isRacy(c.stamp, began)
	if f.Info.Size > MaxFile {
		return errLarge
	}
	data, err := w.contents(f)
	if err != nil {
		return err
	}
	c.id, err = t.put(w, kindBlob, data)
	return err
}

// contents reads a file into the worker's buffer.
func (w *worker) contents(f *workspace.File) ([]byte, error) {
	if need := int(f.Info.Size) + 1; cap(w.buf) < need {
		w.buf = make([]byte, max(need, 64<<10))
	}
	w.buf = w.buf[:cap(w.buf)]
	n := 0
	for {
		if n == len(w.buf) {
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
		m, err := f.Read(w.buf[n:])
		n += m
		switch {
		case n > MaxFile:
			return nil, errLarge
		case errors.Is(err, io.EOF):
			return w.buf[:n], nil
		case err != nil:
			return nil, &readError{err}
		}
	}
}

// put keeps an object that is not kept yet.
func (t *taking) put(w *worker, k kind, data []byte) (id, error) {
	if w.hash == nil {
		w.hash = sha256.New()
	}
	w.hash.Reset()
	w.hash.Write(header(k, len(data)))
	w.hash.Write(data)
	var name id
	w.hash.Sum(name[:0])
	if t.s.objects.has(name) || !t.pack.claim(name) {
		return name, nil
	}
	raw, err := w.d.object(k, data)
	if err != nil {
		return name, err
	}
	return name, t.pack.add(name, raw)
}

// also keeps entries that the walk passed by because they are ignored now.
func (t *taking) also(paths []string, found []cached) ([]cached, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	have := make(map[string]bool, len(found))
	for i := range found {
		have[found[i].path] = true
	}
	var out []cached
	for _, path := range paths {
		if i, ok := t.old.at[path]; have[path] || ok && t.seen[i] || ownState(path) || t.s.secrets.Has("/"+strings.TrimSuffix(path, "/")) {
			continue
		}
		c, err := t.one(path)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// one keeps a single entry; nil where nothing is that can be kept, or something else
// than the path says.
func (t *taking) one(path string) (*cached, error) {
	ws, w := t.s.opt.Workspace, &t.workers[0]
	p, err := ws.At(strings.TrimSuffix(path, "/"))
	if err != nil || !p.Exists || strings.HasSuffix(path, "/") != (p.Info.Kind == workspace.KindFolder) {
		return nil, nil // a link in the way: whatever is there is not what was kept
	}
	c := &cached{entry: entry{path: path, mode: modeOf(p.Info)}, racy: true}
	switch p.Info.Kind {
	case workspace.KindFolder:
		return c, nil
	case workspace.KindLink:
		target, err := ws.Readlink(p)
		if err != nil {
			return nil, nil // gone at this moment
		}
		c.id, err = t.put(w, kindBlob, []byte(target))
		return c, err
	case workspace.KindFile:
	default:
		return nil, nil
	}
	f, err := ws.Open(p)
	if err != nil {
		return nil, nil // it is left out, as a walk would
	}
	defer f.Close()
	err = t.readFile(w, c, f, 0)
	var failed *readError
	if errors.Is(err, errLarge) || errors.As(err, &failed) {
		return nil, nil
	}
	c.racy = true
	return c, err
}

// merge makes the new index of what was seen again and what was found, and says
// whether anything differs. Folders whose contents changed lose their tree.
func (t *taking) merge(found []cached) (x *index, changed bool) {
	slices.SortFunc(found, func(a, b cached) int { return strings.Compare(a.path, b.path) })
	x = &index{entries: make([]cached, 0, len(t.old.entries)+len(found))}
	dirty := map[string]bool{}
	n := 0
	for i := range t.old.entries {
		old := &t.old.entries[i]
		for n < len(found) && found[n].path < old.path {
			changed = true
			markDirty(dirty, found[n].path)
			x.entries = append(x.entries, found[n])
			n++
		}
		replaced := n < len(found) && found[n].path == old.path
		if t.seen[i] || replaced {
			x.entries = append(x.entries, *old)
		}
		if replaced {
			last := &x.entries[len(x.entries)-1]
			tree := last.id
			*last = found[n]
			if last.isFolder() {
				last.id = tree // unless what is in it changed too
			}
			n++
		}
		if !t.seen[i] {
			changed = true
			markDirty(dirty, old.path)
		}
	}
	for ; n < len(found); n++ {
		changed = true
		markDirty(dirty, found[n].path)
		x.entries = append(x.entries, found[n])
	}
	for i := range x.entries {
		if e := &x.entries[i]; e.isFolder() && dirty[e.path] {
			e.id = id{}
		}
	}
	return x, changed
}

// markDirty marks the folders that hold an entry, up to the root's, "".
func markDirty(dirty map[string]bool, path string) {
	for path != "" {
		path = path[:strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1]
		if dirty[path] {
			return
		}
		dirty[path] = true
	}
}
