package chat

import (
	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const (
	tail      = `]}`
	cacheMark = `,"cache_control":{"type":"ephemeral"}`
)

type encoder struct {
	info   *llm.Info
	quirks llm.Quirks
	// ids are those of all calls of the conversation; a server that counts its
	// calls from nought in every answer would otherwise repeat them.
	ids map[string]bool
}

func newEncoder(info *llm.Info, quirks llm.Quirks) *encoder {
	return &encoder{info: info, quirks: quirks, ids: map[string]bool{}}
}

// mark is the text of a cache mark, empty for a provider that wants none.
func (e *encoder) mark() string {
	if e.quirks.CacheControl {
		return cacheMark
	}
	return ""
}

func (e *encoder) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
	dst = wire.AppendField(append(dst, '{'), "model", e.info.ID)
	dst = append(dst, `,"stream":true`...)
	if !e.quirks.NoStreamUsage {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	if req.MaxTokens > 0 {
		field := e.quirks.MaxTokensField
		if field == "" {
			field = "max_tokens"
		}
		dst = wire.AppendInt(dst, field, req.MaxTokens)
	}
	dst = e.appendThinking(dst, req.Thinking)
	if e.quirks.CacheKey && req.SessionID != "" {
		dst = wire.AppendField(dst, "prompt_cache_key", req.SessionID)
	}
	dst, err := e.appendTools(dst, req.Tools)
	if err != nil {
		return nil, nil, err
	}
	dst = append(wire.AppendKey(dst, "messages"), '[')
	if wire.IsBlank(req.System) {
		return dst, nil, nil
	}
	role := e.quirks.SystemRole
	if role == "" {
		role = "system"
	}
	dst = wire.AppendKey(wire.AppendField(append(dst, '{'), "role", role), "content")
	dst, mark := e.appendText(dst, req.System)
	if mark < 0 {
		return append(dst, '}'), nil, nil
	}
	return append(dst, '}'), []int{mark}, nil
}

func (e *encoder) appendTools(dst []byte, tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return dst, nil
	}
	switch e.quirks.ParallelCalls { // refused where there are no tools
	case "on":
		dst = append(dst, `,"parallel_tool_calls":true`...)
	case "off":
		dst = append(dst, `,"parallel_tool_calls":false`...)
	}
	dst = append(wire.AppendKey(dst, "tools"), '[')
	for _, tool := range tools {
		dst = append(wire.AppendComma(dst), `{"type":"function","function":{`...)
		dst = wire.AppendField(dst, "name", tool.Name)
		dst = wire.AppendField(dst, "description", tool.Description)
		dst = wire.AppendKey(dst, "parameters")
		var err error
		if dst, err = wire.AppendSchema(dst, tool); err != nil {
			return nil, err
		}
		dst = append(dst, `}}`...)
	}
	return append(dst, ']'), nil
}

// appendText writes a content that is one text: a string, which every server
// reads, or for a provider that wants cache marks the one part that can carry
// one. mark is where, or -1.
func (e *encoder) appendText(dst []byte, text string) (out []byte, mark int) {
	if !e.quirks.CacheControl {
		return wire.AppendString(dst, text), -1
	}
	dst = wire.AppendField(append(dst, `[{"type":"text"`...), "text", text)
	mark = len(dst)
	return append(dst, `}]`...), mark
}

// AppendMessage is AppendFollowing for a message that nothing comes before.
func (e *encoder) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	return e.AppendFollowing(dst, nil, m)
}
