package responses

import (
	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const tail = `]}`

// noOutput stands for an empty result, which some servers refuse.
const noOutput = "(no output)"

type encoder struct {
	info      *llm.Info
	noSummary bool
}

func (e *encoder) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
	var err error
	dst = wire.AppendField(append(dst, '{'), "model", e.info.ID)
	dst = append(dst, `,"stream":true,"store":false`...)
	if req.MaxTokens > 0 {
		dst = wire.AppendInt(dst, "max_output_tokens", req.MaxTokens)
	}
	if req.SessionID != "" {
		dst = wire.AppendField(dst, "prompt_cache_key", req.SessionID)
	}
	if e.info.Thinks {
		dst = append(dst, `,"include":["reasoning.encrypted_content"]`...)
		dst = e.appendReasoning(dst, req.Thinking)
	}
	if !wire.IsBlank(req.System) {
		dst = wire.AppendField(dst, "instructions", req.System)
	}
	if len(req.Tools) > 0 {
		dst = append(wire.AppendKey(dst, "tools"), '[')
		for _, tool := range req.Tools {
			dst = append(wire.AppendComma(dst), `{"type":"function"`...)
			dst = wire.AppendField(dst, "name", tool.Name)
			dst = wire.AppendField(dst, "description", tool.Description)
			dst = wire.AppendKey(dst, "parameters")
			if dst, err = wire.AppendSchema(dst, tool); err != nil {
				return nil, nil, err
			}
			dst = append(dst, `,"strict":false}`...)
		}
		dst = append(dst, ']')
	}
	return append(wire.AppendKey(dst, "input"), '['), nil, nil
}

// appendReasoning asks for the level and for summaries, without which nothing
// shows that the model thinks. The scale ends at xhigh.
func (e *encoder) appendReasoning(dst []byte, level llm.ThinkingLevel) []byte {
	effort := string(level)
	switch level {
	case llm.ThinkOff:
		return append(dst, `,"reasoning":{"effort":"none"}`...)
	case llm.ThinkMax:
		effort = string(llm.ThinkXHigh)
	}
	if effort == "" && e.noSummary {
		return dst
	}
	dst = append(dst, `,"reasoning":{`...)
	if effort != "" {
		dst = wire.AppendField(dst, "effort", effort)
	}
	if !e.noSummary {
		dst = wire.AppendField(dst, "summary", "auto")
	}
	return append(dst, '}')
}

// AppendMessage writes a message as items: results, calls and reasoning are items
// of their own; text and images between them share a message item.
func (e *encoder) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	w := items{dst: dst, start: len(dst), role: string(m.Role)}
	// Results come first, right behind their calls.
	for i := range m.Blocks {
		if m.Blocks[i].Type == core.BlockToolResult {
			w.item()
			w.dst = appendResult(w.dst, &m.Blocks[i])
		}
	}
	// Reasoning without the item that it led to is refused.
	for _, b := range wire.Spoken(m.Blocks, Format) {
		w.block(&b)
	}
	w.closeMessage()
	return w.dst, -1
}

// items writes the items of one message.
type items struct {
	dst   []byte
	start int
	role  string
	open  bool // a message item is open
}

// item makes room for the next item.
func (w *items) item() {
	w.closeMessage()
	if len(w.dst) > w.start {
		w.dst = append(w.dst, ',')
	}
}

func (w *items) closeMessage() {
	if w.open {
		w.dst, w.open = append(w.dst, `]}`...), false
	}
}

// part makes room for a part of a message item.
func (w *items) part() {
	if !w.open {
		w.item()
		w.dst = wire.AppendField(append(w.dst, `{"type":"message"`...), "role", w.role)
		w.dst, w.open = append(wire.AppendKey(w.dst, "content"), '['), true
	}
	w.dst = wire.AppendComma(w.dst)
}

func (w *items) block(b *core.Block) {
	switch b.Type {
	case core.BlockText:
		if wire.IsBlank(b.Text) {
			return
		}
		w.part()
		kind := `{"type":"input_text"`
		if w.role == string(core.RoleAssistant) {
			kind = `{"type":"output_text"`
		}
		w.dst = append(wire.AppendField(append(w.dst, kind...), "text", b.Text), '}')
	case core.BlockImage, core.BlockDocument:
		w.part()
		w.dst = appendData(w.dst, b)
	case core.BlockThinking, core.BlockOpaque:
		if raw := wire.Raw(b.Opaque); b.Provider == Format && raw != "" {
			w.item()
			w.dst = append(w.dst, raw...)
		}
	case core.BlockToolUse:
		w.item()
		w.dst = wire.AppendField(append(w.dst, `{"type":"function_call"`...), "call_id", wire.CallID(b.ID))
		w.dst = wire.AppendField(w.dst, "name", wire.Name(b.Name))
		w.dst = append(wire.AppendField(w.dst, "arguments", wire.Arguments(b.Input)), '}')
	}
}

func appendData(dst []byte, b *core.Block) []byte {
	switch {
	case b.Type == core.BlockImage:
		dst = append(dst, `{"type":"input_image","image_url":`...)
		return append(wire.AppendDataURL(dst, b.MediaType, b.Data), '}')
	case wire.IsText(b.MediaType):
		return append(wire.AppendField(append(dst, `{"type":"input_text"`...), "text", b.Name+"\n"+string(b.Data)), '}')
	}
	name := b.Name
	if name == "" {
		name = "document"
	}
	dst = wire.AppendField(append(dst, `{"type":"input_file"`...), "filename", name)
	return append(wire.AppendDataURL(wire.AppendKey(dst, "file_data"), b.MediaType, b.Data), '}')
}

// appendResult writes text alone as one string, which every server reads.
func appendResult(dst []byte, b *core.Block) []byte {
	dst = wire.AppendField(append(dst, `{"type":"function_call_output"`...), "call_id", wire.CallID(b.ID))
	dst = wire.AppendKey(dst, "output")
	onlyText := true
	for _, c := range b.Content {
		onlyText = onlyText && c.Type == core.BlockText
	}
	if onlyText {
		text := b.ResultText()
		if wire.IsBlank(text) {
			text = noOutput
		}
		return append(wire.AppendString(dst, text), '}')
	}
	dst = append(dst, '[')
	for i := range b.Content {
		switch c := &b.Content[i]; {
		case c.Type == core.BlockText && !wire.IsBlank(c.Text):
			dst = append(wire.AppendComma(dst), `{"type":"input_text"`...)
			dst = append(wire.AppendField(dst, "text", c.Text), '}')
		case c.Type == core.BlockImage, c.Type == core.BlockDocument:
			dst = appendData(wire.AppendComma(dst), c)
		}
	}
	return append(dst, `]}`...)
}
