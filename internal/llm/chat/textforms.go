package chat

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"garuda/internal/llm/wire"
)

// tagged reads what stands between <tool_call> and its end, or the text's end.
func (t *textCalls) tagged(s string) ([]textCall, string) {
	if strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), functionTag) {
		calls, rest := t.function(strings.TrimLeft(s, " \t\r\n"))
		rest = strings.TrimLeft(rest, " \t\r\n")
		if after, ok := strings.CutPrefix(rest, closeCallTag); ok || rest == "" {
			return calls, after
		}
		return nil, s
	}
	inner, rest, _ := strings.Cut(s, closeCallTag)
	return t.only(inner), rest
}

// mistral reads what follows [TOOL_CALLS]: an array, or a name, maybe an id, and
// the arguments.
func (t *textCalls) mistral(s string) ([]textCall, string) {
	body := strings.TrimLeft(s, " \t\r\n")
	if strings.HasPrefix(body, "[{") || strings.HasPrefix(body, "{") {
		return t.one(body)
	}
	at := strings.IndexByte(body, '{')
	if at < 0 {
		return nil, s
	}
	name := strings.TrimSuffix(strings.TrimSpace(body[:at]), "[ARGS]")
	name, _, _ = strings.Cut(name, "[CALL_ID]")
	args, rest, ok := firstObject(body[at:])
	if !ok || !t.tools[name] {
		return nil, s
	}
	return []textCall{{name: name, input: args}}, rest
}

const (
	closeFunctionTag  = "</function>"
	parameterTag      = "<parameter="
	closeParameterTag = "</parameter>"
)

// function reads <function=name>, then the arguments as one object or each in a
// tag of its own. Its end, as the text's end, may be missing.
func (t *textCalls) function(s string) ([]textCall, string) {
	name, body, ok := strings.Cut(strings.TrimPrefix(s, functionTag), ">")
	if !ok || !t.tools[name] {
		return nil, s
	}
	body = strings.TrimLeft(body, " \t\r\n")
	args, rest, ok := firstObject(body)
	if !ok {
		args, rest, ok = t.parameters(name, body)
	}
	rest = strings.TrimLeft(rest, " \t\r\n")
	after, closed := strings.CutPrefix(rest, closeFunctionTag)
	if !ok || !closed && rest != "" && !strings.HasPrefix(rest, closeCallTag) {
		return nil, s
	}
	return []textCall{{name: name, input: args}}, after
}

// parameters reads <parameter=key>value</parameter> as often as it comes. A value
// is JSON, or text where the tool's schema wants a string or it is no JSON.
func (t *textCalls) parameters(name, s string) (args, rest string, ok bool) {
	out := []byte{'{'}
	var seen []string
	for {
		body, more := strings.CutPrefix(s, parameterTag)
		if !more {
			return string(append(out, '}')), s, true
		}
		key, body, ok := strings.Cut(body, ">")
		value, after, closed := strings.Cut(body, closeParameterTag)
		if !ok || !closed || key == "" || slices.Contains(seen, key) {
			return "", s, false
		}
		seen = append(seen, key)
		value = strings.TrimSuffix(strings.TrimPrefix(value, "\n"), "\n")
		out = append(wire.AppendString(wire.AppendComma(out), key), ':')
		if raw := []byte(strings.TrimSpace(value)); !t.wantsText(name, key) && json.Valid(raw) {
			out = append(out, raw...)
		} else {
			out = wire.AppendString(out, value)
		}
		s = strings.TrimLeft(after, " \t\r\n")
	}
}

// wantsText reports whether the tool's schema says that the argument is a string.
func (t *textCalls) wantsText(tool, key string) bool {
	for _, spec := range t.specs {
		if spec.Name != tool {
			continue
		}
		var schema struct {
			Properties map[string]struct {
				Type json.RawMessage `json:"type"`
			} `json:"properties"`
		}
		return json.Unmarshal(spec.Schema, &schema) == nil && bytes.Contains(schema.Properties[key].Type, []byte(`"string"`))
	}
	return false
}
