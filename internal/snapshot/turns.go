package snapshot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"garuda/internal/core"
)

const (
	// patience is how long a file tool waits for a snapshot; after that its files are
	// saved one by one. commandPatience is how long a command waits.
	patience        = 2 * time.Second
	commandPatience = 10 * time.Second
)

// Turns takes the snapshots of one session, each beside the turn that it is for. It
// is what the engine knows of this package.
type Turns struct {
	store *Store
	clock core.Clock
	ctx   context.Context // ends with Close
	end   context.CancelFunc
	all   sync.WaitGroup

	mu      sync.Mutex
	current *snap
	// trouble is what was last said to be wrong, so that it is not said with each turn.
	trouble string
}

// snap is the snapshot of the newest turn.
type snap struct {
	began time.Time
	saved *savedPaths
	say   func(string)
	done  chan struct{}

	mu sync.Mutex
	// late is set when something may have changed the tree before it was kept, which
	// kept says it is.
	late, kept bool
}

// NewTurns begins to take snapshots for a session. Close ends that, and the store.
func NewTurns(store *Store) *Turns {
	ctx, end := context.WithCancel(context.Background())
	return &Turns{store: store, clock: store.opt.Clock, ctx: ctx, end: end}
}

// Store is where the snapshots are kept.
func (t *Turns) Store() *Store { return t.store }

// Begin begins to keep the tree under the name of a point. One that is still being
// taken for the turn before goes on first.
func (t *Turns) Begin(point string, say func(string)) {
	s := &snap{
		began: t.clock.Now(), saved: &savedPaths{entries: map[string]savedEntry{}}, say: say, done: make(chan struct{}),
	}
	t.mu.Lock()
	before := t.current
	t.current = s
	t.mu.Unlock()
	t.all.Go(func() {
		if before != nil {
			<-before.done
		}
		err := t.keep(s, point)
		t.tell(s, err)
		close(s.done)
		if err == nil {
			t.tidy(s)
		}
	})
}

func (t *Turns) keep(s *snap, name string) error {
	return t.store.locked(t.ctx, func() error {
		x, err := t.store.take(t.ctx, nil, s.saved)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.late {
			return nil // what was kept is of use for the next turn
		}
		s.kept = true
		return t.store.addPoint(point{Name: name, Top: x.top.String(), Time: t.clock.Now()})
	})
}

// tell says what is wrong, once.
func (t *Turns) tell(s *snap, err error) {
	for _, said := range t.store.Said() {
		s.say(said)
	}
	if t.ctx.Err() != nil {
		return
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	t.mu.Lock()
	news := text != t.trouble
	t.trouble = text
	t.mu.Unlock()
	switch {
	case !news:
	case err == nil:
		s.say("undo works again from this turn on")
	case errors.Is(err, ErrOff):
		s.say(text)
	default:
		s.say("undo is off, as the files could not be kept: " + text)
	}
}

// tidy keeps the store within its bounds, when nobody waits for it any more.
func (t *Turns) tidy(s *snap) {
	err := t.store.locked(t.ctx, func() error { return t.store.bound(t.ctx) })
	if err != nil && t.ctx.Err() == nil {
		s.say(fmt.Sprintf("make room in %s: %v", t.store.Path(), err))
	}
}

// Await returns when a call may change these files (absolute paths) or, with commands,
// anything: the tree is kept, or the files are, or it was said that undo starts late.
func (t *Turns) Await(ctx context.Context, files []string, commands bool) {
	t.mu.Lock()
	s := t.current
	t.mu.Unlock()
	if s == nil || s.isDone() {
		return
	}
	if commands {
		if !t.wait(ctx, s, commandPatience) {
			t.tooLate(ctx, s)
		}
		return
	}
	if t.wait(ctx, s, patience-t.clock.Now().Sub(s.began)) {
		return
	}
	for _, file := range files {
		rel, ok := t.inRoot(file)
		if ok && !s.saved.save(t.store, rel) && !t.wait(ctx, s, commandPatience) {
			t.tooLate(ctx, s)
			return
		}
	}
}

// inRoot is a path from the root; false for one elsewhere, which is not covered.
func (t *Turns) inRoot(file string) (string, bool) {
	rel, err := filepath.Rel(t.store.opt.Workspace.Root(), file)
	rel = filepath.ToSlash(rel)
	return rel, err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../")
}

func (s *snap) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// wait reports whether the snapshot was taken in time. A context that ends is no
// reason to go on: the call does not run then.
func (t *Turns) wait(ctx context.Context, s *snap, most time.Duration) bool {
	if most <= 0 {
		return s.isDone()
	}
	timeUp := make(chan struct{})
	stop := t.clock.AfterFunc(most, func() { close(timeUp) })
	defer stop()
	select {
	case <-s.done:
		return true
	case <-timeUp:
	case <-ctx.Done():
	}
	return s.isDone()
}

func (t *Turns) tooLate(ctx context.Context, s *snap) {
	if ctx.Err() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late || s.kept || s.isDone() {
		return
	}
	s.late = true
	s.say("undo starts late: the project's files are still being kept, and what this turn changes cannot be taken back")
}

// Wait returns when the newest snapshot was taken or given up.
func (t *Turns) Wait(ctx context.Context) error {
	t.mu.Lock()
	s := t.current
	t.mu.Unlock()
	if s == nil {
		return nil
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close gives up a snapshot that is still being taken, lets the store be brought
// within its bounds if that does not take long, and closes it.
func (t *Turns) Close() error {
	t.mu.Lock()
	s := t.current
	t.mu.Unlock()
	if s != nil && s.isDone() {
		stop := t.clock.AfterFunc(patience, t.end)
		t.all.Wait()
		stop()
	}
	t.end()
	t.all.Wait()
	return t.store.Close()
}
