package testkit

import (
	"context"
	"slices"
	"sync"
	"time"

	"garuda/internal/core"
)

// Clock is a core.Clock that stands still until Advance moves it. All methods
// may be called from any goroutine.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	waiters []*waiter
	// changed is closed, and made anew, whenever a waiter is added.
	changed chan struct{}
	slept   []time.Duration
}

var _ core.Clock = (*Clock)(nil)

// waiter is somebody who waits for a time: a sleeper or an AfterFunc.
type waiter struct {
	at time.Time
	// fire is called once, with the lock held, when the time has come.
	fire func()
}

// NewClock makes a clock that shows 2026-01-02 03:04:05 UTC.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), changed: make(chan struct{})}
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep waits until the clock has been moved on by d, or ctx ends.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	done := make(chan struct{})
	c.mu.Lock()
	c.slept = append(c.slept, d)
	w := c.add(d, func() { close(done) })
	c.mu.Unlock()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		c.remove(w)
		return ctx.Err()
	}
}

// AfterFunc runs f in its own goroutine when the clock has been moved on by d.
// stop reports whether it kept f from running.
func (c *Clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= 0 {
		go f()
		return func() bool { return false }
	}
	w := c.add(d, func() { go f() })
	return func() bool { return c.remove(w) }
}

// Advance moves the clock on and wakes who waits, in the order of their times;
// each finds the clock at its own time or later. It does not wait for them.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := c.now.Add(d)
	for len(c.waiters) > 0 && !c.waiters[0].at.After(until) {
		w := c.waiters[0]
		c.waiters = c.waiters[1:]
		c.now = w.at
		w.fire()
	}
	c.now = until
}

// Waiting is how many sleep or have a function pending.
func (c *Clock) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waiters)
}

// WaitFor returns when at least n wait for this clock, or with ctx's error. A
// test calls it before Advance, so that what it means to wake is asleep.
func (c *Clock) WaitFor(ctx context.Context, n int) error {
	for {
		c.mu.Lock()
		enough, changed := len(c.waiters) >= n, c.changed
		c.mu.Unlock()
		if enough {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Slept lists how long each Sleep so far was asked to take, in order.
func (c *Clock) Slept() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.slept)
}

// add puts a waiter in its place; who waits for the same time keeps its order.
// The caller holds the lock.
func (c *Clock) add(d time.Duration, fire func()) *waiter {
	w := &waiter{at: c.now.Add(d), fire: fire}
	i := slices.IndexFunc(c.waiters, func(o *waiter) bool { return o.at.After(w.at) })
	if i < 0 {
		i = len(c.waiters)
	}
	c.waiters = slices.Insert(c.waiters, i, w)
	close(c.changed)
	c.changed = make(chan struct{})
	return w
}

func (c *Clock) remove(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.waiters, w)
	if i < 0 {
		return false
	}
	c.waiters = slices.Delete(c.waiters, i, i+1)
	return true
}
