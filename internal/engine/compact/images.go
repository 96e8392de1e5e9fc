package compact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"garuda/internal/core"
)

// Refused lets the image that a server did not take give way to a note. path says
// which one it was, as in llm.Error.Block, in a format whose paths are those of
// the conversation's messages; where it says nothing of use, the newest images go:
// all of the last message that has any.
func Refused(msgs []*core.Message, path string) *Change {
	const why = "the model's server did not take it"
	c := begin(msgs, Wire)
	if at, block, inner, ok := place(path); ok && at < len(msgs) {
		if block < len(msgs[at].Blocks) {
			b := msgs[at].Blocks[block]
			if isPicture(&b) {
				c.put(at, block, note(&b, why))
				return c
			}
			if inner >= 0 && inner < len(b.Content) && isPicture(&b.Content[inner]) {
				b.Content = slices.Clone(b.Content)
				b.Content[inner] = note(&b.Content[inner], why)
				c.put(at, block, b)
				return c
			}
		}
		// A format may send the blocks in another order.
		if c.notes(at, isPicture, why); c.Blocks > 0 {
			return c
		}
	}
	for at := len(msgs) - 1; at >= 0 && c.Blocks == 0; at-- {
		c.notes(at, isPicture, why)
	}
	return c
}

// place reads messages.3.content.0 and messages.3.content.0.content.1; inner is -1
// where there is none.
func place(path string) (at, block, inner int, ok bool) {
	const depth = 6
	parts := strings.Split(path, ".")
	if len(parts) < 2 || len(parts) > depth || parts[0] != "messages" {
		return 0, 0, 0, false
	}
	numbers := []int{0, 0, -1}
	for i := 1; i < len(parts); i++ {
		if i%2 == 0 {
			if parts[i] != "content" {
				return 0, 0, 0, false
			}
			continue
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < 0 {
			return 0, 0, 0, false
		}
		numbers[i/2] = n
	}
	return numbers[0], numbers[1], numbers[2], true
}

// Unseen is the message as a model gets it that cannot see: its images are notes.
// One without images is returned as it is.
func Unseen(m *core.Message) (*core.Message, int) {
	c := begin([]*core.Message{m}, Wire)
	c.notes(0, isImage, "this model cannot see images")
	return c.Messages[0], c.Blocks
}

// notes lets all pictures of one message give way.
func (c *Change) notes(at int, which func(*core.Block) bool, why string) {
	if c.Messages[at].Role != core.RoleUser {
		return
	}
	for k, b := range c.Messages[at].Blocks {
		if which(&b) {
			c.put(at, k, note(&b, why))
			continue
		}
		n := 0
		for i := range b.Content {
			if !which(&b.Content[i]) {
				continue
			}
			if n == 0 {
				b.Content = slices.Clone(b.Content)
			}
			b.Content[i] = note(&b.Content[i], why)
			n++
		}
		if n > 0 {
			c.put(at, k, b)
			c.Blocks += n - 1
		}
	}
}

func isImage(b *core.Block) bool { return b.Type == core.BlockImage }

func isPicture(b *core.Block) bool {
	return b.Type == core.BlockImage || b.Type == core.BlockDocument
}

// note is what stands for an image or a document.
func note(b *core.Block, why string) core.Block {
	what := string(b.Type)
	if b.Name != "" {
		what += " " + core.Visible(b.Name)
	}
	return core.Block{Type: core.BlockText, Note: Note, Text: fmt.Sprintf("[%s left out: %s]", what, why)}
}
