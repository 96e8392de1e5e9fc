package gemini

import (
	"slices"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/wire"
)

const tail = `]}`

// webSearch is Garuda's name for the search that a provider runs itself.
const webSearch = "web_search"

// unsigned is what the API's page on thought signatures names for a call that the
// model did not make itself, such as one of another model before a switch. From
// the third generation on, a call without any signature is refused.
const unsigned = `"skip_thought_signature_validator"`

type encoder struct {
	info   *llm.Info
	family family
}

// AppendHead writes everything that stays.
func (e *encoder) AppendHead(dst []byte, req *llm.Request) ([]byte, []int, error) {
	dst = append(dst, '{')
	if !wire.IsBlank(req.System) {
		dst = append(wire.AppendKey(dst, "systemInstruction"), `{"parts":[`...)
		dst = append(appendText(dst, req.System), `]}`...)
	}
	dst, err := e.appendTools(dst, req)
	if err != nil {
		return nil, nil, err
	}
	dst = append(wire.AppendKey(dst, "generationConfig"), '{')
	if req.MaxTokens > 0 {
		dst = wire.AppendInt(dst, "maxOutputTokens", req.MaxTokens)
	}
	dst = append(appendThinking(dst, e.info, e.family, req.Thinking, req.MaxTokens), '}')
	return append(wire.AppendKey(dst, "contents"), '['), nil, nil
}

// appendTools declares the functions with their JSON Schemas as they are: the
// older field "parameters" takes a dialect of OpenAPI only. The search stands
// beside functions only where the model can have both, and its calls are then
// asked for, since they must go back.
func (e *encoder) appendTools(dst []byte, req *llm.Request) ([]byte, error) {
	search := e.family.google && slices.Contains(req.ServerTools, webSearch) && (len(req.Tools) == 0 || e.family.third())
	if len(req.Tools) == 0 && !search {
		return dst, nil
	}
	dst = append(wire.AppendKey(dst, "tools"), '[')
	if len(req.Tools) > 0 {
		var err error
		dst = append(dst, `{"functionDeclarations":[`...)
		for _, tool := range req.Tools {
			dst = append(wire.AppendComma(dst), '{')
			dst = wire.AppendField(dst, "name", tool.Name)
			dst = wire.AppendField(dst, "description", tool.Description)
			dst = wire.AppendKey(dst, "parametersJsonSchema")
			if dst, err = wire.AppendSchema(dst, tool); err != nil {
				return nil, err
			}
			dst = append(dst, '}')
		}
		dst = append(dst, `]}`...)
	}
	if search {
		dst = append(wire.AppendComma(dst), `{"googleSearch":{}}`...)
	}
	dst = append(dst, ']')
	if search && len(req.Tools) > 0 {
		dst = append(dst, `,"toolConfig":{"includeServerSideToolInvocations":true}`...)
	}
	return dst, nil
}

// AppendMessage writes a message that follows none.
func (e *encoder) AppendMessage(dst []byte, m *core.Message) ([]byte, int) {
	return e.AppendFollowing(dst, nil, m)
}

// AppendFollowing writes one message: as one content, or two where a user's own
// words follow the results of calls, so that a turn of results holds nothing else.
// A result repeats its call's name, and stands where its call stood in prev.
func (e *encoder) AppendFollowing(dst []byte, prev, m *core.Message) ([]byte, int) {
	if m.Role == core.RoleAssistant {
		return appendModel(dst, m, e.family), -1
	}
	var calls []core.Block
	if prev != nil {
		calls = prev.ToolUses()
	}
	return e.appendUser(dst, m, calls), -1
}

// content writes a content of the role whose parts add appends; nothing at all
// when add appends none.
func content(dst []byte, role string, add func(dst []byte) []byte) []byte {
	start := len(dst)
	dst = wire.AppendField(append(dst, '{'), "role", role)
	dst = append(wire.AppendKey(dst, "parts"), '[')
	empty := len(dst)
	if dst = add(dst); len(dst) == empty {
		return dst[:start]
	}
	return append(dst, `]}`...)
}

// appendModel writes an answer. Thinking that led to nothing is left out, and so
// is what was only told about the search: no part of the API holds it.
func appendModel(dst []byte, m *core.Message, f family) []byte {
	blocks := m.Blocks
	for len(blocks) > 0 && isGrounding(&blocks[len(blocks)-1]) {
		blocks = blocks[:len(blocks)-1]
	}
	blocks = wire.Spoken(blocks, Format)
	dummy := f.google && f.third() && firstCallUnsigned(blocks)
	return content(dst, "model", func(dst []byte) []byte {
		for i := range blocks {
			b := &blocks[i]
			switch b.Type {
			case core.BlockText:
				dst = appendSpoken(dst, b)
			case core.BlockThinking, core.BlockOpaque:
				if raw := wire.Raw(b.Opaque); b.Provider == Format && raw != "" && !isGrounding(b) {
					dst = append(wire.AppendComma(dst), raw...)
				}
			case core.BlockToolUse:
				dst = appendCall(dst, b, dummy)
				dummy = false
			case core.BlockImage:
				dst = appendSignature(appendInline(dst, b), boundOf(b).Signature)
				dst = append(dst, '}')
			}
		}
		return dst
	})
}

// firstCallUnsigned looks at the first call only: of calls made at once, the
// others come without a signature.
func firstCallUnsigned(blocks []core.Block) bool {
	i := slices.IndexFunc(blocks, func(b core.Block) bool { return b.Type == core.BlockToolUse })
	return i >= 0 && len(boundOf(&blocks[i]).Signature) == 0
}

// appendText appends a part that holds a text.
func appendText(dst []byte, s string) []byte {
	return append(wire.AppendField(append(wire.AppendComma(dst), '{'), "text", s), '}')
}

// appendSpoken writes a text in the parts it came in: what is signed stands apart
// from what is not.
func appendSpoken(dst []byte, b *core.Block) []byte {
	bound, text := boundOf(b), b.Text
	if len(bound.Signature) == 0 {
		if wire.IsBlank(text) {
			return dst
		}
		return appendText(dst, text)
	}
	if from := bound.From; from > 0 && from <= len(text) && (from == len(text) || utf8.RuneStart(text[from])) {
		dst, text = appendText(dst, text[:from]), text[from:]
	}
	dst = wire.AppendField(append(wire.AppendComma(dst), '{'), "text", text)
	return append(appendSignature(dst, bound.Signature), '}')
}

func appendCall(dst []byte, b *core.Block, dummy bool) []byte {
	bound := boundOf(b)
	dst = append(wire.AppendComma(dst), `{"functionCall":{`...)
	if bound.ID != "" {
		dst = wire.AppendField(dst, "id", wire.CallID(bound.ID))
	}
	dst = wire.AppendField(dst, "name", wire.Name(b.Name))
	dst = append(append(wire.AppendKey(dst, "args"), wire.Arguments(b.Input)...), '}')
	if dummy {
		bound.Signature = []byte(unsigned)
	}
	return append(appendSignature(dst, bound.Signature), '}')
}

func appendSignature(dst, signature []byte) []byte {
	if len(signature) == 0 {
		return dst
	}
	return append(wire.AppendKey(dst, "thoughtSignature"), signature...)
}

// appendInline begins a part that holds an image or a document; the caller closes it.
func appendInline(dst []byte, b *core.Block) []byte {
	dst = append(wire.AppendComma(dst), `{"inlineData":{`...)
	dst = wire.AppendField(dst, "mimeType", b.MediaType)
	return append(wire.AppendBase64(wire.AppendKey(dst, "data"), b.Data), '}')
}
