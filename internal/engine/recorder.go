package engine

import (
	"errors"
	"fmt"
	"sync"

	"garuda/internal/session"
)

// recorder writes the journal, opening it at the first record. When it cannot,
// the session goes on in memory: that is said once, and kept for the end.
type recorder struct {
	publish func(Event)
	// seen is told of each record, also where none is kept; may be nil.
	seen func(session.Record)
	open func() (Journal, error)

	flushing sync.WaitGroup

	mu      sync.Mutex
	journal Journal
	err     error
}

func (r *recorder) append(rec session.Record) {
	if r.seen != nil {
		r.seen(rec)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		if r.open == nil {
			return
		}
		j, err := r.open()
		r.open = nil
		if err != nil {
			r.fail(err)
			return
		}
		r.journal = j
	}
	if err := r.journal.Append(rec); err != nil {
		r.fail(err)
	}
}

// flush returns when all records are on disk.
func (r *recorder) flush() {
	r.mu.Lock()
	j := r.journal
	r.mu.Unlock()
	if j == nil {
		return
	}
	if err := j.Flush(); err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fail(err)
	}
}

// flushSoon begins a flush beside what comes next. A later flush covers the same
// records, so whoever calls that has them on disk.
func (r *recorder) flushSoon() { r.flushing.Go(r.flush) }

// fail says the first failure; the lock is held.
func (r *recorder) fail(err error) {
	if r.err != nil {
		return
	}
	r.err = fmt.Errorf("keep the session on disk: %w", err)
	r.publish(Notice{Text: r.err.Error() + "; the session goes on in memory and will not be found again"})
}

// failure is the first error, or nil.
func (r *recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

func (r *recorder) close() error {
	r.flushing.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.journal == nil {
		return r.err
	}
	return errors.Join(r.err, r.journal.Close())
}
