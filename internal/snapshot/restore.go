package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"garuda/internal/workspace"
)

// Plan is what going back to a point would do.
type Plan struct {
	// Point is where to, After the name by which the way back will be found.
	Point, After string
	// Changes are what would be done: Added is what would be made again, Removed what
	// would go. Sorted by path.
	Changes []Change
	// Kept are entries that stay although the point does not have them, as they were
	// left out then, and nobody knows what was in them.
	Kept []string
	// LeftOut are what is not covered, but for what is ignored, whose number is
	// Ignored.
	LeftOut []LeftOut
	Ignored int
	// Resumed is set for one that was begun before, and broken off.
	Resumed bool

	target, now id
}

// NoChange reports whether the files are as they were at the point.
func (p *Plan) NoChange() bool { return len(p.Changes) == 0 }

// planFile is what is on the disk from the first change of a restore to its last.
type planFile struct {
	Version int       `json:"version"`
	Point   string    `json:"point"`
	After   string    `json:"after"`
	Target  string    `json:"target"`
	Now     string    `json:"now"`
	Time    time.Time `json:"time"`
}

const (
	planName    = "restore.json"
	planVersion = 1
	maxPlanFile = 64 << 10
)

func parsePlan(raw []byte) (*Plan, error) {
	var f planFile
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("%w: its plan of a restore: %w", errCorrupt, err)
	}
	target, err := parseID(f.Target)
	now, err2 := parseID(f.Now)
	if err := cmp.Or(err, err2); err != nil || f.Version != planVersion {
		return nil, fmt.Errorf("%w: its plan of a restore has the version %d and is not readable: %w", errCorrupt, f.Version, err)
	}
	return &Plan{Point: f.Point, After: f.After, Resumed: true, target: target, now: now}, nil
}

