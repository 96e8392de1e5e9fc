package anthropic

import (
	"slices"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const (
	tail      = `]}`
	cacheMark = `,"cache_control":{"type":"ephemeral"}`
)

type encoder struct {
	info *llm.Info
	host Host
	// search says that the host has the web search tool.
	search bool
	// open is what stands before the request, where it is part of a larger one.
	open string
}

// AppendHead writes everything that stays, with room for a cache mark at the
// system prompt and at the last tool.
func (e *encoder) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
	var marks []int
	var err error
	dst = append(append(dst, e.open...), '{')
	if e.host.Version == "" {
		dst = wire.AppendField(dst, "model", e.info.ID)
	} else {
		dst = wire.AppendField(dst, "anthropic_version", e.host.Version)
	}
	if beta := betaOf(e.info); beta != "" && e.host.BodyBetas {
		dst = append(wire.AppendString(append(wire.AppendKey(dst, "anthropic_beta"), '['), beta), ']')
	}
	dst = wire.AppendInt(dst, "max_tokens", req.MaxTokens)
	if !e.host.Streams {
		dst = append(dst, `,"stream":true`...)
	}
	dst = appendThinking(dst, e.info, req.Thinking, req.MaxTokens)
	if !wire.IsBlank(req.System) {
		dst = append(wire.AppendKey(dst, "system"), '[')
		dst = appendText(dst, req.System)
		marks = append(marks, len(dst)-1)
		dst = append(dst, ']')
	}
	before := len(dst)
	dst = append(wire.AppendKey(dst, "tools"), '[')
	empty := len(dst)
	if dst, err = appendTools(dst, req.Tools); err != nil {
		return nil, nil, err
	}
	if e.search && slices.Contains(req.ServerTools, "web_search") {
		dst = append(wire.AppendComma(dst), webSearch...)
	}
	if len(dst) == empty {
		dst = dst[:before]
	} else {
		marks = append(marks, len(dst)-1)
		dst = append(dst, ']')
	}
	return append(wire.AppendKey(dst, "messages"), '['), marks, nil
}

// webSearch is the search that the API runs itself. Later versions of the tool
// exist; this is the one that every model knows and that needs no other tool.
const webSearch = `{"type":"web_search_20250305","name":"web_search"}`

func appendTools(dst []byte, tools []llm.ToolSpec) ([]byte, error) {
	var err error
	for _, tool := range tools {
		dst = append(wire.AppendComma(dst), '{')
		dst = wire.AppendField(dst, "name", tool.Name)
		dst = wire.AppendField(dst, "description", tool.Description)
		dst = wire.AppendKey(dst, "input_schema")
		if dst, err = wire.AppendSchema(dst, tool); err != nil {
			return nil, err
		}
		dst = append(dst, '}')
	}
	return dst, nil
}

// AppendMessage writes one message. Tool results come before a user's own words:
// the API wants them right behind their calls.
func (e *encoder) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	start, mark := len(dst), -1
	out := append(wire.AppendField(append(dst, '{'), "role", string(m.Role)), `,"content":[`...)
	empty := len(out)
	blocks := wire.Spoken(m.Blocks, Format) // a message that ends in thinking is refused
	for _, results := range []bool{true, false} {
		for i := range blocks {
			b := &blocks[i]
			if (b.Type == core.BlockToolResult) != results {
				continue
			}
			before := len(out)
			out = wire.AppendComma(out)
			from := len(out)
			if out = appendBlock(out, b); len(out) == from {
				out = out[:before]
			} else if markable(b) {
				mark = len(out) - 1
			}
		}
	}
	if len(out) == empty {
		return out[:start], -1
	}
	return append(out, `]}`...), mark
}

// markable reports whether a block may carry a cache mark. Thinking may not, and
// a provider's own blocks go back as they came.
func markable(b *core.Block) bool {
	return b.Type != core.BlockThinking && b.Type != core.BlockOpaque && (b.Type != core.BlockText || b.Opaque == "")
}

// appendBlock appends nothing for a block that cannot be sent: blank text, and
// what belongs to another provider.
func appendBlock(dst []byte, b *core.Block) []byte {
	switch b.Type {
	case core.BlockText:
		if wire.IsBlank(b.Text) {
			return dst
		}
		if b.Provider == Format { // it has citations
			if raw := wire.Raw(b.Opaque); raw != "" {
				return append(dst, raw...)
			}
		}
		return appendText(dst, b.Text)
	case core.BlockThinking, core.BlockOpaque:
		if b.Provider == Format {
			return append(dst, wire.Raw(b.Opaque)...)
		}
	case core.BlockToolUse:
		dst = append(dst, `{"type":"tool_use"`...)
		dst = wire.AppendField(dst, "id", wire.CallID(b.ID))
		dst = wire.AppendField(dst, "name", wire.Name(b.Name))
		dst = append(wire.AppendKey(dst, "input"), wire.Arguments(b.Input)...)
		return append(dst, '}')
	case core.BlockToolResult:
		return appendResult(dst, b)
	case core.BlockImage:
		dst = append(dst, `{"type":"image","source":{"type":"base64"`...)
		return appendData(dst, b.MediaType, b.Data)
	case core.BlockDocument:
		return appendDocument(dst, b)
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(wire.AppendField(append(dst, `{"type":"text"`...), "text", s), '}')
}

func appendData(dst []byte, mediaType string, data []byte) []byte {
	dst = wire.AppendField(dst, "media_type", mediaType)
	return append(wire.AppendBase64(wire.AppendKey(dst, "data"), data), `}}`...)
}

func appendDocument(dst []byte, b *core.Block) []byte {
	dst = append(dst, `{"type":"document"`...)
	if b.Name != "" {
		dst = wire.AppendField(dst, "title", b.Name)
	}
	if wire.IsText(b.MediaType) {
		dst = append(dst, `,"source":{"type":"text","media_type":"text/plain"`...)
		return append(wire.AppendField(dst, "data", string(b.Data)), `}}`...)
	}
	return appendData(append(dst, `,"source":{"type":"base64"`...), b.MediaType, b.Data)
}

func appendResult(dst []byte, b *core.Block) []byte {
	dst = append(dst, `{"type":"tool_result"`...)
	dst = wire.AppendField(dst, "tool_use_id", wire.CallID(b.ID))
	before := len(dst)
	dst = append(wire.AppendKey(dst, "content"), '[')
	empty := len(dst)
	for i := range b.Content {
		at := len(dst)
		dst = wire.AppendComma(dst)
		from := len(dst)
		if dst = appendBlock(dst, &b.Content[i]); len(dst) == from {
			dst = dst[:at]
		}
	}
	if len(dst) == empty {
		dst = dst[:before]
	} else {
		dst = append(dst, ']')
	}
	if b.IsError {
		dst = append(dst, `,"is_error":true`...)
	}
	return append(dst, '}')
}
