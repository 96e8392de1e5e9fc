package engine

import (
	"context"
	"errors"
	"sync"
)

// outputWindow is how much of a running command's output a slow surface can
// still get; older bytes are skipped and counted.
const outputWindow = 64 << 10

// keptEntries is how many events that every surface has seen are kept, for one
// that subscribes late.
const keptEntries = 1024

// ErrClosed ends a subscription: the session is closed and everything was read.
var ErrClosed = errors.New("the session is closed")

// eventLog is the session's one stream of events. Whole events keep their
// number; what grows (text, output) is one entry that a surface reads on from
// its own offset, so nothing is dropped and no queue grows.
type eventLog struct {
	mu      sync.Mutex
	first   int64 // number of entries[0]
	entries []entry
	subs    map[*Subscription]struct{}
	changed chan struct{} // closed and replaced at each change
	closed  bool
}

type entry struct {
	event Event
	grow  *growing // instead of event
}

// growing is a block that is still being written.
type growing struct {
	kind      growKind
	id        string // of the call, for output
	stderr    bool
	window    int // bytes kept; 0 keeps all
	data      []byte
	base      int64 // offset of data[0]
	done      bool
	discarded bool
}

type growKind int

const (
	growText growKind = iota
	growThinking
	growOutput
)

func newEventLog() *eventLog {
	return &eventLog{subs: make(map[*Subscription]struct{}), changed: make(chan struct{})}
}

// wake tells every waiting subscription; the lock is held.
func (l *eventLog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *eventLog) publish(e Event) { l.add(entry{event: e}) }

func (l *eventLog) open(g *growing) *growing {
	l.add(entry{grow: g})
	return g
}

func (l *eventLog) add(e entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, e)
	l.trim()
	l.wake()
}

func (l *eventLog) grow(g *growing, data []byte) {
	if len(data) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.window > 0 {
		if len(data) > g.window {
			g.base += int64(len(g.data) + len(data) - g.window)
			g.data = append(g.data[:0], data[len(data)-g.window:]...)
			l.wake()
			return
		}
		if over := len(g.data) + len(data) - g.window; over > 0 {
			n := copy(g.data, g.data[over:])
			g.data, g.base = g.data[:n], g.base+int64(over)
		}
	}
	g.data = append(g.data, data...)
	l.wake()
}

func (l *eventLog) finish(g *growing, discarded bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.done {
		return
	}
	g.done, g.discarded = true, discarded
	l.wake()
}

func (l *eventLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake()
}

// trim forgets old entries that every subscription has passed; the lock is held.
func (l *eventLog) trim() {
	if len(l.entries) < 2*keptEntries {
		return
	}
	keepFrom := l.first + int64(len(l.entries)-keptEntries)
	for s := range l.subs {
		keepFrom = min(keepFrom, s.next)
	}
	if n := keepFrom - l.first; n > 0 {
		l.entries = append([]entry(nil), l.entries[n:]...)
		l.first = keepFrom
	}
}

// Subscription reads a session's events in order, from one goroutine.
type Subscription struct {
	log     *eventLog
	next    int64
	reading []*reader
}

// reader is a subscription's place in a growing block.
type reader struct {
	*growing
	offset int64
}

func (l *eventLog) subscribe(from int64) *Subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &Subscription{log: l, next: max(from, l.first)}
	l.subs[s] = struct{}{}
	return s
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	delete(s.log.subs, s)
}

// Next waits for the next event and gives it with its number. It ends with
// ErrClosed when the session was closed and everything was read, or with ctx's
// error.
func (s *Subscription) Next(ctx context.Context) (int64, Event, error) {
	for {
		s.log.mu.Lock()
		e, ok := s.take()
		seq, changed, closed := s.next-1, s.log.changed, s.log.closed
		s.log.mu.Unlock()
		switch {
		case ok:
			return seq, e, nil
		case closed:
			return 0, nil, ErrClosed
		}
		select {
		case <-ctx.Done():
			return 0, nil, ctx.Err()
		case <-changed:
		}
	}
}

// take gives what is there now; the log's lock is held.
func (s *Subscription) take() (Event, bool) {
	for i, r := range s.reading {
		if e := r.take(); e != nil {
			return e, true
		}
		if r.done {
			s.reading = append(s.reading[:i:i], s.reading[i+1:]...)
			if r.kind == growOutput {
				return s.take()
			}
			return BlockEnd{Thinking: r.kind == growThinking, Discarded: r.discarded}, true
		}
	}
	for s.next < s.log.first+int64(len(s.log.entries)) {
		e := s.log.entries[s.next-s.log.first]
		s.next++
		if e.grow == nil {
			return e.event, true
		}
		s.reading = append(s.reading, &reader{growing: e.grow})
		if event, ok := s.take(); ok {
			return event, true
		}
	}
	return nil, false
}

// take gives what was written since the last time, or nil.
func (r *reader) take() Event {
	skipped := max(r.base-r.offset, 0)
	from := max(r.offset, r.base)
	data := r.data[from-r.base:]
	if len(data) == 0 {
		return nil
	}
	r.offset = r.base + int64(len(r.data))
	switch r.kind {
	case growText:
		return TextDelta{Text: string(data)}
	case growThinking:
		return ThinkingDelta{Text: string(data)}
	default:
		return ToolOutput{ID: r.id, Stderr: r.stderr, Skipped: skipped, Data: append([]byte(nil), data...)}
	}
}
