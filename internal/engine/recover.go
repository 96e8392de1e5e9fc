package engine

import (
	"context"
	"fmt"

	"garuda/internal/core"
	"garuda/internal/engine/compact"
	"garuda/internal/engine/turn"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// Why a conversation was made smaller, as the journal has it, besides the kinds of
// errors.
const (
	reasonImage  = "image_refused"
	reasonLimits = "image_limits"
	reasonWindow = "model_window"
)

// stageResults is the stage of a compaction that asks no model.
const stageResults = 1

// recoverable reports whether a smaller conversation, or one without an image,
// may be taken where this one was refused.
func recoverable(e *llm.Error) bool {
	return e.Image || e.Kind == llm.ErrContextOverflow || e.Kind == llm.ErrTooLarge
}

// shrink makes a refused conversation smaller, and reports whether it could.
func (t *turnRun) shrink(ctx context.Context, e *llm.Error) bool {
	if e.Image {
		path := ""
		if t.cfg.Model.Info().Format == "anthropic" {
			path = e.Block // other formats number what they made of the messages
		}
		c := compact.Refused(t.a.conv.messages, path)
		return t.compacted(c, reasonImage, fmt.Sprintf("the model refused an image; sending the message again without %s", count(c.Blocks, "image")))
	}
	why, measure, need := "the request is larger than the model's window", compact.Context, t.over(e.Window)
	switch {
	case e.Kind == llm.ErrTooLarge:
		why, measure, need = "the request is larger than the server takes", compact.Wire, t.bodyShare()
	case e.Window > 0:
		t.a.space.window = e.Window
		why += fmt.Sprintf(" of %d tokens", e.Window)
	}
	c := compact.Shrink(t.a.conv.messages, measure, need, t.showsAgain)
	said := why + "; sending it again with " + gaveWay(c)
	if e.Hint != "" {
		said += "; " + e.Hint // a local server's window can often be made larger
	}
	smaller := t.compacted(c, string(e.Kind), said)
	if c.Saved >= need || compact.Kept(c.Messages) == 0 {
		return smaller
	}
	if err := t.sumUp(ctx, string(e.Kind), ""); err != nil {
		t.publish(Notice{Text: "the conversation could not be summed up: " + err.Error()})
		return smaller
	}
	return true
}

// lowerOutput asks for a shorter answer where a window that the server tells of is
// too small for the output limit, and reports whether the same conversation may be
// taken then. It ends: each time the limit is lower.
func (t *turnRun) lowerOutput(e *llm.Error) bool {
	const share = 2
	room := e.Window / share
	if e.Kind != llm.ErrContextOverflow || room == 0 || t.maxTokens <= room {
		return false
	}
	said := fmt.Sprintf("the model's window of %d tokens has no room for an answer of %d; asking for at most %d", e.Window, t.maxTokens, room)
	if e.Hint != "" {
		said += "; " + e.Hint
	}
	t.a.room, t.maxTokens = room, room
	t.publish(Notice{Text: said})
	whole, _ := t.a.conv.estimate()
	// A server that reports too few tokens makes the estimate too small.
	uncorrected := turn.Estimator{}
	return max(whole, uncorrected.Tokens(t.a.conv.fixedBytes+t.a.conv.bytes)) <= e.Window-room
}

// plainOutput is an output limit, in tokens, that every model takes.
const plainOutput = 4096

// capOutput asks for a shorter answer where the server does not take so high an output
// limit, once: for as much as it says, else for what every model takes. It reports
// whether the request may be sent again.
func (t *turnRun) capOutput(e *llm.Error) bool {
	most := e.MaxOutput
	if most == 0 {
		most = plainOutput
	}
	if !e.OutputLimit || t.capped || t.maxTokens <= most {
		return false
	}
	said := fmt.Sprintf("the model takes no output limit of %d tokens; asking for at most %d", t.maxTokens, most)
	if e.Hint != "" {
		said += "; " + e.Hint
	}
	t.capped, t.a.room, t.maxTokens = true, most, most
	t.publish(Notice{Text: said})
	return true
}

// leaveUnfit lets the images give way that the model's server would refuse, before
// they cost a request.
func (t *turnRun) leaveUnfit() {
	conv := &t.a.conv
	if conv.fits() || conv.blind {
		return
	}
	c, why := compact.Unfit(conv.messages, llm.Pictures(t.cfg.Model.Info()))
	t.compacted(c, reasonLimits, fmt.Sprintf("sending the conversation without %s: %s", count(c.Blocks, "image"), why))
	conv.checked = len(conv.messages)
}

const (
	// shareOff is the part of a request that goes where nobody says how much must;
	// margin is what goes beyond what must by estimate.
	shareOff, margin = 0.4, 0.1
)

// share is a part of what fills the context, in bytes.
func (t *turnRun) share(part float64) int {
	return int(part * float64(t.a.conv.fixedBytes+t.a.conv.bytes))
}

// bodyShare is how many bytes of the request's body are to go where the server
// takes no such large one.
func (t *turnRun) bodyShare() int {
	n := t.a.conv.fixedBytes
	for _, m := range t.a.conv.sent {
		n += compact.Wire.Size(m)
	}
	return int(shareOff * float64(n))
}

// over is by how many bytes the request is too large for a window, with a margin;
// told is the window that the server spoke of, or 0. Where the estimate does not
// see that it is too large it is wrong, and nobody knows by how much.
func (t *turnRun) over(told int) int {
	limit := t.a.inputLimit(told, t.maxTokens)
	whole, _ := t.a.conv.estimate()
	if limit == 0 || whole <= limit {
		return t.share(shareOff)
	}
	return t.share(float64(whole-limit)/float64(whole) + margin)
}

// inputLimit is how many tokens fit into the model's window beside the output; 0
// when nobody knows. told is a window that a server spoke of, or 0.
func (a *actor) inputLimit(told, output int) int {
	info := a.s.cfg.Model.Info()
	window := told
	if info.Known && (window == 0 || info.ContextWindow < window) {
		window = info.ContextWindow
	}
	const least = 2 // the output may be set to more than the window; half of it is for the input
	return max(window-output, window/least)
}

// fit makes the conversation small enough for a model that has just been chosen.
func (t *turnRun) fit() {
	if !t.a.fresh {
		return
	}
	t.a.fresh = false
	limit := t.a.inputLimit(0, t.maxTokens)
	if whole, _ := t.a.conv.estimate(); limit == 0 || whole <= limit {
		return
	}
	c := compact.Shrink(t.a.conv.messages, compact.Context, t.over(0), t.showsAgain)
	t.compacted(c, reasonWindow, "the conversation now fits the model's window with "+gaveWay(c))
}

// warnOfCut says, once for a model and a conversation that only grows, that a
// request is larger than the context that a server on this machine really has. Some
// cut such a request without a word, and the model then answers what it never saw
// the beginning of.
func (t *turnRun) warnOfCut() {
	info := t.cfg.Model.Info()
	if t.a.warnedOfCut || !info.Local || !info.Known && info.WindowSetting == "" {
		return
	}
	whole, _ := t.a.conv.estimate()
	if whole <= info.ContextWindow || t.a.conv.estimator.Tokens(t.a.conv.fixedBytes) > info.ContextWindow {
		return // the latter was said at the start
	}
	t.a.warnedOfCut = true
	text := fmt.Sprintf("this request is about %d tokens, and %s has a window of %d: its server may cut the beginning off without a word", whole, info.Spec, info.ContextWindow)
	if info.WindowSetting != "" {
		text += "; " + info.WindowSetting
	}
	t.publish(Notice{Text: text + "; or begin a new session (/new)"})
}

// compacted takes up a smaller conversation: first into the journal, so that a
// resume goes on with the same one.
func (t *turnRun) compacted(c *compact.Change, reason, said string) bool {
	if c.Blocks == 0 {
		return false
	}
	before, _ := t.a.conv.estimate()
	t.a.conv.replace(c.Messages)
	after, _ := t.a.conv.estimate()
	t.a.journal.append(&session.Compaction{
		Stage: stageResults, Reason: reason, Before: before, After: after, Messages: c.Placed, Cost: core.Cost{Known: true},
	})
	t.a.journal.flush()
	t.begunAnew()
	t.publish(Notice{Text: said})
	t.publish(Compacted{Stage: stageResults, Reason: reason, Before: before, After: after, Changed: c.Blocks})
	return true
}

// showsAgain reports whether the same call again gives the same and changes nothing.
func (t *turnRun) showsAgain(name string) bool {
	if t.cfg.Pipeline == nil {
		return false
	}
	found, ok := t.cfg.Pipeline.Registry.Lookup(name)
	return ok && found.Spec().Class == tool.ClassRead
}

// hopeless is an error of a conversation that could not be made smaller, or not
// small enough, with what the user can do.
func hopeless(e *llm.Error, tried bool) error {
	switch {
	case !recoverable(e):
		return e
	case e.Image && tried:
		return fmt.Errorf("%w; the newest image was left out and the request still refused: begin a new session (/new), or choose a model that takes it (/models)", e)
	case e.Image:
		return fmt.Errorf("%w; the conversation holds no image that could be left out", e)
	case tried:
		return fmt.Errorf("%w; what is old was cut short and it is still too large: begin a new session (/new), or choose a model with a larger window (/models)", e)
	}
	return fmt.Errorf("%w; there is nothing old to cut short: make the message or its attachments smaller, begin a new session (/new), or choose a model with a larger window (/models)", e)
}

// gaveWay says what is not whole any more.
func gaveWay(c *compact.Change) string {
	results := count(c.Blocks-c.Attachments, "old tool result") + " cut short"
	attachments := count(c.Attachments, "earlier attachment") + " left out"
	switch {
	case c.Attachments == 0:
		return results
	case c.Attachments == c.Blocks:
		return attachments
	}
	return results + " and " + attachments
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