// pending is the restore that was broken off, or nil.
func (s *Store) pending() (*Plan, error) {
	raw, err := s.folder.ReadSmall(planName, maxPlanFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parsePlan(raw)
}

// Pending reports whether a restore to this point was broken off.
func (s *Store) Pending(ctx context.Context, point string) (bool, error) {
	found := false
	err := s.locked(ctx, func() error {
		p, err := s.pending()
		found = err == nil && p != nil && p.Point == point
		return err
	})
	return found, err
}

// Plan says what going back to a point would do, and keeps the tree as it is now so
// that it can be come back to under the name after. ErrGone where the point is not
// kept. A restore to the same point that was broken off is gone on with.
func (s *Store) Plan(ctx context.Context, point, after string) (*Plan, error) {
	var plan *Plan
	err := s.locked(ctx, func() error {
		p, err := s.pending()
		if err != nil {
			return err
		}
		if p == nil || p.Point != point {
			p = &Plan{Point: point, After: after}
			if p.target, err = s.topOf(point); err != nil {
				return err
			}
		}
		plan = p
		return s.fill(ctx, p)
	})
	if err != nil {
		return nil, fmt.Errorf("look at what changed since: %w", err)
	}
	return plan, nil
}

// fill finds out what is to be done.
func (s *Store) fill(ctx context.Context, p *Plan) error {
	to, err := s.objects.shot(p.target)
	if err != nil {
		return err
	}
	if !p.Resumed {
		if p.now, err = s.takeNow(ctx, to); err != nil {
			return err
		}
		if err := s.addPoint(point{Name: p.After, Top: p.now.String(), Time: s.opt.Clock.Now(), After: true}); err != nil {
			return err
		}
	}
	from, err := s.objects.shot(p.now)
	if err != nil {
		return err
	}
	changes, err := s.objects.compare(from, to)
	if err != nil {
		return err
	}
	for _, c := range changes {
		// What was left out then may have been there: its owner would lose it.
		if c.to == nil && leftOut(to.left, strings.TrimSuffix(c.Path, "/")) {
			p.Kept = append(p.Kept, c.Path)
			continue
		}
		p.Changes = append(p.Changes, c)
	}
	for _, l := range from.left {
		if l.Reason == Ignored {
			p.Ignored++
		} else {
			p.LeftOut = append(p.LeftOut, l)
		}
	}
	return nil
}

// takeNow keeps the tree as it is, with what the point has although it is ignored now.
func (s *Store) takeNow(ctx context.Context, to *shot) (id, error) {
	x, err := s.take(ctx, nil, nil)
	if err != nil {
		return id{}, err
	}
	from, err := s.objects.shot(x.top)
	if err != nil {
		return id{}, err
	}
	changes, err := s.objects.compare(from, to)
	if err != nil {
		return id{}, err
	}
	var passedBy []string
	for _, c := range changes {
		if c.from == nil && leftOut(from.left, strings.TrimSuffix(c.Path, "/")) {
			passedBy = append(passedBy, c.Path)
		}
	}
	if len(passedBy) == 0 {
		return x.top, nil
	}
	x, err = s.take(ctx, passedBy, nil)
	if err != nil {
		return id{}, err
	}
	return x.top, nil
}

// Failure is an entry that could not be put back.
type Failure struct {
	Path string
	Err  error
}

// Result is how a restore went.
type Result struct {
	// Done is how many entries are as the point has them now.
	Done   int
	Failed []Failure
}

// errChanged is an entry that is neither what the plan saw nor what it is to be.
var errChanged = errors.New("it was changed meanwhile, and was left as it is")

// Restore does what a plan says. Each entry is looked at again first, and left as it
// is when somebody changed it since. The error is for a restore that was broken off,
// which Plan for the same point goes on with.
func (s *Store) Restore(ctx context.Context, p *Plan) (*Result, error) {
	var result *Result
	err := s.locked(ctx, func() error {
		raw, err := json.Marshal(planFile{
			Version: planVersion, Point: p.Point, After: p.After, Target: p.target.String(), Now: p.now.String(), Time: s.opt.Clock.Now(),
		})
		if err != nil {
			return err
		}
		if err := s.folder.Replace(planName, raw, true); err != nil {
			return err
		}
		r := &restore{s: s, w: s.opt.Workspace, folders: map[string]bool{}}
		if err := r.run(ctx, p.Changes); err != nil {
			return err
		}
		slices.SortFunc(r.result.Failed, func(a, b Failure) int { return strings.Compare(a.Path, b.Path) })
		result = &r.result
		return s.folder.Remove(planName)
	})
	if err != nil {
		return nil, fmt.Errorf("put the files back: %w", err)
	}
	return result, nil
}

// DropPending forgets a restore that was broken off: what it had done stays.
func (s *Store) DropPending(ctx context.Context) error {
	return s.locked(ctx, func() error { return s.folder.Remove(planName) })
}

// same reports what a place holds of an entry: whether something is there, and whether
// that is what the entry says, permissions aside.
func (s *Store) same(p workspace.Path, e *entry) (bool, error) {
	switch {
	case e == nil || !p.Exists:
		return e == nil && !p.Exists, nil
	case e.isFolder():
		return p.Info.Kind == workspace.KindFolder, nil
	case e.isLink():
		if p.Info.Kind != workspace.KindLink {
			return false, nil
		}
		target, err := s.opt.Workspace.Readlink(p)
		return err == nil && nameOf(kindBlob, []byte(target)) == e.id, err
	case p.Info.Kind != workspace.KindFile || p.Info.Size > MaxFile:
		return false, nil
	}
	c, err := s.opt.Workspace.ReadFile(p)
	if err != nil {
		return false, err
	}
	return nameOf(kindBlob, c.Raw) == e.id, nil
}

// Versions are the contents of a changed file before and after; nil for a side where
// none is, and for links their targets. A folder has neither.
func (s *Store) Versions(ctx context.Context, c Change) (from, to []byte, err error) {
	err = s.locked(ctx, func() error {
		for _, side := range []struct {
			e  *entry
			to *[]byte
		}{{c.from, &from}, {c.to, &to}} {
			if side.e == nil || side.e.isFolder() {
				continue
			}
			data, err := s.objects.read(side.e.id, kindBlob)
			if err != nil {
				return err
			}
			*side.to = bytes.Clone(data)
			if *side.to == nil {
				*side.to = []byte{}
			}
		}
		return nil
	})
	return from, to, err
}

// Compare lists what changed from a point to now.
func (s *Store) Compare(ctx context.Context, point string) ([]Change, error) {
	var out []Change
	err := s.locked(ctx, func() error {
		top, err := s.topOf(point)
		if err != nil {
			return err
		}
		was, err := s.objects.shot(top)
		if err != nil {
			return err
		}
		now, err := s.takeNow(ctx, was)
		if err != nil {
			return err
		}
		is, err := s.objects.shot(now)
		if err != nil {
			return err
		}
		changes, err := s.objects.compare(was, is)
		for _, c := range changes {
			if c.from != nil || !leftOut(was.left, strings.TrimSuffix(c.Path, "/")) {
				out = append(out, c)
			}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("compare the files with how they were: %w", err)
	}
	return out, nil
}
