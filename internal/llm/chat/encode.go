package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const tail = `]}`

// What stands where a server refuses nothing at all.
const (
	noText   = "(no text)"
	noOutput = "(no output)"
	seeImage = "(an image, in the next message)"
)

type encoder struct {
	info   *llm.Info
	quirks llm.Quirks
	openAI bool
	// ids are those of all calls of the conversation; a server that counts its
	// calls from nought in every answer would otherwise repeat them.
	ids map[string]bool
}

func (e *encoder) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
	var err error
	dst = wire.AppendField(append(dst, '{'), "model", e.info.ID)
	dst = append(dst, `,"stream":true`...)
	if !e.quirks.NoStreamUsage {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	if req.MaxTokens > 0 {
		dst = wire.AppendInt(dst, e.maxTokensField(), req.MaxTokens)
	}
	dst = appendThinking(dst, e.info, req.Thinking)
	if e.openAI && req.SessionID != "" {
		dst = wire.AppendField(dst, "prompt_cache_key", req.SessionID)
	}
	if len(req.Tools) > 0 {
		dst = append(wire.AppendKey(dst, "tools"), '[')
		for _, tool := range req.Tools {
			dst = append(wire.AppendComma(dst), `{"type":"function","function":{`...)
			dst = wire.AppendField(dst, "name", tool.Name)
			dst = wire.AppendField(dst, "description", tool.Description)
			dst = wire.AppendKey(dst, "parameters")
			if dst, err = wire.AppendSchema(dst, tool); err != nil {
				return nil, nil, err
			}
			dst = append(dst, `}}`...)
		}
		dst = append(dst, ']')
	}
	dst = append(wire.AppendKey(dst, "messages"), '[')
	if !wire.IsBlank(req.System) {
		dst = append(wire.AppendField(append(dst, `{"role":"system"`...), "content", req.System), '}')
	}
	return dst, nil, nil
}

func (e *encoder) maxTokensField() string {
	switch {
	case e.quirks.MaxTokensField != "":
		return e.quirks.MaxTokensField
	case e.openAI:
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// AppendMessage writes a message as one or more: tool results are messages of
// their own, and their images follow in a user message.
func (e *encoder) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	if m.Role == core.RoleAssistant {
		return e.appendAssistant(dst, m), -1
	}
	start := len(dst)
	var parts []core.Block
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Type != core.BlockToolResult {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = e.appendResult(dst, b)
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
		return dst, -1
	}
	if len(dst) > start {
		dst = append(dst, ',')
	}
	return appendUser(dst, parts), -1
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

// callID is a call's id as the provider takes it. Mistral takes nine letters and
// digits only, and so no id that was made elsewhere.
func (e *encoder) callID(id string) string {
	if id = wire.CallID(id); e.info.Provider != "mistral" || len(id) == 9 && !strings.ContainsAny(id, "_-") {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

func (e *encoder) appendResult(dst []byte, b *core.Block) []byte {
	dst = wire.AppendField(append(dst, `{"role":"tool"`...), "tool_call_id", e.callID(b.ID))
	text := textOf(b.Content)
	if wire.IsBlank(text) {
		text = noOutput
		if len(attachments(b.Content)) > 0 {
			text = seeImage
		}
	}
	return append(wire.AppendField(dst, "content", text), '}')
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
func appendUser(dst []byte, parts []core.Block) []byte {
	dst = wire.AppendKey(append(dst, `{"role":"user"`...), "content")
	if len(attachments(parts)) == 0 {
		return append(wire.AppendString(dst, textOf(parts)), '}')
	}
	dst = append(dst, '[')
	for i := range parts {
		dst = appendPart(wire.AppendComma(dst), &parts[i])
	}
	return append(dst, `]}`...)
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
	text, calls := textOf(m.Blocks), m.ToolUses()
	dst = wire.AppendKey(append(dst, `{"role":"assistant"`...), "content")
	switch {
	case !wire.IsBlank(text):
		dst = wire.AppendString(dst, text)
	case len(calls) > 0:
		dst = append(dst, `null`...)
	default:
		dst = wire.AppendString(dst, noText)
	}
	for _, b := range m.Blocks {
		if b.Type == core.BlockThinking && b.Provider == Format {
			dst = appendMembers(dst, b.Opaque)
		}
	}
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
