package headless

import (
	"context"
	"errors"
	"fmt"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
)

// Exit codes that no turn's end has.
const (
	exitError       = 1
	exitUsage       = 3
	exitInterrupted = 130
)

// run is one run of turns. Its own goroutine writes, and may wait for a slow
// reader; prompts and the interrupt are another one's, so that neither waits for
// that reader.
type run struct {
	s        *engine.Session
	o        Options
	sub      *engine.Subscription
	activity *lines.Activity
	// last is the result that was written last; nil before the first turn's end.
	last *engine.TurnResult
	// writeErr is the first failure to write to stdout; it stops the run.
	writeErr error
	open     string // what of a partial message is open: "", "text", "thinking"
	lastText byte
}

// intake is what came of the prompts.
type intake struct {
	// turns is how many turns the run has in all.
	turns int
	// ended is true when the prompts ended by themselves, cut when an interrupt
	// left some of them out.
	ended, cut bool
}

func (r *run) loop(ctx context.Context) (int, error) {
	ctx, stop := context.WithCancel(ctx)
	events, intakes := make(chan engine.Event), make(chan intake, 2)
	pumpDone, feedDone := make(chan struct{}), make(chan struct{})
	defer func() { stop(); <-pumpDone; <-feedDone }()
	go r.pump(ctx, events, pumpDone)
	go r.feed(ctx, intakes, feedDone)
	in, known := intake{}, false
	for ended := 0; !known || ended < in.turns; {
		select {
		case in = <-intakes:
			known = true
		case e := <-events:
			if end, ok := e.(engine.TurnEnded); ok {
				ended++
				r.last = end.Result
			}
			r.show(e)
			if err := r.failure(); err != nil {
				return exitError, err
			}
		case <-ctx.Done():
			return exitError, ctx.Err()
		}
	}
	return r.finish(in)
}

// feed hands prompts to the session as they come, and stops the turn when the
// run is interrupted. It tells the intake when the prompts have ended, and again
// after an interrupt.
func (r *run) feed(ctx context.Context, intakes chan<- intake, done chan<- struct{}) {
	defer close(done)
	prompts, in := r.o.Prompts, intake{}
	for {
		select {
		case p, ok := <-prompts:
			if !ok {
				prompts, in.ended = nil, true
				intakes <- in
				continue
			}
			in.turns++
			r.s.Submit(p)
		case <-r.o.Interrupted:
			dropped := len(r.s.Unqueue())
			r.s.Interrupt(engine.StopTurn)
			in.turns -= dropped
			in.cut = dropped > 0 || !in.ended && !closed(prompts)
			intakes <- in
			return
		case <-ctx.Done():
			return
		}
	}
}

// closed reports whether nothing more comes, without waiting for it.
func closed(prompts <-chan engine.Prompt) bool {
	select {
	case _, open := <-prompts:
		return !open
	default:
		return false
	}
}

// pump moves events to a channel, so that they can be waited for beside others.
// Unread ones stay in the session's log: a slow reader of stdout holds nothing up.
func (r *run) pump(ctx context.Context, events chan<- engine.Event, done chan<- struct{}) {
	defer close(done)
	for {
		_, e, err := r.sub.Next(ctx)
		if err != nil {
			return // closed, or given up by the loop
		}
		select {
		case events <- e:
		case <-ctx.Done():
			return
		}
	}
}

// finish gives the exit code. A run that ends in another way than its last turn
// says so in a result of its own.
func (r *run) finish(in intake) (int, error) {
	switch {
	case in.cut:
		if r.last == nil || r.last.End != core.EndInterrupted {
			r.endOfRun(core.EndInterrupted, nil)
		}
		return exitInterrupted, r.failure()
	case r.o.PromptErr != nil:
		if err := r.o.PromptErr(); err != nil {
			r.endOfRun(core.EndError, err)
			return exitUsage, errors.Join(err, r.failure())
		}
	}
	if r.last == nil {
		return 0, r.failure()
	}
	return exitCode(r.last), r.failure()
}

// endOfRun is a result that belongs to no turn.
func (r *run) endOfRun(end core.TurnEnd, err error) {
	result := &engine.TurnResult{End: end, Err: err, Session: r.s.Totals()}
	if r.o.Format == Text {
		if err == nil { // else whoever ran us tells it
			fmt.Fprintln(r.o.Stderr, "garuda: "+lines.EndInWords(result))
		}
		return
	}
	r.line(resultLine(result, r.s.Model()))
}

func (r *run) failure() error {
	if r.writeErr == nil {
		return nil
	}
	return fmt.Errorf("write to standard output: %w", r.writeErr)
}

func exitCode(r *engine.TurnResult) int {
	e := endingOf(r.End)
	if e.exit == 0 && r.JournalErr != nil {
		return exitError
	}
	return e.exit
}

// ErrSlow is returned by Shutdown when a session did not end in time.
var ErrSlow = errors.New("the session did not end within its time")

// Shutdown closes the session, and gives up waiting after the limit.
func Shutdown(s *engine.Session, clock core.Clock, limit time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	late := make(chan struct{})
	stop := clock.AfterFunc(limit, func() { close(late) })
	defer stop()
	select {
	case err := <-done:
		return err
	case <-late:
		return ErrSlow
	}
}
