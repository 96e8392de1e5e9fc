package plain

import (
	"context"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/front/lines"
	"garuda/internal/tool"
)

// handOff is the question whether to build a plan that the model gave as its
// answer, without exit_plan_mode. It is the chat's own: the session is idle.
type handOff struct{ shown, from time.Time }

// buildPrompt is sent when a plan is to be built at once.
const buildPrompt = "Carry out the plan above."

// offerBuild asks after a turn in plan mode that came to its end, unless the plan
// was asked about in it or something else is to come.
func (c *chat) offerBuild(r *engine.TurnResult) {
	if !c.o.IsTerminal || c.inputEnded || c.leaving || c.planAsked || len(c.queue) > 0 || c.partial != "" ||
		r.End != core.EndDone || c.o.Host.Mode() != tool.ModePlan || strings.TrimSpace(r.Text) == "" {
		return
	}
	c.screen.Line(lines.Warn, "? Build this plan?")
	c.wrapped(lines.Normal, "  b  ", "build now")
	c.wrapped(lines.Normal, "  t  ", "build mode, and let me type")
	c.wrapped(lines.Normal, "  k  ", "keep planning")
	c.say("  anything else is your next message, in plan mode")
	now := c.clock.Now()
	c.handOff = &handOff{shown: now, from: now.Add(readingTime)}
}

// handOffLine takes the first line after the question: an answer, or whatever it
// would have been without it.
func (c *chat) handOffLine(ctx context.Context, l typedLine) {
	h, word := c.handOff, strings.ToLower(strings.TrimSpace(l.text))
	isAnswer := word == "b" || word == "t" || word == "k" || word == ""
	switch {
	case l.at.Before(h.shown):
		c.handOff = nil
		c.enter(ctx, l.text)
	case isAnswer && l.at.Before(h.from):
		c.say("too soon to be an answer, not taken: " + inShort(l.text))
	case !isAnswer:
		c.handOff = nil
		c.enter(ctx, l.text)
	default:
		c.handOff = nil
		c.handedOff(ctx, word)
	}
}

func (c *chat) handedOff(ctx context.Context, word string) {
	if word != "b" && word != "t" {
		c.say("  → plan mode goes on")
		return
	}
	if err := c.setMode(tool.ModeBuild); err != nil {
		c.fail(err)
		return
	}
	if word == "b" {
		c.start(ctx, buildPrompt, true)
	}
}
