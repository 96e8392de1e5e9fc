package engine

import (
	"errors"

	"garuda/internal/engine/compact"
)

// ContextTokens estimates how many tokens the next request will send, the
// message that is still to come aside. While a turn runs it is 0: the
// conversation is then the turn's.
func (s *Session) ContextTokens() int {
	tokens := 0
	s.do(func(a *actor) {
		if a.cancelTurn == nil {
			tokens, _ = a.conv.estimate()
		}
	})
	return tokens
}

// Part is a part of what fills a model's window.
type Part struct {
	Name   string
	Tokens int
}

// ContextUse is what fills the model's window, by estimate.
type ContextUse struct {
	// Window is the model's in tokens, of which Output are kept free for its answer.
	// Assumed says that nobody knows the window.
	Window, Output int
	Assumed        bool
	// Parts are what the next request will hold, the message that is still to come
	// aside; together they are Used.
	Parts []Part
	Used  int
	// DueAt is from which size on the conversation is made smaller.
	DueAt int
}

// Free is what is left for input; never less than 0.
func (c *ContextUse) Free() int { return max(c.Window-c.Output-c.Used, 0) }

// Context says what fills the model's window. It is refused while a turn runs.
func (s *Session) Context() (*ContextUse, error) {
	var use *ContextUse
	err := errors.New("the session was closed")
	s.do(func(a *actor) {
		if err = nil; a.cancelTurn != nil {
			err = errBusy
			return
		}
		use = a.contextUse()
	})
	return use, err
}

func (a *actor) contextUse() *ContextUse {
	info, output := a.s.cfg.Model.Info(), a.outputLimit()
	room := a.inputRoom(output)
	use := &ContextUse{Window: room + output, Output: output, Assumed: !info.Known && a.space.window == 0, DueAt: int(dueAt * float64(room))}
	instructions := min(a.s.cfg.InstructionBytes, len(a.s.cfg.System))
	sizes := compact.Sizes(a.conv.sent)
	use.Used, _ = a.conv.estimate()
	left := use.Used
	for _, part := range []struct {
		name  string
		bytes int
	}{
		{"system prompt", len(a.s.cfg.System) - instructions},
		{"instructions", instructions},
		{"tools", a.conv.fixedBytes - len(a.s.cfg.System)},
		{"summaries", sizes.Summaries},
		{"tool calls and results", sizes.Results},
		{"images and documents", sizes.Images},
		{"conversation", sizes.Words},
	} {
		tokens := min(a.conv.estimator.Tokens(part.bytes), left)
		left -= tokens
		use.Parts = append(use.Parts, Part{Name: part.name, Tokens: tokens})
	}
	use.Parts[len(use.Parts)-1].Tokens += left // what rounding took
	return use
}

// LastEvent is the number of the newest event, -1 before the first. Who has read
// that far has seen everything that calls so far have brought about.
func (s *Session) LastEvent() int64 {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return s.log.first + int64(len(s.log.entries)) - 1
}
