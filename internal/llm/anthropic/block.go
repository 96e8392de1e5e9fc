package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// block is a content block that is arriving. Its members are kept in the order
// in which the server first named them, with the bytes of those that no delta
// touches, so that a block of a kind that is not known here goes back as it came.
type block struct {
	typ     string
	members []member
	runes   wire.Runes
	closed  bool
}

type member struct {
	key  string
	raw  json.RawMessage
	text []byte // what deltas made of it; nil where none did
	json bool   // text is JSON rather than a string's content
	list bool   // text is the elements of a JSON array
}

func newBlock(raw json.RawMessage) (*block, error) {
	members, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	b := &block{members: members}
	if b.typ = b.text("type"); b.typ == "" {
		return nil, errNoType
	}
	return b, nil
}

// membersOf splits an object without touching its values.
func membersOf(raw json.RawMessage) ([]member, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	members := make([]member, 0, len(object))
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		name, _ := key.(string)
		members = append(members, member{key: name, raw: value})
	}
	return members, nil
}

func (b *block) member(key string) *member {
	for i := range b.members {
		if b.members[i].key == key {
			return &b.members[i]
		}
	}
	return nil
}

// text is a member's string value by now.
func (b *block) text(key string) string {
	m := b.member(key)
	if m == nil {
		return ""
	}
	if m.text != nil {
		return string(m.text)
	}
	var t wire.Text
	if json.Unmarshal(m.raw, &t) != nil {
		return ""
	}
	return string(t)
}

// begin emits what the block's start already holds.
func (b *block) begin(emit func(llm.Event)) {
	switch b.typ {
	case "tool_use":
		emit(llm.ToolCallStarted{ID: b.text("id"), Name: b.text("name")})
	case "text", "thinking":
		if s := b.text(b.typ); s != "" {
			b.show(b.runes.Push(wire.Text(s)), emit)
		}
	}
	if tool, ok := strings.CutSuffix(b.typ, "_tool_result"); ok {
		e := llm.ServerTool{ID: b.text("tool_use_id"), Name: tool, Done: true}
		if m := b.member("content"); m != nil {
			e.Result, e.IsError = outcome(m.raw)
		}
		emit(e)
	}
}

// outcome is what a server tool came to, in a few words.
func outcome(content json.RawMessage) (words string, failed bool) {
	var failure struct {
		Code string `json:"error_code"`
	}
	if json.Unmarshal(content, &failure) == nil && failure.Code != "" {
		return failure.Code, true
	}
	var results []json.RawMessage
	switch {
	case json.Unmarshal(content, &results) != nil:
		return "", false
	case len(results) == 1:
		return "1 result", false
	}
	return fmt.Sprintf("%d results", len(results)), false
}

