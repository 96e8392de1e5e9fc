package responses

import (
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const tail = `]}`

// noOutput stands for an empty result, which some servers refuse.
const noOutput = "(no output)"

type encoder struct {
	info      *llm.Info
	quirks    llm.Quirks
	noSummary bool
	// custom holds the ids of the calls that were sent as custom_tool_call: their
	// results are items of a kind of their own.
	custom map[string]bool
}

func newEncoder(info *llm.Info, quirks llm.Quirks) *encoder {
	return &encoder{info: info, quirks: quirks, custom: map[string]bool{}}
}

func (e *encoder) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
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
	dst, err := e.appendTools(dst, req)
	if err != nil {
		return nil, nil, err
	}
	return append(wire.AppendKey(dst, "input"), '['), nil, nil
}

func (e *encoder) appendTools(dst []byte, req *llm.Request) ([]byte, error) {
	search := e.quirks.WebSearch && slices.Contains(req.ServerTools, webSearch)
	if len(req.Tools) == 0 && !search {
		return dst, nil
	}
	switch e.quirks.ParallelCalls {
	case "on":
		dst = append(dst, `,"parallel_tool_calls":true`...)
	case "off":
		dst = append(dst, `,"parallel_tool_calls":false`...)
	}
	dst = append(wire.AppendKey(dst, "tools"), '[')
	for _, tool := range req.Tools {
		dst = wire.AppendComma(dst)
		if tool.FreeText != nil && e.quirks.CustomTools {
			dst = appendCustomTool(dst, tool)
			continue
		}
		dst = append(dst, `{"type":"function"`...)
		dst = wire.AppendField(dst, "name", tool.Name)
		dst = wire.AppendField(dst, "description", tool.Description)
		dst = wire.AppendKey(dst, "parameters")
		var err error
		if dst, err = wire.AppendSchema(dst, tool); err != nil {
			return nil, err
		}
		dst = append(dst, `,"strict":false}`...)
	}
	if search {
		dst = append(wire.AppendComma(dst), `{"type":"web_search"}`...)
	}
	return append(dst, ']'), nil
}

func appendCustomTool(dst []byte, tool llm.ToolSpec) []byte {
	dst = wire.AppendField(append(dst, `{"type":"custom"`...), "name", tool.Name)
	dst = wire.AppendField(dst, "description", tool.Description)
	if free := tool.FreeText; free.Syntax != "" {
		dst = append(dst, `,"format":{"type":"grammar"`...)
		dst = wire.AppendField(dst, "syntax", free.Syntax)
		dst = append(wire.AppendField(dst, "definition", free.Definition), '}')
	}
	return append(dst, '}')
}

// appendReasoning asks for the level and for summaries, without which nothing
// shows that the model thinks.
func (e *encoder) appendReasoning(dst []byte, level llm.ThinkingLevel) []byte {
	effort := e.effort(level)
	summary := !e.noSummary && effort != "none"
	if effort == "" && !summary {
		return dst
	}
	dst = append(dst, `,"reasoning":{`...)
	if effort != "" {
		dst = wire.AppendField(dst, "effort", effort)
	}
	if summary {
		dst = wire.AppendField(dst, "summary", "auto")
	}
	return append(dst, '}')
}

// effort is the word for a level: the nearest that the model takes, or of the
// whole scale where nobody knows. A model that cannot do without thinking is
// told to think as little as it can.
func (e *encoder) effort(level llm.ThinkingLevel) string {
	if level == llm.ThinkDefault || e.quirks.ThinkingField == llm.ThinkUntold {
		return ""
	}
	words := e.info.Efforts
	if len(words) == 0 {
		words = strings.Split("none,low,medium,high,xhigh", ",")
		if e.quirks.Efforts != "" {
			words = strings.Split(e.quirks.Efforts, ",")
		}
	}
	if level == llm.ThinkOff && e.quirks.ThinkOffWord != "" && !e.quirks.ThinksAlways {
		return e.quirks.ThinkOffWord
	}
	return llm.Effort(level, words)
}

// AppendMessage writes a message as items: results, calls and reasoning are items
// of their own; text and images between them share a message item.
func (e *encoder) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	w := items{encoder: e, dst: dst, start: len(dst), role: string(m.Role)}
	// Results come first, right behind their calls.
	for i := range m.Blocks {
		if m.Blocks[i].Type == core.BlockToolResult {
			w.item()
			w.dst = e.appendResult(w.dst, &m.Blocks[i])
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
	*encoder
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
		if w.role == string(core.RoleAssistant) {
			w.answer(b.Text, extraOf(b))
			return
		}
		w.part()
		w.dst = append(wire.AppendField(append(w.dst, `{"type":"input_text"`...), "text", b.Text), '}')
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
		w.call(b)
	}
}

func (w *items) call(b *core.Block) {
	kind, field := `{"type":"function_call"`, "arguments"
	input, free := freeText(b)
	if free {
		kind, field = `{"type":"custom_tool_call"`, "input"
		w.custom[b.ID] = true
	} else {
		input = wire.Arguments(b.Input)
	}
	w.dst = wire.AppendField(append(w.dst, kind...), "call_id", wire.CallID(b.ID))
	w.dst = wire.AppendField(w.dst, "name", wire.Name(b.Name))
	w.dst = append(wire.AppendField(w.dst, field, input), '}')
}

// answer writes a text of the model. It goes as plain content: parts of the kind
// output_text belong to a whole output message, whose id and status Garuda does
// not keep, and servers that check refuse them without. Only citations need the
// part; what the provider says of the message besides is its phase.
func (w *items) answer(text string, extra *textExtra) {
	w.item()
	w.dst = wire.AppendField(append(w.dst, `{"type":"message"`...), "role", w.role)
	if extra != nil && extra.Phase != "" {
		w.dst = wire.AppendField(w.dst, "phase", extra.Phase)
	}
	if extra == nil || len(extra.Annotations) == 0 {
		w.dst = append(wire.AppendField(w.dst, "content", text), '}')
		return
	}
	w.dst = append(wire.AppendKey(w.dst, "content"), `[{"type":"output_text"`...)
	w.dst = wire.AppendField(w.dst, "text", text)
	w.dst = append(append(wire.AppendKey(w.dst, "annotations"), extra.Annotations...), `}]}`...)
}

func appendData(dst []byte, b *core.Block) []byte {
	switch {
	case b.Type == core.BlockImage:
		dst = append(dst, `{"type":"input_image","detail":"auto","image_url":`...)
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
func (e *encoder) appendResult(dst []byte, b *core.Block) []byte {
	kind := `{"type":"function_call_output"`
	if e.custom[b.ID] {
		kind = `{"type":"custom_tool_call_output"`
	}
	dst = wire.AppendField(append(dst, kind...), "call_id", wire.CallID(b.ID))
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
