package snapshot

import (
	"context"
	"errors"
	pathpkg "path"
	"slices"
	"strings"
	"sync"

	"garuda/internal/workspace"
)

// restore puts entries back, in an order in which each step finds what it needs, and
// which can be broken off anywhere: done again it goes on where it was.
type restore struct {
	s *Store
	w *workspace.Workspace

	mu      sync.Mutex
	result  Result
	folders map[string]bool // in which something changed; a path of each
}

// parallel is how many files are written at once: most of the time goes by while the
// disk says that it has them.
const parallel = 16

func (r *restore) run(ctx context.Context, changes []Change) error {
	var files, gone, made, removed, modes []Change
	for _, c := range changes {
		folder := strings.HasSuffix(c.Path, "/")
		switch {
		case folder && c.to == nil:
			removed = append(removed, c)
		case folder && c.from == nil:
			made, modes = append(made, c), append(modes, c)
		case folder:
			modes = append(modes, c)
		case c.to == nil:
			gone = append(gone, c)
		default:
			files = append(files, c)
		}
	}
	slices.Reverse(removed) // what is in a folder stands after it
	for _, c := range modes {
		r.open(c)
	}
	steps := []struct {
		changes []Change
		at      int
		do      func(Change) error
	}{
		{gone, parallel, r.remove}, {removed, 1, r.removeFolder}, {made, 1, r.makeFolder},
		{files, parallel, r.put},
	}
	for _, step := range steps {
		if err := r.each(ctx, step.changes, step.at, step.do); err != nil {
			return err
		}
	}
	slices.Reverse(modes) // from the inside, since a folder may close itself
	if err := r.each(ctx, modes, 1, r.mode); err != nil {
		return err
	}
	r.sync()
	return nil
}

// each does a step for all changes. The error is the end of ctx.
func (r *restore) each(ctx context.Context, changes []Change, at int, do func(Change) error) error {
	var all sync.WaitGroup
	next := make(chan Change)
	for range min(at, len(changes)) {
		all.Go(func() {
			for c := range next {
				r.note(c, do(c))
			}
		})
	}
	var err error
	for _, c := range changes {
		if err = ctx.Err(); err != nil {
			break
		}
		next <- c
	}
	close(next)
	all.Wait()
	return err
}

func (r *restore) note(c Change, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, errPartly) {
		return // it is counted when it is done
	}
	if err != nil {
		r.result.Failed = append(r.result.Failed, Failure{Path: c.Path, Err: err})
		return
	}
	r.result.Done++
}

// errPartly is of a step after which another one follows.
var errPartly = errors.New("there is more to do")

func (r *restore) at(c Change) (workspace.Path, error) {
	return r.w.At(strings.TrimSuffix(c.Path, "/"))
}

func (r *restore) touched(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := strings.TrimSuffix(c.Path, "/")
	r.folders[pathpkg.Dir(path)] = true
}

// open lets a folder be written to that will be so in the end.
func (r *restore) open(c Change) {
	const owner = 0o700
	if c.from == nil || c.to.mode&owner != owner || c.from.mode&owner == owner {
		return
	}
	if p, err := r.at(c); err == nil && p.Exists && p.Info.Kind == workspace.KindFolder {
		_ = r.w.SetMode(p, p.Info.Mode.Perm()|owner) // what then fails is said of each file
	}
}

// remove deletes a file or link that is still what was kept.
func (r *restore) remove(c Change) error {
	p, err := r.at(c)
	if err != nil || !p.Exists || p.Info.Kind == workspace.KindFolder {
		return err // a folder has another name here: nothing is left of the file
	}
	same, err := r.s.same(p, c.from)
	if err != nil {
		return err
	}
	if !same {
		return errChanged
	}
	r.touched(c)
	return r.w.Unlink(p)
}

// errNotEmpty is a folder that holds more than was kept of it.
var errNotEmpty = errors.New("it holds what undo does not cover, and was left")

func (r *restore) removeFolder(c Change) error {
	p, err := r.at(c)
	if err != nil || !p.Exists || p.Info.Kind != workspace.KindFolder {
		return err
	}
	r.touched(c)
	if err := r.w.RemoveFolder(p); err != nil {
		if again, lookErr := r.at(c); lookErr == nil && again.Exists && isNotEmpty(err) {
			return errNotEmpty
		}
		return err
	}
	return nil
}

func (r *restore) makeFolder(c Change) error {
	p, err := r.at(c)
	if err != nil {
		return err
	}
	if p.Exists {
		if p.Info.Kind != workspace.KindFolder {
			return errChanged
		}
		return errPartly
	}
	r.touched(c)
	if err := r.w.MakeFolder(p); err != nil {
		return err
	}
	return errPartly
}

// put gives a file or link its contents and permissions.
func (r *restore) put(c Change) error {
	p, err := r.at(c)
	if err != nil {
		return err
	}
	done, err := r.s.same(p, c.to)
	if err != nil {
		return err
	}
	if done {
		if c.to.isLink() || p.Info.Mode.Perm() == c.to.perm() {
			return nil
		}
		return r.w.SetMode(p, c.to.perm())
	}
	before, err := r.s.same(p, c.from)
	if err != nil {
		return err
	}
	if !before {
		return errChanged
	}
	data, err := r.s.objects.read(c.to.id, kindBlob)
	if err != nil {
		return err
	}
	r.touched(c)
	if c.to.isLink() {
		return r.w.PutLink(p, string(data))
	}
	return r.w.PutFile(p, data, c.to.perm())
}

// mode gives a folder its permissions.
func (r *restore) mode(c Change) error {
	p, err := r.at(c)
	if err != nil {
		return err
	}
	if !p.Exists || p.Info.Kind != workspace.KindFolder {
		return errPartly // it was said why
	}
	if p.Info.Mode.Perm() == c.to.perm() {
		return nil
	}
	return r.w.SetMode(p, c.to.perm())
}

// sync puts the names of what changed on the disk.
func (r *restore) sync() {
	var all sync.WaitGroup
	limit := make(chan struct{}, parallel)
	for folder := range r.folders {
		limit <- struct{}{}
		all.Go(func() {
			defer func() { <-limit }()
			if err := r.w.SyncFolder(folder); err != nil {
				r.note(Change{Path: folder}, err)
			}
		})
	}
	all.Wait()
}
