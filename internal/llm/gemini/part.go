package gemini

import (
	"encoding/json"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// part is what is read of a part; of one whose kind is not known here the bytes
// are kept.
type part struct {
	Text      *wire.Text      `json:"text"`
	Thought   bool            `json:"thought"`
	Signature json.RawMessage `json:"thoughtSignature"`
	Call      *functionCall   `json:"functionCall"`
	Inline    *blob           `json:"inlineData"`
	ToolCall  *serverCall     `json:"toolCall"`
	ToolReply *serverCall     `json:"toolResponse"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type blob struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data"`
}

// run is text, or thinking, that arrives in pieces.
type run struct {
	thought bool
	text    strings.Builder
	runes   wire.Runes
}

// part takes the next part; data is the event that holds it.
func (a *answer) part(raw json.RawMessage, data []byte) error {
	var p part
	if err := json.Unmarshal(raw, &p); err != nil {
		return a.reply.BadEvent(data, err)
	}
	p.Signature = signature(p.Signature)
	switch {
	case p.Call != nil:
		a.close()
		a.call(&p)
	case p.ToolCall != nil, p.ToolReply != nil:
		a.keep(raw)
		a.search.tool(&p, a.emit)
	case p.Inline != nil && !p.Thought && strings.HasPrefix(p.Inline.MediaType, "image/") && len(p.Inline.Data) > 0:
		a.close()
		a.blocks = append(a.blocks, p.image())
	case p.Text != nil, p.Signature != nil && holdsNothing(raw):
		a.text(&p)
	case !holdsNothing(raw):
		a.keep(raw)
		if p.Thought {
			a.blocks[len(a.blocks)-1].Type = core.BlockThinking
		}
	}
	return nil
}

// keep puts a part into the answer as it came.
func (a *answer) keep(raw json.RawMessage) {
	a.close()
	a.blocks = append(a.blocks, core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: string(raw)})
}

// holdsNothing reports whether a part has none of the members that hold its data.
func holdsNothing(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return true
	}
	for key := range members {
		switch key {
		case "thought", "thoughtSignature", "partMetadata":
		default:
			return false
		}
	}
	return true
}

// image is an image that the model made. It always has something bound to it: that
// tells it from one that somebody put into an answer.
func (p *part) image() core.Block {
	b := core.Block{Type: core.BlockImage, MediaType: p.Inline.MediaType, Data: p.Inline.Data, Provider: Format, Opaque: "{}"}
	return bound{Signature: p.Signature}.bind(b)
}

// call takes a call, which always comes whole.
func (a *answer) call(p *part) {
	id := p.Call.ID
	if id == "" {
		id = core.NewCallID()
	}
	a.emit(llm.ToolCallStarted{ID: id, Name: p.Call.Name})
	b := core.Block{Type: core.BlockToolUse, ID: id, Name: p.Call.Name, Input: p.Call.input()}
	a.blocks = append(a.blocks, bound{ID: p.Call.ID, Signature: p.Signature}.bind(b))
}

// input is a call's arguments as they came. A server that puts text in a string
// there hands on what the model really wrote, which may be broken.
func (c *functionCall) input() string {
	s := string(c.Args)
	if strings.HasPrefix(s, `"`) {
		var t wire.Text
		if t.UnmarshalJSON(c.Args) == nil {
			s = whole(t)
		}
	}
	if wire.IsBlank(s) || s == "null" {
		return "{}"
	}
	return s
}

// text takes a piece of text or of thinking. Pieces are joined, except that what
// is signed must go back as the part it was.
func (a *answer) text(p *part) {
	var t wire.Text
	if p.Text != nil {
		t = *p.Text
	}
	if p.Thought && p.Signature != nil {
		a.close()
		a.signedThought(whole(t), p.Signature)
		return
	}
	if a.run != nil && a.run.thought != p.Thought {
		a.close()
	}
	if a.run == nil {
		if t == "" && p.Signature == nil {
			return
		}
		a.run = &run{thought: p.Thought}
	}
	from := a.run.text.Len()
	a.say(a.run.runes.Push(t))
	if p.Signature != nil {
		a.seal(bound{From: from, Signature: p.Signature})
	}
}

func (a *answer) signedThought(text string, sig json.RawMessage) {
	if text != "" {
		a.emit(llm.ThinkingDelta{Text: text})
	}
	raw := string(append(appendSignature(thought(text), sig), '}'))
	a.blocks = append(a.blocks, core.Block{Type: core.BlockThinking, Text: text, Provider: Format, Opaque: raw})
}

// thought begins a part that holds thinking.
func thought(text string) []byte {
	return append(wire.AppendField([]byte{'{'}, "text", text), `,"thought":true`...)
}

func (a *answer) say(s string) {
	switch a.run.text.WriteString(s); {
	case s == "":
	case a.run.thought:
		a.emit(llm.ThinkingDelta{Text: s})
	default:
		a.emit(llm.TextDelta{Text: s})
	}
}

// close ends the run.
func (a *answer) close() {
	if a.run != nil {
		a.seal(bound{})
	}
}

// seal ends the run with what is bound to it.
func (a *answer) seal(v bound) {
	a.say(a.run.runes.Flush())
	text, thinking := a.run.text.String(), a.run.thought
	a.run = nil
	switch {
	case thinking:
		raw := string(append(thought(text), '}'))
		a.blocks = append(a.blocks, core.Block{Type: core.BlockThinking, Text: text, Provider: Format, Opaque: raw})
	case !wire.IsBlank(text):
		a.blocks = append(a.blocks, v.bind(core.Text(text)))
	case v.Signature != nil: // a part that is there for its signature
		raw := appendSignature(wire.AppendField([]byte{'{'}, "text", text), v.Signature)
		a.blocks = append(a.blocks, core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: string(append(raw, '}'))})
	}
}

// whole is a text that is complete, so that half a rune in it is an error.
func whole(t wire.Text) string {
	var r wire.Runes
	return r.Push(t) + r.Flush()
}
