package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

const (
	// maxPacks is how many packs there may be before they are made into one.
	maxPacks = 24
	// largePack is the size in bytes above which a pack is left alone then, unless
	// half of what it holds is not needed any more.
	largePack = 32 << 20
)

// bound keeps the store within its limits: packs are joined where they are many, and
// where all are too large the oldest points are forgotten.
func (s *Store) bound(ctx context.Context) error {
	size := s.objects.size()
	if size <= s.opt.MaxStore && len(s.objects.packs) <= maxPacks {
		return nil
	}
	points, err := s.points()
	if err != nil {
		return err
	}
	for {
		needed, err := s.reachable(ctx, points)
		if err != nil {
			return err
		}
		// A store at its limit is emptied further, so that the next turn does not
		// begin with the same work.
		const spare = 8
		if fits := needed.size <= s.opt.MaxStore-s.opt.MaxStore/spare; fits || len(points) <= 1 {
			if err := s.savePoints(points); err != nil {
				return err
			}
			return s.objects.repack(ctx, needed, size > s.opt.MaxStore)
		}
		points = points[1:]
	}
}

// reach is what is still needed of the store.
type reach struct {
	objects map[id]bool
	size    int64 // bytes in packs
}

// reachable finds all that the points, the index and an unfinished restore need.
func (s *Store) reachable(ctx context.Context, points []point) (*reach, error) {
	r := &reach{objects: map[id]bool{}}
	tops := []id{}
	if s.loadIndex(); s.index.top != (id{}) {
		tops = append(tops, s.index.top)
	}
	for i := range points {
		top, err := parseID(points[i].Top)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errCorrupt, err)
		}
		tops = append(tops, top)
	}
	pending, err := s.pending()
	if err != nil {
		return nil, err
	}
	if pending != nil {
		tops = append(tops, pending.now, pending.target)
	}
	for _, top := range tops {
		if err := s.objects.mark(ctx, top, r); err != nil {
			return nil, err
		}
	}
	for _, p := range s.objects.packs {
		for i, size := range p.sizes() {
			if r.objects[id(p.idAt(i))] {
				r.size += size
			}
		}
	}
	return r, nil
}

// mark adds a tree and all that it holds.
func (o *objects) mark(ctx context.Context, tree id, r *reach) error {
	if r.objects[tree] {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.objects[tree] = true
	raw, err := o.read(tree, kindTree)
	if err != nil {
		return err
	}
	entries, err := parseTree(raw)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.mode != modeFolder {
			r.objects[e.id] = true
		} else if err := o.mark(ctx, e.id, r); err != nil {
			return err
		}
	}
	return nil
}

// sizes are how many bytes each object has in the pack, by its number.
func (p *pack) sizes() []int64 {
	order := make([]int, p.count)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(p.offsetAt(a) - p.offsetAt(b)) })
	out := make([]int64, p.count)
	end := p.size - int64(len(id{})) // the checksum
	for _, i := range slices.Backward(order) {
		out[i] = end - p.offsetAt(i)
		end = p.offsetAt(i)
	}
	return out
}

// repack writes what is needed of small packs, and of large ones that hold little
// that is, into one new pack; with all, of every pack.
func (o *objects) repack(ctx context.Context, needed *reach, all bool) error {
	fresh := newPack(o.dir, 1<<62)
	var old []*pack
	for _, p := range o.packs {
		useful := int64(0)
		sizes := p.sizes()
		for i, size := range sizes {
			if needed.objects[id(p.idAt(i))] {
				useful += size
			}
		}
		if !all && p.size > largePack && useful > p.size/2 {
			continue
		}
		old = append(old, p)
		if err := p.copyTo(ctx, fresh, needed, sizes); err != nil {
			return errors.Join(err, fresh.drop())
		}
	}
	name, err := fresh.finish()
	if err != nil {
		return errors.Join(err, fresh.drop())
	}
	for _, p := range old {
		if p.name != name {
			// The index goes first: a pack without one does not count.
			err = errors.Join(err, o.dir.Remove(p.name+".idx"))
		}
	}
	err = errors.Join(err, o.refresh()) // closes the packs
	for _, p := range old {
		if p.name != name {
			err = errors.Join(err, o.dir.Remove(p.name+".pack"))
		}
	}
	return errors.Join(err, o.removeUnfinished())
}

// copyTo copies the needed objects as they are.
func (p *pack) copyTo(ctx context.Context, fresh *packWriter, needed *reach, sizes []int64) error {
	for i, size := range sizes {
		name := id(p.idAt(i))
		if !needed.objects[name] || !fresh.claim(name) {
			continue
		}
		if size <= 0 || size > 2*maxObject {
			return fmt.Errorf("%w: an object of %d bytes in a pack", errCorrupt, size)
		}
		raw := make([]byte, size)
		if _, err := p.file.ReadAt(raw, p.offsetAt(i)); err != nil {
			return fmt.Errorf("%w: %w", errCorrupt, err)
		}
		if err := fresh.add(name, raw); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// removeUnfinished removes what killed programs left: packs that were being written,
// and those whose index is missing. The lock is held, so nobody writes one now.
func (o *objects) removeUnfinished() error {
	entries, err := o.dir.ReadDir()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, p := range o.packs {
		used[p.name+".idx"], used[p.name+".pack"] = true, true
	}
	for _, e := range entries {
		if !used[e.Name()] {
			err = errors.Join(err, o.dir.Remove(e.Name()))
		}
	}
	return err
}
