// Package compact makes a conversation smaller without asking a model: old tool
// results give way to their beginning and a word on where to read them again,
// images to a note.
//
// Its functions are pure. They never change a message, but put another one in its
// place; every message that need not change keeps its address, and with it its
// encoding. They never touch the words of a person or a model.
package compact

import (
	"slices"

	"garuda/internal/core"
	"garuda/internal/session"
)

// Note marks the blocks that stand where something was left out.
const Note = "left_out"

// Change is a conversation made smaller.
type Change struct {
	// Messages is the whole conversation.
	Messages []*core.Message
	// Placed are those of Messages that stand where others stood, in order.
	Placed []session.Placed
	// Blocks counts what gave way, Attachments those of them that came with a
	// person's words; Saved is how many bytes that saves.
	Blocks, Attachments, Saved int
}

// begin is the conversation before anything gives way.
func begin(msgs []*core.Message) *Change { return &Change{Messages: slices.Clone(msgs)} }

// put lets a block give way to another one.
func (c *Change) put(at, block int, with core.Block) {
	old := c.Messages[at]
	i, found := slices.BinarySearchFunc(c.Placed, at, func(p session.Placed, at int) int { return p.At - at })
	if !found {
		m := &core.Message{Role: old.Role, Blocks: slices.Clone(old.Blocks)}
		c.Placed = slices.Insert(c.Placed, i, session.Placed{At: at, Message: m})
		c.Messages[at] = m
	}
	m := c.Messages[at]
	c.Saved += blockSize(&m.Blocks[block]) - blockSize(&with)
	c.Blocks++
	m.Blocks[block] = with
}

// overhead is about what a block's JSON costs around its text, in bytes.
const overhead = 40

// Size is about how many bytes a message takes in a request.
func Size(m *core.Message) int {
	n := overhead
	for i := range m.Blocks {
		n += blockSize(&m.Blocks[i])
	}
	return n
}

func blockSize(b *core.Block) int {
	n := overhead + len(b.Text) + len(b.Input) + len(b.Name) + len(b.ID) + len(b.Opaque) + len(b.Data)*4/3
	for i := range b.Content {
		n += blockSize(&b.Content[i])
	}
	return n
}

// ToolSize is about how many bytes a tool's definition takes in a request.
func ToolSize(name, description string, schema []byte) int {
	return overhead + len(name) + len(description) + len(schema)
}
