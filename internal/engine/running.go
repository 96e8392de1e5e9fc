package engine

import (
	"context"
	"sync"

	"garuda/internal/tool"
)

// runningCalls knows the commands that run now, so that one can be stopped
// while its turn goes on.
type runningCalls struct {
	mu    sync.Mutex
	calls []runningCall // oldest first
}

type runningCall struct {
	id     string
	cancel context.CancelCauseFunc
}

// start gives the call a context of its own; end must be called.
func (r *runningCalls) start(ctx context.Context, id string, isCommand bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !isCommand {
		return ctx, func() { cancel(nil) }
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, runningCall{id: id, cancel: cancel})
	return ctx, func() {
		cancel(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		for i, c := range r.calls {
			if c.id == id {
				r.calls = append(r.calls[:i:i], r.calls[i+1:]...)
				return
			}
		}
	}
}

// stopNewest ends the command that was started last.
func (r *runningCalls) stopNewest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return false
	}
	r.calls[len(r.calls)-1].cancel(tool.ErrInterrupted)
	return true
}
