package chat

import (
	"crypto/sha256"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

// What stands where a server refuses nothing at all.
const (
	noText   = "(no text)"
	noOutput = "(no output)"
	seeImage = "(an image, in the next message)"
)

// What is put between two messages where a server wants turns to alternate.
const (
	bridgeAssistant = `{"role":"assistant","content":"Understood."}`
	bridgeUser      = `{"role":"user","content":"Continue."}`
)

// AppendFollowing writes a message as one or more: tool results are messages of
// their own, and their images follow in a user message, because a tool message
// holds text only.
func (e *encoder) AppendFollowing(dst []byte, prev, m *core.Message) ([]byte, int) {
	if m.Role == core.RoleAssistant {
		if e.quirks.Alternate && (prev == nil || prev.Role == core.RoleAssistant) {
			dst = append(append(dst, bridgeUser...), ',')
		}
		return e.appendAssistant(dst, m), -1
	}
	start, mark := len(dst), -1
	var parts []core.Block
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Type != core.BlockToolResult {
			continue
		}
		dst, mark = e.appendResult(between(dst, start), b)
		if images := attachments(b.Content); len(images) > 0 {
			parts = append(append(parts, core.Text("Returned by the call "+e.callID(b.ID)+":")), images...)
		}
	}
	for _, b := range m.Blocks {
		if isPart(&b) {
			parts = append(parts, b)
		}
	}
	if len(parts) == 0 {
		return dst, mark
	}
	if e.quirks.Alternate && (len(dst) > start || e.afterUser(prev)) {
		dst = append(between(dst, start), bridgeAssistant...)
	}
	return e.appendUser(between(dst, start), parts)
}

// afterUser reports whether what was sent last is the user's, a tool's result, or
// a system prompt that had to go as the user's.
func (e *encoder) afterUser(prev *core.Message) bool {
	if prev == nil {
		return e.quirks.SystemRole == string(core.RoleUser)
	}
	return prev.Role == core.RoleUser
}

// between puts a comma behind what was written since start.
func between(dst []byte, start int) []byte {
	if len(dst) > start {
		return append(dst, ',')
	}
	return dst
}

// isPart reports whether a user's block is sent in a user message.
func isPart(b *core.Block) bool {
	switch b.Type {
	case core.BlockText:
		return !wire.IsBlank(b.Text)
	case core.BlockImage, core.BlockDocument:
		return true
	}
	return false
}

func attachments(blocks []core.Block) []core.Block {
	var out []core.Block
	for _, b := range blocks {
		if b.Type == core.BlockImage || b.Type == core.BlockDocument && !wire.IsText(b.MediaType) {
			out = append(out, b)
		}
	}
	return out
}

const (
	shortIDs = "short"
	ownIDs   = "own"
	shortLen = 9
)

// callID is a call's id as the provider takes it. It depends on nothing but the
// id, so that a call and its result fit together and stay the same for ever.
func (e *encoder) callID(id string) string {
	switch e.quirks.CallIDs {
	case ownIDs:
		if id != "" && len(id) <= 128 && strings.IndexFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) < 0 {
			return id
		}
	case shortIDs:
		id = wire.CallID(id)
		if len(id) == shortLen && !strings.ContainsAny(id, "_-") {
			return id
		}
		const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		sum := sha256.Sum256([]byte(id))
		short := make([]byte, shortLen)
		for i := range short {
			short[i] = digits[int(sum[i])%len(digits)]
		}
		return string(short)
	}
	return wire.CallID(id)
}

func (e *encoder) appendResult(dst []byte, b *core.Block) ([]byte, int) {
	dst = wire.AppendField(append(dst, `{"role":"tool"`...), "tool_call_id", e.callID(b.ID))
	text := textOf(b.Content)
	if wire.IsBlank(text) {
		text = noOutput
		if len(attachments(b.Content)) > 0 {
			text = seeImage
		}
	}
	dst, mark := e.appendText(wire.AppendKey(dst, "content"), text)
	return append(dst, '}'), mark
}

// textOf joins texts, and documents that are text, with an empty line.
func textOf(blocks []core.Block) string {
	var texts []string
	for _, b := range blocks {
		switch {
		case b.Type == core.BlockText && !wire.IsBlank(b.Text):
			texts = append(texts, b.Text)
		case b.Type == core.BlockDocument && wire.IsText(b.MediaType):
			texts = append(texts, b.Name+"\n"+string(b.Data))
		}
	}
	return strings.Join(texts, "\n\n")
}

