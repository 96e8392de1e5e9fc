package engine

import (
	"slices"

	"garuda/internal/core"
	"garuda/internal/engine/compact"
	"garuda/internal/engine/turn"
	"garuda/internal/session"
)

// conversation is what the model knows: messages that never change once they
// are in, and what is known of their size. The running turn owns it.
type conversation struct {
	messages []*core.Message
	// sent are the messages as the model gets them: the very same, or with notes in
	// place of the images of which a blind one would see nothing.
	sent  []*core.Message
	blind bool
	bytes int // of all that is sent, as they fill the model's context
	// fixedBytes is the size of system prompt and tool list.
	fixedBytes int
	estimator  turn.Estimator
	// measured is the context the provider last reported, which covered
	// measuredBytes of the messages.
	measured, measuredBytes int
	// checked is how many of the messages hold no image beyond the model's limits.
	checked int
}

// fits reports whether no image came since it was looked.
func (c *conversation) fits() bool {
	isImage := func(b core.Block) bool { return b.Type == core.BlockImage }
	for _, m := range c.messages[c.checked:] {
		for _, b := range m.Blocks {
			if isImage(b) || slices.ContainsFunc(b.Content, isImage) {
				return false
			}
		}
	}
	c.checked = len(c.messages)
	return true
}

// append adds a message and says how many of its images the model will not see.
func (c *conversation) append(m *core.Message) (unseen int) {
	c.messages = append(c.messages, m)
	if !c.blind {
		c.sent = c.messages
	} else {
		m, unseen = compact.Unseen(m)
		c.sent = append(c.sent, m)
	}
	c.bytes += compact.Context.Size(m)
	return unseen
}

// renameCalls gives the calls of a new answer whose ids were used before ids of
// their own: some servers count from zero with each answer, others give none but
// one, and some providers refuse a conversation in which an id means two calls.
func (c *conversation) renameCalls(m *core.Message) {
	if len(m.ToolUses()) == 0 {
		return
	}
	used := map[string]bool{}
	for _, earlier := range c.messages {
		if earlier.Role != core.RoleAssistant {
			continue
		}
		for i := range earlier.Blocks {
			if b := &earlier.Blocks[i]; b.Type == core.BlockToolUse {
				used[b.ID] = true
			}
		}
	}
	copied := false
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Type != core.BlockToolUse || !used[b.ID] {
			continue
		}
		if !copied { // the client may hold on to its own
			m.Blocks, copied = slices.Clone(m.Blocks), true
		}
		m.Blocks[i].ID = core.NewCallID()
	}
}

// replace puts other messages in place of all; their sizes are measured anew.
func (c *conversation) replace(messages []*core.Message) (unseen int) {
	*c = conversation{fixedBytes: c.fixedBytes, estimator: c.estimator, blind: c.blind}
	for _, m := range messages {
		unseen += c.append(m)
	}
	return unseen
}

// dropThinking leaves out the thinking of turns that came to their end. That of an
// unfinished one stays: providers refuse a call whose thinking is missing when its
// result is the last that was said.
func (c *conversation) dropThinking() {
	end := 0
	for i, m := range c.messages {
		if m.Role == core.RoleAssistant && len(m.ToolUses()) == 0 {
			end = i + 1
		}
	}
	kept := append(session.WithoutThinking(c.messages[:end]), c.messages[end:]...)
	if !slices.Equal(kept, c.messages) {
		c.replace(kept)
	}
}

// listMore counts tools of this size that were added to the list. The request that
// was measured last did not have them.
func (c *conversation) listMore(bytes int) {
	c.fixedBytes += bytes
	c.measuredBytes -= bytes
}

// estimate of the next request's input: all of it, and the part of it that came
// after the last measured one.
func (c *conversation) estimate() (whole, after int) {
	return c.estimator.Tokens(c.fixedBytes + c.bytes), c.estimator.Tokens(c.bytes - c.measuredBytes)
}

// measure books what the provider reported for the request that held sent bytes
// of messages.
func (c *conversation) measure(sent int, u core.Usage) {
	c.estimator.Measured(c.fixedBytes+sent, u.Input+u.CacheRead+u.CacheWrite)
	c.measured, c.measuredBytes = u.Context(), c.bytes
}
