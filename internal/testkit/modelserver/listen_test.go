package modelserver

import (
	"encoding/json"
	"strings"
	"testing"
)

// sse takes a stream apart: the joined data of each event.
func sse(t *testing.T, data []byte) []string {
	t.Helper()
	text := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\r", "\n")
	var out []string
	for block := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.SplitSeq(block, "\n") {
			if d, ok := strings.CutPrefix(line, "data: "); ok {
				lines = append(lines, d)
			}
		}
		if lines != nil {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return out
}

// at follows a path of keys and indices in JSON.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

func str(v any) string { s, _ := v.(string); return s }

// spoken is what a client should have understood.
type spoken struct {
	Thinking, Signature, Text, Stop string
	Calls                           []spokenCall
	In, Out, Cached                 float64
}

type spokenCall struct{ ID, Name, Args string }

// listen reads a stream as a client would; a naive one, as a check on the server.
func listen(t *testing.T, format string, stream []string) spoken {
	t.Helper()
	var s spoken
	call := func(i int) *spokenCall {
		for len(s.Calls) <= i {
			s.Calls = append(s.Calls, spokenCall{})
		}
		return &s.Calls[i]
	}
	num := func(v any) float64 { f, _ := v.(float64); return f }
	tool := -1
	for _, data := range stream {
		if data == "[DONE]" {
			continue
		}
		e := decode(t, []byte(data))
		switch format {
		case "anthropic":
			s.Thinking += str(at(e, "delta", "thinking"))
			s.Signature += str(at(e, "delta", "signature"))
			s.Text += str(at(e, "delta", "text"))
			if at(e, "content_block", "type") == "tool_use" {
				tool++
				*call(tool) = spokenCall{ID: str(at(e, "content_block", "id")), Name: str(at(e, "content_block", "name"))}
			}
			if args := str(at(e, "delta", "partial_json")); args != "" {
				call(tool).Args += args
			}
			if u := at(e, "message", "usage"); u != nil {
				s.In, s.Cached = num(at(u, "input_tokens")), num(at(u, "cache_read_input_tokens"))
			}
			if stop := at(e, "delta", "stop_reason"); stop != nil {
				s.Stop, s.Out = str(stop), num(at(e, "usage", "output_tokens"))
			}
		case "gemini":
			s.gemini(t, []byte(data))
		case "chat":
			delta := at(e, "choices", 0, "delta")
			s.Thinking += str(at(delta, "reasoning_content")) + str(at(delta, "reasoning"))
			s.Text += str(at(delta, "content"))
			if c := at(delta, "tool_calls", 0); c != nil {
				k := call(int(num(at(c, "index"))))
				k.ID += str(at(c, "id"))
				k.Name += str(at(c, "function", "name"))
				k.Args += str(at(c, "function", "arguments"))
			}
			s.Stop += str(at(e, "choices", 0, "finish_reason"))
			if u := at(e, "usage"); u != nil {
				s.In, s.Out, s.Cached = num(at(u, "prompt_tokens")), num(at(u, "completion_tokens")), num(at(u, "prompt_tokens_details", "cached_tokens"))
			}
		case "responses":
			switch at(e, "type") {
			case "response.reasoning_summary_text.delta":
				s.Thinking += str(at(e, "delta"))
			case "response.output_text.delta":
				s.Text += str(at(e, "delta"))
			case "response.output_item.added":
				if at(e, "item", "type") == "function_call" {
					tool++
					*call(tool) = spokenCall{ID: str(at(e, "item", "call_id")), Name: str(at(e, "item", "name"))}
				}
			case "response.function_call_arguments.delta":
				call(tool).Args += str(at(e, "delta"))
			case "response.output_item.done":
				s.Signature += str(at(e, "item", "encrypted_content"))
			case "response.completed", "response.incomplete":
				s.Stop = str(at(e, "response", "status"))
				u := at(e, "response", "usage")
				s.In, s.Out, s.Cached = num(at(u, "input_tokens")), num(at(u, "output_tokens")), num(at(u, "input_tokens_details", "cached_tokens"))
			}
		}
	}
	return s
}
