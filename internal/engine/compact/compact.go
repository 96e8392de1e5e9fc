// Package compact makes a conversation smaller. Old tool results give way to their
// beginning and a word on where to read them again, images to a note; where that is
// not enough, a summary takes the place of all that is old: this package says what is
// old, what a model is to be asked for it, and what then begins the conversation.
//
// Its functions are pure: it asks no model itself. They never change a message, but
// put another one in its place; every message that need not change keeps its address,
// and with it its encoding. No step of the newest four and no newest message of a
// person ever gives way to a summary.
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

	measure Measure
}

// begin is the conversation before anything gives way.
func begin(msgs []*core.Message, measure Measure) *Change {
	return &Change{Messages: slices.Clone(msgs), measure: measure}
}

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
	c.Saved += c.measure.block(&m.Blocks[block]) - c.measure.block(&with)
	c.Blocks++
	m.Blocks[block] = with
}

// Measure is what is meant by size. Both count text in bytes.
type Measure int

const (
	// Wire is what a request's body holds: the data of images in base64.
	Wire Measure = iota
	// Context is what fills a model's context, in bytes of text that would fill as
	// much. An image is scaled down to what the model sees and costs about the same
	// whatever its data: up to 1,600 tokens, of four bytes each. A document is taken
	// for as large as its data, for want of a look into it.
	Context
)

func (of Measure) data(b *core.Block) int {
	const image = 1_600 * 4
	n := len(b.Data) * 4 / 3
	if of == Context && b.Type == core.BlockImage {
		n = min(n, image)
	}
	return n
}

// overhead is about what a block's JSON costs around its text, in bytes.
const overhead = 40

// Size is about how large a message is in a request.
func (of Measure) Size(m *core.Message) int {
	n := overhead
	for i := range m.Blocks {
		n += of.block(&m.Blocks[i])
	}
	return n
}

func (of Measure) block(b *core.Block) int {
	n := overhead + len(b.Text) + len(b.Input) + len(b.Name) + len(b.ID) + len(b.Opaque) + of.data(b)
	for i := range b.Content {
		n += of.block(&b.Content[i])
	}
	return n
}

// Shares are the sizes of a conversation's parts as they fill a model's context, in
// bytes; together they are the size of its messages.
type Shares struct{ Words, Results, Images, Summaries int }

// Sizes says what a conversation consists of.
func Sizes(msgs []*core.Message) Shares {
	var s Shares
	for _, m := range msgs {
		s.Words += overhead
		for i := range m.Blocks {
			s.add(&m.Blocks[i])
		}
	}
	return s
}

func (s *Shares) add(b *core.Block) {
	size := Context.block(b)
	switch {
	case b.Type == core.BlockToolResult:
		for i := range b.Content {
			if len(b.Content[i].Data) > 0 {
				n := Context.block(&b.Content[i])
				s.Images += n
				size -= n
			}
		}
		s.Results += size
	case b.Type == core.BlockToolUse:
		s.Results += size
	case len(b.Data) > 0:
		s.Images += size
	case b.Note == NoteSummary || b.Note == NoteRequest:
		s.Summaries += size
	default:
		s.Words += size
	}
}

// ToolSize is about how many bytes a tool's definition takes in a request.
func ToolSize(name, description string, schema []byte) int {
	return overhead + len(name) + len(description) + len(schema)
}
