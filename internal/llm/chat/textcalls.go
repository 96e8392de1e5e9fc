package chat

import (
	"encoding/json"
	"strings"

	"garuda/internal/llm"
)

// How text that is a tool call is read; see [llm.Quirks].
const (
	textCallsWhole = "whole"
	textCallsLines = "lines"
	textCallsOff   = "off"
)

const (
	fence        = "```"
	openCallTag  = "<tool_call>"
	closeCallTag = "</tool_call>"
	// Phi and Granite begin calls with the one, Mistral's models with the other,
	// and Llama's and Qwen's coder name the function in a tag.
	callMark      = "<|tool_call|>"
	closeCallMark = "<|/tool_call|>"
	callsMark     = "[TOOL_CALLS]"
	functionTag   = "<function="
)

// textCall is a call that a model wrote into its text.
type textCall struct{ name, input string }

// textCalls gathers an answer's text and holds back what may yet turn out to be
// a call.
type textCalls struct {
	mode  string
	tools map[string]bool
	specs []llm.ToolSpec // for the types of arguments that are written as text

	all    strings.Builder
	passed int // bytes of all that were let go
	line   int // lines mode: start of the first line not yet judged
	looked int // lines mode: up to here it does not end
	open   bool
}

// push takes the next piece of text and returns what may be shown.
func (t *textCalls) push(s string) string {
	t.all.WriteString(s)
	upTo := t.all.Len()
	if !t.open {
		upTo = t.safe(t.all.String())
	}
	upTo = max(upTo, t.passed)
	show := t.all.String()[t.passed:upTo]
	t.passed = upTo
	return show
}

func (t *textCalls) text() string  { return t.all.String() }
func (t *textCalls) shown() string { return t.all.String()[:t.passed] }

// safe is how much of the text can be no part of a call.
func (t *textCalls) safe(s string) int {
	if t.mode == textCallsOff || len(t.tools) == 0 {
		t.open = true
		return len(s)
	}
	if t.mode != textCallsLines {
		if maybeCall(s) {
			return 0
		}
		t.open = true
		return len(s)
	}
	for {
		if maybeCall(s[t.line:]) {
			return t.line
		}
		from := max(t.line, t.looked)
		next := strings.IndexByte(s[from:], '\n')
		if next < 0 {
			t.looked = len(s)
			return len(s)
		}
		t.line = from + next + 1
	}
}

// maybeCall reports whether a text that begins so may be a call. It looks at the
// beginning only, and lets go of text as soon as it can be none.
func maybeCall(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	switch {
	case s == "":
		return true
	case marked(s):
		return true
	case begins(s, fence):
		return true
	case strings.HasPrefix(s, fence):
		lang, body, ended := strings.Cut(s[len(fence):], "\n")
		if !ended {
			return begins(lang, "json") || begins(lang, "tool_call")
		}
		return isCallFence(lang) && (strings.TrimSpace(body) == "" || maybeJSON(body))
	}
	return maybeJSON(s)
}

// marked reports whether s begins with what opens a call, or may yet.
func marked(s string) bool {
	for _, word := range []string{openCallTag, callMark, callsMark, functionTag} {
		if begins(s, word) || strings.HasPrefix(s, word) {
			return true
		}
	}
	return false
}

// begins reports whether s may yet become word.
func begins(s, word string) bool { return strings.HasPrefix(word, s) }

func isCallFence(lang string) bool {
	lang = strings.TrimSpace(lang)
	return lang == "" || lang == "json" || lang == "tool_call"
}

// maybeJSON looks as far as the first key of the first object.
func maybeJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	if rest, ok := strings.CutPrefix(s, "["); ok {
		if s = strings.TrimLeft(rest, " \t\r\n"); s == "" {
			return true
		}
	}
	rest, ok := strings.CutPrefix(s, "{")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	if rest == "" {
		return true
	}
	rest, ok = strings.CutPrefix(rest, `"`)
	if !ok {
		return false
	}
	key, _, ended := strings.Cut(rest, `"`)
	for _, known := range []string{"name", "arguments", "parameters", "type", "function", "id", "tool_calls"} {
		if ended && key == known || !ended && begins(key, known) {
			return true
		}
	}
	return false
}

