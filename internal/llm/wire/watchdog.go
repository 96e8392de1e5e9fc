package wire

import (
	"context"
	"fmt"
	"sync"
	"time"

	"garuda/internal/core"
)

// What a request was waiting for when a limit ended it.
const (
	waitFirstByte = "the first byte"
	waitNextByte  = "the next byte"
	waitRest      = "the rest of the answer"
)

// limitError is the cause of a request's cancellation by the watchdog.
type limitError struct {
	what  string
	limit time.Duration
}

func (e *limitError) Error() string {
	return fmt.Sprintf("waited %s for %s", core.Span(e.limit), e.what)
}

// watchdog cancels a request when no byte came for a while. A byte costs one
// look at the clock: the timer is set anew only when it fires early.
type watchdog struct {
	clock  core.Clock
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	last  time.Time
	limit time.Duration
	what  string
	stop  func() bool
	fixed bool // bytes do not make the wait longer
	done  bool
}

func startWatchdog(clock core.Clock, limit time.Duration, what string, cancel context.CancelCauseFunc) *watchdog {
	w := &watchdog{clock: clock, cancel: cancel}
	w.watch(limit, what)
	return w
}

// watch starts to wait for something else, unless what is left is bounded already.
func (w *watchdog) watch(limit time.Duration, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.fixed {
		w.start(limit, what)
	}
}

// within gives what is left a limit that no byte makes longer: what is wanted is
// there, and a server that drips must not hold it back.
func (w *watchdog) within(limit time.Duration, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fixed = true
	w.start(limit, what)
}

func (w *watchdog) start(limit time.Duration, what string) {
	if w.done {
		return
	}
	if w.stop != nil {
		w.stop()
	}
	w.last, w.limit, w.what = w.clock.Now(), limit, what
	w.stop = w.clock.AfterFunc(limit, w.fire)
}

// touch says that a byte came.
func (w *watchdog) touch() {
	w.mu.Lock()
	if now := w.clock.Now(); !w.fixed {
		w.last = now
	}
	w.mu.Unlock()
}

func (w *watchdog) fire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	if left := w.limit - w.clock.Now().Sub(w.last); left > 0 {
		w.stop = w.clock.AfterFunc(left, w.fire)
		return
	}
	w.done = true
	w.cancel(&limitError{what: w.what, limit: w.limit})
}

func (w *watchdog) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.stop != nil {
		w.stop()
	}
}
