package engine

import (
	"context"
	"errors"
	"fmt"

	"garuda/internal/core"
)

// last is the number of the newest event.
func (l *eventLog) last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first + int64(len(l.entries))
}

// watcher reads all events of a session and checks their order.
type watcher struct {
	whole    []string // what is not streamed, with its number
	problems []string
	inTurn   bool
	open     string
	question int
	running  map[string]bool
	ended    int
	usage    core.Usage
	last     *TurnResult
}

func (w *world) watch(fromStart bool) {
	sub := w.s.Subscribe(0)
	seen := &watcher{running: map[string]bool{}}
	w.mu.Lock()
	w.watchers = append(w.watchers, seen)
	w.mu.Unlock()
	w.watching.Go(func() {
		defer sub.Close()
		for before := int64(-1); ; {
			seq, e, err := sub.Next(context.Background())
			if err != nil {
				if !errors.Is(err, ErrClosed) {
					seen.fault("the stream ended with %v", err)
				}
				return
			}
			if seq < before {
				seen.fault("event %d after event %d", seq, before)
			}
			before = seq
			seen.event(seq, e)
			if a, ok := e.(Asked); ok && fromStart {
				w.mu.Lock()
				w.asked = append(w.asked, a.ID)
				w.mu.Unlock()
			}
		}
	})
}

func (s *watcher) fault(format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// event checks one event against those before it.
func (s *watcher) event(seq int64, e Event) {
	switch e := e.(type) {
	case TextDelta:
		s.delta("text")
		return
	case ThinkingDelta:
		s.delta("thinking")
		return
	case ToolOutput:
		if !s.running[e.ID] {
			s.fault("output of %q, which does not run", e.ID)
		}
		return
	case BlockEnd:
		s.open = ""
		return
	}
	s.whole = append(s.whole, fmt.Sprintf("%d %T", seq, e))
	// A notice may come at any time: of a disk that is full, of a command's line.
	_, notice := e.(Notice)
	if s.open != "" && !notice {
		s.fault("%T in the middle of %s", e, s.open)
	}
	switch e := e.(type) {
	case TurnStarted:
		if s.inTurn {
			s.fault("a turn begins in a turn")
		}
		s.inTurn = true
	case TurnEnded:
		s.turnEnded(e)
	case ToolReady:
		s.running[e.ID] = true
	case ToolEnded:
		delete(s.running, e.Result.ID)
	case Results:
		if len(s.running) > 0 {
			s.fault("results while %v run", s.running)
		}
	case Asked:
		if s.question != 0 && e.ID <= s.question {
			s.fault("question %d after %d", e.ID, s.question)
		}
		s.question = e.ID
	}
	if !s.inTurn && !notice {
		if _, end := e.(TurnEnded); !end {
			s.fault("%T outside of a turn", e)
		}
	}
}

func (s *watcher) delta(kind string) {
	if s.open != "" && s.open != kind {
		s.fault("%s in the middle of %s", kind, s.open)
	}
	s.open = kind
}

func (s *watcher) turnEnded(e TurnEnded) {
	if !s.inTurn {
		s.fault("a turn ends that did not begin")
	}
	if len(s.running) > 0 {
		s.fault("a turn ends while %v run", s.running)
	}
	s.inTurn, s.last = false, e.Result
	s.ended++
	s.usage = s.usage.Add(e.Result.Usage)
}
