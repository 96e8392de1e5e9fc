package engine

import (
	"garuda/internal/core"
	"garuda/internal/engine/turn"
)

// conversation is what the model knows: messages that never change once they
// are in, and what is known of their size. The running turn owns it.
type conversation struct {
	messages []*core.Message
	bytes    int // of all messages, roughly as they go over the wire
	// fixedBytes is the size of system prompt and tool list.
	fixedBytes int
	estimator  turn.Estimator
	// measured is the context the provider last reported, which covered
	// measuredBytes of the messages.
	measured, measuredBytes int
}

func (c *conversation) append(m *core.Message) {
	c.messages = append(c.messages, m)
	c.bytes += messageBytes(m)
}

// replace puts other messages in place of all; their sizes are measured anew.
func (c *conversation) replace(messages []*core.Message) {
	*c = conversation{fixedBytes: c.fixedBytes, estimator: c.estimator}
	for _, m := range messages {
		c.append(m)
	}
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

// blockOverhead is about what a block's JSON costs around its text.
const blockOverhead = 40

func messageBytes(m *core.Message) int {
	n := blockOverhead
	for _, b := range m.Blocks {
		n += blockBytes(b)
	}
	return n
}

func blockBytes(b core.Block) int {
	n := blockOverhead + len(b.Text) + len(b.Input) + len(b.Name) + len(b.ID) + len(b.Opaque) + len(b.Data)*4/3
	for _, c := range b.Content {
		n += blockBytes(c)
	}
	return n
}