// add takes one delta. Each of its strings continues the member it belongs to.
func (b *block) add(raw json.RawMessage, emit func(llm.Event)) error {
	var d struct {
		Type        string     `json:"type"`
		Text        *wire.Text `json:"text"`
		Thinking    *wire.Text `json:"thinking"`
		PartialJSON *wire.Text `json:"partial_json"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	switch {
	case d.Type == "text_delta" && d.Text != nil:
		b.extend("text", b.shown(*d.Text, emit), false)
	case d.Type == "thinking_delta" && d.Thinking != nil:
		b.extend("thinking", b.shown(*d.Thinking, emit), false)
	case d.Type == "input_json_delta" && d.PartialJSON != nil:
		b.extend("input", b.runes.Push(*d.PartialJSON), true)
	default:
		return b.merge(raw)
	}
	return nil
}

func (b *block) shown(t wire.Text, emit func(llm.Event)) string {
	s := b.runes.Push(t)
	b.show(s, emit)
	return s
}

func (b *block) show(s string, emit func(llm.Event)) {
	switch {
	case s == "":
	case b.typ == "text":
		emit(llm.TextDelta{Text: s})
	case b.typ == "thinking":
		emit(llm.ThinkingDelta{Text: s})
	}
}

// extend appends to a member's text. JSON that arrives in pieces replaces the
// placeholder in the block's start instead of continuing it.
func (b *block) extend(key, s string, isJSON bool) {
	m := b.member(key)
	if m == nil {
		b.members = append(b.members, member{key: key})
		m = &b.members[len(b.members)-1]
	}
	if m.text == nil {
		start := ""
		if !isJSON {
			start = b.text(key)
		}
		m.text, m.json = []byte(start), isJSON
	}
	m.text = append(m.text, s...)
}

// merge takes a delta of another kind, such as a signature: its strings continue
// members of the same name, its other values replace them. A citation is added
// to the block's.
func (b *block) merge(raw json.RawMessage) error {
	members, err := membersOf(raw)
	if err != nil {
		return err
	}
	for _, d := range members {
		switch d.key {
		case "type":
			continue
		case "citation":
			b.cite(d.raw)
			continue
		}
		var t wire.Text
		if json.Unmarshal(d.raw, &t) == nil && string(d.raw) != "null" {
			b.extend(d.key, string(t), false)
			continue
		}
		if m := b.member(d.key); m != nil {
			m.raw, m.text = d.raw, nil
		} else {
			b.members = append(b.members, d)
		}
	}
	return nil
}

func (b *block) cite(citation json.RawMessage) {
	m := b.member("citations")
	if m == nil {
		b.members = append(b.members, member{key: "citations"})
		m = &b.members[len(b.members)-1]
	}
	if !m.list {
		m.list, m.text = true, []byte{}
		if start := bytes.TrimSpace(m.raw); len(start) > 0 && start[0] == '[' {
			m.text = append(m.text, bytes.TrimSpace(start[1:len(start)-1])...)
		}
	}
	if len(m.text) > 0 {
		m.text = append(m.text, ',')
	}
	m.text = append(m.text, citation...)
}

// cited reports whether a text has citations.
func (b *block) cited() bool {
	m := b.member("citations")
	if m == nil {
		return false
	}
	var list []json.RawMessage
	return len(m.text) > 0 || json.Unmarshal(m.raw, &list) == nil && len(list) > 0
}

func (b *block) close(emit func(llm.Event)) {
	if b.closed {
		return
	}
	b.closed = true
	switch rest := b.runes.Flush(); {
	case rest == "":
	case b.typ == "text" || b.typ == "thinking":
		b.extend(b.typ, rest, false)
		b.show(rest, emit)
	default:
		b.extend("input", rest, true)
	}
	if b.typ == "server_tool_use" {
		emit(llm.ServerTool{ID: b.text("id"), Name: b.text("name"), Input: b.input()})
	}
}

// core is the block for the conversation; false for one that holds nothing.
func (b *block) core() (core.Block, bool) {
	switch b.typ {
	case "text":
		out := core.Text(b.text("text"))
		if b.cited() {
			out.Provider, out.Opaque = Format, b.encode()
		}
		return out, !wire.IsBlank(out.Text)
	case "thinking":
		return core.Block{Type: core.BlockThinking, Text: b.text("thinking"), Provider: Format, Opaque: b.encode()}, true
	case "redacted_thinking":
		return core.Block{Type: core.BlockThinking, Provider: Format, Opaque: b.encode()}, true
	case "tool_use":
		return core.Block{Type: core.BlockToolUse, ID: b.callID(), Name: b.text("name"), Input: b.input()}, true
	}
	return core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: b.encode()}, true
}

func (b *block) callID() string {
	if id := b.text("id"); id != "" {
		return id
	}
	return core.NewCallID()
}

// input is a call's arguments as the model wrote them. A call without any gets
// the empty object that its start holds.
func (b *block) input() string {
	m := b.member("input")
	switch {
	case m == nil:
		return "{}"
	case len(bytes.TrimSpace(m.text)) > 0:
		return string(m.text)
	case len(m.raw) > 0 && string(m.raw) != "null":
		return string(m.raw)
	}
	return "{}"
}

// encode writes the block as JSON.
func (b *block) encode() string {
	out := []byte{'{'}
	for i := range b.members {
		m := &b.members[i]
		out = wire.AppendString(wire.AppendComma(out), m.key)
		out = append(out, ':')
		switch {
		case m.text == nil, m.json && !json.Valid(m.text):
			if m.raw == nil {
				m.raw = json.RawMessage("{}")
			}
			out = append(out, m.raw...)
		case m.list:
			out = append(append(append(out, '['), m.text...), ']')
		case m.json:
			out = append(out, m.text...)
		default:
			out = wire.AppendString(out, string(m.text))
		}
	}
	return string(append(out, '}'))
}
