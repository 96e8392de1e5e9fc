package plain

import (
	"context"
	"errors"
	"time"

	"garuda/internal/engine"
)

// secondPress is the time in which a second Ctrl-C goes further than the first.
const secondPress = 2 * time.Second

// interrupt does what a press of Ctrl-C means now: end the running command,
// else the turn, else drop what was begun, else leave at the second press.
func (c *chat) interrupt() {
	c.interruptShown()
	now := c.clock.Now()
	again := !c.pressed.IsZero() && now.Sub(c.pressed) < secondPress
	c.pressed = now
	switch {
	case c.busy:
		c.interruptTurn(again)
	case c.confirm != nil:
		c.confirm, c.pressed = nil, time.Time{}
		c.say("nothing was done")
	case c.handOff != nil:
		c.handOff, c.pressed = nil, time.Time{}
		c.say("plan mode goes on")
	case c.partial != "":
		c.partial, c.pressed = "", time.Time{}
		c.say("dropped the lines you had begun")
	case again:
		c.leaving = true
	default:
		c.say("press Ctrl-C again within 2 s to exit")
	}
}

// interruptShown minds that a terminal shows ^C where the cursor was.
func (c *chat) interruptShown() {
	if c.o.IsTerminal {
		c.screen.Elsewhere(true)
	}
}

func (c *chat) interruptTurn(again bool) {
	switch {
	case c.stopping && again:
		c.interrupted, c.leaving = true, true
	case c.stopping:
		c.say("still stopping; press Ctrl-C again within 2 s to exit")
	case c.question == nil && !again && c.session.Interrupt(engine.StopCommand):
		if c.aside { // the person's own command: no turn runs
			c.say("stopped the command")
			return
		}
		c.say("stopped the command, the turn goes on; press Ctrl-C again within 2 s to stop the turn")
	default:
		c.stopTurn()
	}
}

// stopTurn also drops what waits for the turn's end: whoever stops a turn does
// not want the next one to start by itself.
func (c *chat) stopTurn() {
	// A third press counts from here, so that one press too many does not leave.
	c.stopping, c.pressed = true, time.Time{}
	if c.aside {
		c.say("stopping")
	} else {
		c.say("stopping the turn")
	}
	for _, text := range c.queue {
		c.say("not sent: " + inShort(text))
	}
	c.queue = nil
	c.session.Interrupt(engine.StopTurn)
}

// errStopped is what a command ends with that was stopped by Ctrl-C.
var errStopped = errors.New("stopped")

// call runs a method of the host; Ctrl-C ends its context.
func (c *chat) call(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	stopped := false
	for {
		select {
		case err := <-done:
			if stopped && errors.Is(err, context.Canceled) {
				return errStopped
			}
			return err
		case <-c.o.Interrupts:
			stopped = true
			cancel()
			c.interruptShown()
		}
	}
}
