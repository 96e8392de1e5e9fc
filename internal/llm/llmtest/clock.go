package llmtest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Clock is a clock that stands still until it is advanced.
type Clock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*timer
	// waiting are those who wait for calls of Now.
	waiting []*waiter
}

type waiter struct {
	left int
	done chan struct{}
}

type timer struct {
	at time.Time
	f  func()
}

// NewClock starts at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.waiting {
		if w.left--; w.left == 0 {
			close(w.done)
		}
	}
	return c.now
}

// Looked is closed when Now has been called n more times.
func (c *Clock) Looked(n int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &waiter{left: n, done: make(chan struct{})}
	c.waiting = append(c.waiting, w)
	return w.done
}

// Sleep waits until the clock was advanced by d.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	done := make(chan struct{})
	stop := c.AfterFunc(d, func() { close(done) })
	defer stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
		return nil
	}
}

// AfterFunc runs f, within Advance, once the clock was advanced by d.
func (c *Clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &timer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.timers, t)
		if i < 0 {
			return false
		}
		c.timers = slices.Delete(c.timers, i, i+1)
		return true
	}
}

// Advance moves the clock and runs what is due, in order.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		var next *timer
		for _, t := range c.timers {
			if !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool { return t == next })
		c.now = next.at
		c.mu.Unlock()
		next.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}
