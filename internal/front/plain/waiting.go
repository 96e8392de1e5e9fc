package plain

import (
	"time"

	"garuda/internal/engine"
	"garuda/internal/front/lines"
)

const (
	// silence is how long nothing may come before the chat says that it waits.
	silence = 3 * time.Second
	// tickEvery is how often a time that is shown is drawn anew.
	tickEvery = time.Second
)

// waiting is what the chat knows of a turn that waits for its model.
type waiting struct {
	// since is when the model was last heard of, or the request sent; zero while
	// nothing is expected from it.
	since time.Time
	// retryAt is when a failed request is sent again; zero without one.
	retryAt time.Time
	// stopTick ends the timer that draws the times anew; nil while none runs.
	stopTick func() bool
}

// observe notes from the session's events whether the model is waited for.
func (c *chat) observe(e engine.Event) {
	w := &c.waiting
	switch e := e.(type) {
	case engine.TurnStarted, engine.StepEnded, engine.TextDelta, engine.ThinkingDelta, engine.ToolStarted:
		w.since, w.retryAt = c.clock.Now(), time.Time{}
	case engine.Retrying:
		w.since, w.retryAt = time.Time{}, e.Until
	case engine.RetryEnded:
		c.screen.Status("")
		if w.retryAt = (time.Time{}); e.Sent {
			w.since = c.clock.Now()
		}
	case engine.Answered, engine.ToolReady, engine.TurnEnded, engine.AsideEnded:
		w.since, w.retryAt = time.Time{}, time.Time{}
		c.screen.Status("")
	}
}

// keepTime runs a timer while a time is to be shown, and at no other.
func (c *chat) keepTime() {
	w := &c.waiting
	wanted := c.o.Redraw && !c.stopping && (!w.since.IsZero() || !w.retryAt.IsZero())
	switch {
	case wanted && w.stopTick == nil:
		w.stopTick = c.clock.AfterFunc(tickEvery, func() {
			select {
			case c.ticks <- struct{}{}:
			default: // one that the loop has not taken yet will do
			}
		})
	case !wanted && w.stopTick != nil:
		c.endTime()
	}
}

// endTime ends the timer, and takes away what it showed.
func (c *chat) endTime() {
	if c.waiting.stopTick != nil {
		c.waiting.stopTick()
		c.waiting.stopTick = nil
		c.screen.Status("")
	}
}

// ticked draws the times anew.
func (c *chat) ticked() {
	if c.waiting.stopTick == nil {
		return // it came as the timer was ended
	}
	c.waiting.stopTick = nil
	c.showTime()
}

func (c *chat) showTime() {
	w, now := &c.waiting, c.clock.Now()
	quiet := now.Sub(w.since)
	switch {
	case !w.retryAt.IsZero() && !now.Before(w.retryAt):
		c.screen.Status("") // it is sent now, and the session is about to say so
	case !w.retryAt.IsZero():
		c.screen.Status(" in " + lines.Left(w.retryAt.Sub(now)))
	case w.since.IsZero():
	case c.thinking.open:
		text := " " + c.thinking.soFar(now)
		if quiet >= silence {
			text += " · nothing new for " + lines.Elapsed(quiet)
		}
		c.screen.Status(text)
	case quiet >= silence && c.activity.Naming():
		c.screen.Status(" the model is writing this call, " + lines.Elapsed(quiet))
	case quiet >= silence:
		c.screen.Status("  waiting for the model, " + lines.Elapsed(quiet))
	default:
		c.screen.Status("")
	}
}
