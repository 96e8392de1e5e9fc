package gemini

import (
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm/wire"
)

// noOutput is the text of a result that has none.
const noOutput = "(no output)"

// appendUser writes the results first, in the order of their calls, by which the
// API matches those without ids, and what else there is in a content of its own.
func (e *encoder) appendUser(dst []byte, m *core.Message, calls []core.Block) []byte {
	results := make([]*core.Block, len(calls)) // by call
	var rest []core.Block
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Type != core.BlockToolResult {
			rest = append(rest, *b)
			continue
		}
		at := 0
		for at < len(calls) && (calls[at].ID != b.ID || results[at] != nil) {
			at++
		}
		if at < len(calls) {
			results[at] = b
		} else {
			rest = append(rest, b.Content...) // it answers nothing, but says something
		}
	}
	var follow []core.Block
	start := len(dst)
	dst = content(dst, "user", func(dst []byte) []byte {
		for i, r := range results {
			if r == nil {
				continue
			}
			inside, outside := e.split(r.Content)
			if len(outside) > 0 {
				follow = append(append(follow, core.Text("Returned by the call of "+wire.Name(calls[i].Name)+":")), outside...)
			}
			dst = appendResult(dst, &calls[i], r, inside)
		}
		return dst
	})
	end := len(dst)
	if end > start {
		dst = append(dst, ',')
	}
	begun := len(dst)
	dst = content(dst, "user", func(dst []byte) []byte {
		for _, blocks := range [][]core.Block{follow, rest} {
			for i := range blocks {
				dst = appendPart(dst, &blocks[i])
			}
		}
		return dst
	})
	if len(dst) == begun {
		return dst[:end]
	}
	return dst
}

// split sorts a result's images and documents into those that can stand in the
// result itself and those that must follow it.
func (e *encoder) split(blocks []core.Block) (inside, outside []core.Block) {
	for _, b := range blocks {
		switch {
		case !isMedia(&b):
		case e.family.google && e.family.third() && fitsResult(b.MediaType):
			inside = append(inside, b)
		default:
			outside = append(outside, b)
		}
	}
	return inside, outside
}

// fitsResult lists the types that the API's page on function calling names for
// the parts of a result.
func fitsResult(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/webp", "application/pdf":
		return true
	}
	return false
}

func isMedia(b *core.Block) bool {
	return b.Type == core.BlockImage || b.Type == core.BlockDocument && !wire.IsText(b.MediaType)
}

func appendResult(dst []byte, call, r *core.Block, media []core.Block) []byte {
	dst = append(wire.AppendComma(dst), `{"functionResponse":{`...)
	if id := boundOf(call).ID; id != "" {
		dst = wire.AppendField(dst, "id", wire.CallID(id))
	}
	dst = wire.AppendField(dst, "name", wire.Name(call.Name))
	key := "output"
	if r.IsError {
		key = "error"
	}
	text := textOf(r.Content)
	if text == "" {
		text = noOutput
	}
	dst = append(wire.AppendField(append(wire.AppendKey(dst, "response"), '{'), key, text), '}')
	if len(media) > 0 {
		dst = append(wire.AppendKey(dst, "parts"), '[')
		for i := range media {
			dst = append(appendInline(dst, &media[i]), '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, `}}`...)
}

// textOf joins a result's texts with empty lines. Of a document that is no text
// the name stands here: the API has no other place for it.
func textOf(blocks []core.Block) string {
	var texts []string
	for i := range blocks {
		b := &blocks[i]
		switch {
		case b.Type == core.BlockText && !wire.IsBlank(b.Text):
			texts = append(texts, b.Text)
		case b.Type == core.BlockDocument && wire.IsText(b.MediaType):
			texts = append(texts, b.Name+"\n"+string(b.Data))
		case b.Type == core.BlockDocument && b.Name != "":
			texts = append(texts, b.Name)
		}
	}
	return strings.Join(texts, "\n\n")
}

// appendPart writes a block of the user's own.
func appendPart(dst []byte, b *core.Block) []byte {
	if isMedia(b) {
		if b.Type == core.BlockDocument && b.Name != "" {
			dst = appendText(dst, b.Name+":")
		}
		return append(appendInline(dst, b), '}')
	}
	if text := textOf([]core.Block{*b}); text != "" {
		return appendText(dst, text)
	}
	return dst
}