// calls reads the whole text. It returns the calls, and the text without them;
// no calls when there are none or when what looks like one is not exactly that.
func (t *textCalls) calls() (rest string, found []textCall) {
	text := t.all.String()
	if len(t.tools) == 0 || t.mode == textCallsOff {
		return text, nil
	}
	if t.mode != textCallsLines {
		found, left := t.leading(text)
		if len(found) == 0 || strings.TrimSpace(left) != "" {
			return text, nil
		}
		return "", found
	}
	var kept strings.Builder
	for s := text; s != ""; {
		calls, left := t.one(s)
		if len(calls) > 0 && endsLine(left) {
			found = append(found, calls...)
			s = strings.TrimLeft(left, " \t\r\n")
			continue
		}
		line, after, more := strings.Cut(s, "\n")
		kept.WriteString(line)
		if more {
			kept.WriteByte('\n')
		}
		s = after
	}
	if len(found) == 0 {
		return text, nil
	}
	return strings.TrimRight(kept.String(), " \t\r\n"), found
}

// endsLine reports whether nothing else stands on the line.
func endsLine(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line) == ""
}

// leading reads calls as long as they follow each other.
func (t *textCalls) leading(s string) (found []textCall, rest string) {
	for {
		calls, left := t.one(s)
		if len(calls) == 0 {
			return found, s
		}
		found, s = append(found, calls...), left
	}
}

// one reads one form: a fence, a tag, an object or an array.
func (t *textCalls) one(s string) ([]textCall, string) {
	s = strings.TrimLeft(s, " \t\r\n")
	if body, ok := strings.CutPrefix(s, openCallTag); ok {
		return t.tagged(body)
	}
	if strings.HasPrefix(s, functionTag) {
		return t.function(s)
	}
	if body, ok := strings.CutPrefix(s, callMark); ok {
		calls, rest := t.one(body)
		return calls, strings.TrimPrefix(strings.TrimLeft(rest, " \t\r\n"), closeCallMark)
	}
	if body, ok := strings.CutPrefix(s, callsMark); ok {
		return t.mistral(body)
	}
	if body, ok := strings.CutPrefix(s, fence); ok {
		lang, body, _ := strings.Cut(body, "\n")
		inner, rest, closed := strings.Cut(body, "\n"+fence)
		if !closed || !isCallFence(lang) {
			return nil, s
		}
		return t.only(inner), rest
	}
	if s == "" || s[0] != '{' && s[0] != '[' {
		return nil, s
	}
	dec := json.NewDecoder(strings.NewReader(s))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return nil, s
	}
	return t.values(raw), s[dec.InputOffset():]
}

// only reads a text that holds calls and nothing else.
func (t *textCalls) only(s string) []textCall {
	var found []textCall
	for strings.TrimSpace(s) != "" {
		dec := json.NewDecoder(strings.NewReader(s))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil
		}
		calls := t.values(raw)
		if len(calls) == 0 {
			return nil
		}
		found, s = append(found, calls...), s[dec.InputOffset():]
	}
	return found
}

// values reads an object or an array of them; one that is no call spoils all.
func (t *textCalls) values(raw json.RawMessage) []textCall {
	list := []json.RawMessage{raw}
	if raw[0] == '[' && json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var found []textCall
	for _, v := range list {
		c, ok := t.value(v)
		if !ok {
			return nil
		}
		found = append(found, c)
	}
	return found
}

// value reads {"name","arguments"|"parameters"}, alone or as "function". The name
// must be a tool's of this request, the arguments an object.
func (t *textCalls) value(raw json.RawMessage) (textCall, bool) {
	type object struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	var v struct {
		object
		Function *object `json:"function"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return textCall{}, false
	}
	o := v.object
	if v.Function != nil {
		o = *v.Function
	}
	args := o.Arguments
	if len(args) == 0 {
		args = o.Parameters
	}
	if !t.tools[o.Name] || len(args) == 0 || args[0] != '{' {
		return textCall{}, false
	}
	return textCall{name: o.Name, input: string(args)}, true
}