// appendUser writes text alone as one string: many servers' templates know
// nothing else.
func (e *encoder) appendUser(dst []byte, parts []core.Block) ([]byte, int) {
	dst = wire.AppendKey(append(dst, `{"role":"user"`...), "content")
	if len(attachments(parts)) == 0 {
		dst, mark := e.appendText(dst, textOf(parts))
		return append(dst, '}'), mark
	}
	dst, mark := append(dst, '['), -1
	for i := range parts {
		dst = appendPart(wire.AppendComma(dst), &parts[i])
		if e.quirks.CacheControl && len(attachments(parts[i:i+1])) == 0 {
			mark = len(dst) - 1
		}
	}
	return append(dst, `]}`...), mark
}

func appendPart(dst []byte, b *core.Block) []byte {
	switch {
	case b.Type == core.BlockImage:
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		return append(wire.AppendDataURL(dst, b.MediaType, b.Data), `}}`...)
	case b.Type == core.BlockDocument && !wire.IsText(b.MediaType):
		name := b.Name
		if name == "" {
			name = "document"
		}
		dst = wire.AppendField(append(dst, `{"type":"file","file":{`...), "filename", name)
		return append(wire.AppendDataURL(wire.AppendKey(dst, "file_data"), b.MediaType, b.Data), `}}`...)
	}
	return append(wire.AppendField(append(dst, `{"type":"text"`...), "text", textOf([]core.Block{*b})), '}')
}

// appendAssistant never writes an empty message, which servers refuse for ever
// after. One that holds nothing to send still takes its turn: the templates of
// local models want user and assistant to alternate.
func (e *encoder) appendAssistant(dst []byte, m *core.Message) []byte {
	calls := m.ToolUses()
	dst = append(dst, `{"role":"assistant"`...)
	dst = e.appendSpoken(dst, m, len(calls) > 0)
	dst = e.appendPlayback(dst, m)
	if len(calls) > 0 {
		dst = append(wire.AppendKey(dst, "tool_calls"), '[')
		for i := range calls {
			e.ids[calls[i].ID] = true
			dst = e.appendCall(wire.AppendComma(dst), &calls[i])
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendSpoken writes the content of an assistant's message.
func (e *encoder) appendSpoken(dst []byte, m *core.Message, calls bool) []byte {
	text, thought := textOf(m.Blocks), ""
	if e.quirks.Playback == llm.PlaybackTags || e.quirks.Playback == llm.PlaybackContent {
		thought = thoughtOf(m)
	}
	blank := wire.IsBlank(text)
	switch {
	case thought != "" && e.quirks.Playback == llm.PlaybackTags && (calls || !blank):
		return wire.AppendField(dst, "content", openTag+"\n"+thought+"\n"+closeTag+"\n\n"+text)
	case thought != "" && e.quirks.Playback == llm.PlaybackContent && (calls || !blank):
		dst = append(wire.AppendKey(dst, "content"), `[{"type":"thinking","thinking":[{"type":"text"`...)
		dst = append(wire.AppendField(dst, "text", thought), `}]}`...)
		if !blank {
			dst = append(wire.AppendField(append(dst, `,{"type":"text"`...), "text", text), '}')
		}
		return append(dst, ']')
	case !blank:
		return wire.AppendField(dst, "content", text)
	case !calls:
		return wire.AppendField(dst, "content", noText)
	}
	switch e.quirks.EmptyContent {
	case "absent":
		return dst
	case "string":
		return append(dst, `,"content":""`...)
	}
	return append(dst, `,"content":null`...)
}

func (e *encoder) appendCall(dst []byte, b *core.Block) []byte {
	dst = wire.AppendField(append(dst, '{'), "id", e.callID(b.ID))
	dst = wire.AppendField(append(dst, `,"type":"function","function":{`...), "name", wire.Name(b.Name))
	dst = append(wire.AppendField(dst, "arguments", wire.Arguments(b.Input)), '}')
	if b.Provider == Format {
		dst = appendMembers(dst, b.Opaque)
	}
	return append(dst, '}')
}

// appendMembers puts the members of an object, byte for byte, into the one that
// is being written.
func appendMembers(dst []byte, opaque string) []byte {
	raw := strings.TrimSpace(wire.Raw(opaque))
	if len(raw) < 2 {
		return dst
	}
	members := strings.TrimSpace(raw[1 : len(raw)-1])
	if members == "" {
		return dst
	}
	return append(append(dst, ','), members...)
}
