package compact

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"slices"

	_ "garuda/internal/picture" // its decoders read the sizes

	"garuda/internal/core"
	"garuda/internal/llm"
)

// where is an image's place: a message, a block, and in a tool's result one of what
// it holds, else -1.
type where struct{ at, block, inner int }

func (c *Change) picture(w where) *core.Block {
	b := &c.Messages[w.at].Blocks[w.block]
	if w.inner >= 0 {
		return &b.Content[w.inner]
	}
	return b
}

// leave lets one image give way to a note.
func (c *Change) leave(w where, why string) {
	b := c.Messages[w.at].Blocks[w.block]
	if w.inner < 0 {
		c.put(w.at, w.block, note(&b, why))
		return
	}
	b.Content = slices.Clone(b.Content)
	b.Content[w.inner] = note(&b.Content[w.inner], why)
	c.put(w.at, w.block, b)
}

// Unfit lets the images give way that are beyond a model's limits: those that are
// too large by themselves, and of too many the oldest. It looks at what people and
// tools gave, and reads of an image no more than its header. why is the reason of
// the first.
func Unfit(msgs []*core.Message, limits llm.PictureLimits) (c *Change, why string) {
	c = begin(msgs, Wire)
	all := places(msgs)
	edge := limits.Edge
	if limits.Many > 0 && len(all) > limits.Many {
		edge = limits.ManyEdge
	}
	left := make([]where, 0, len(all))
	leave := func(w where, reason string) {
		if c.leave(w, reason); why == "" {
			why = reason
		}
	}
	for _, w := range all {
		if reason := tooLarge(c.picture(w), limits.Bytes, edge); reason != "" {
			leave(w, reason)
			continue
		}
		left = append(left, w)
	}
	for i := 0; limits.Count > 0 && i < len(left)-limits.Count; i++ {
		leave(left[i], fmt.Sprintf("the model takes at most %d images", limits.Count))
	}
	return c, why
}

// places are those of the images that people and tools gave, oldest first.
func places(msgs []*core.Message) []where {
	var out []where
	for at, m := range msgs {
		if m.Role != core.RoleUser {
			continue
		}
		for k := range m.Blocks {
			if isImage(&m.Blocks[k]) {
				out = append(out, where{at, k, -1})
			}
			for i := range m.Blocks[k].Content {
				if isImage(&m.Blocks[k].Content[i]) {
					out = append(out, where{at, k, i})
				}
			}
		}
	}
	return out
}

// tooLarge says why an image is; "" for one that is not, or that nobody can read.
func tooLarge(b *core.Block, most, edge int) string {
	const mega = 1 << 20
	if sent := base64.StdEncoding.EncodedLen(len(b.Data)); most > 0 && sent > most {
		return fmt.Sprintf("it has %.1f MB, and the model takes %.1f", float64(sent)/mega, float64(most)/mega)
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(b.Data))
	if err != nil || edge == 0 || max(size.Width, size.Height) <= edge {
		return ""
	}
	return fmt.Sprintf("it has %d × %d pixels, and the model takes %d on a side", size.Width, size.Height, edge)
}
