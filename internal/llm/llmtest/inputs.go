package llmtest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// oddInputs are arguments that are valid JSON and unusual.
func oddInputs() map[string]string {
	return map[string]string{
		"surrogates":  `{"escaped":"\ud83d\ude00 \u00fc","plain":"😀 ü","mixed":"\uD83D\uDE00😀"}`,
		"NUL":         `{"a":"x\u0000y","\u0000":"\u0000"}`,
		"controls":    `{"a":"\u0001\u001f\b\f\n\r\t\u007f\u2028\u2029"}`,
		"escapes":     `{"a":"\/ \\ \" \u0022 \u005c"}`,
		"html":        `{"a":"<script>&amp;</script>"}`,
		"long key":    `{"` + strings.Repeat("k", 100_000) + `":1}`,
		"long value":  `{"v":"` + strings.Repeat("ü", 100_000) + `"}`,
		"many keys":   `{` + strings.TrimSuffix(strings.Repeat(`"k":0,`, 2_000), ",") + `}`,
		"deep":        strings.Repeat(`{"a":[`, 400) + `null` + strings.Repeat(`]}`, 400),
		"numbers":     `{"n":[0,-0,1.50,1e3,1E-7,12345678901234567890,0.1e+2]}`,
		"empty names": `{"":{"":[[],{}, "" ]}}`,
		"spacing":     "{ \"b\" :\t1 , \"a\": 2  }",
		"key order":   `{"z":1,"a":2,"m":{"y":1,"b":2}}`,
	}
}

// testOddInputs: what a model wrote reaches the tool byte for byte, and goes back
// as the same value.
func testOddInputs(t *testing.T, d Dialect) {
	for name, input := range oddInputs() {
		t.Run(name, func(t *testing.T) {
			half := len(input) / 2
			s := NewServer(t, d, nil, Stream(d.Frames(Reply{Calls: []Call{{ID: "c1", Name: "bash", Args: []string{input[:half], input[half:]}}}})...))
			req := hello()
			r := MustAsk(t, s.Model, req)
			calls := r.Resp.Message.ToolUses()
			if len(calls) != 1 || calls[0].Input != input {
				t.Fatalf("%d calls, the input arrived as %.300q", len(calls), r.Resp.Message.Blocks[0].Input)
			}
			req.Messages = append(req.Messages, r.Resp.Message, &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c1", false, core.Text("done"))}})
			MustAsk(t, s.Model, req)
			if !holdsValue(t, s.Body(1), input) {
				t.Errorf("%.300s\nis not what was sent back in\n%.2000s", input, s.Body(1))
			}
		})
	}
}

// holdsValue reports whether a request holds a value somewhere, as itself or as
// the JSON text of a string.
func holdsValue(t testing.TB, body, value string) bool {
	t.Helper()
	decode := func(s string) (v any) {
		dec := json.NewDecoder(strings.NewReader(s))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			return nil
		}
		return v
	}
	want := decode(value)
	if want == nil {
		t.Fatalf("%.100s is not JSON", value)
	}
	var holds func(v any) bool
	holds = func(v any) bool {
		switch v := v.(type) {
		case map[string]any:
			if reflect.DeepEqual(v, want) {
				return true
			}
			for _, e := range v {
				if holds(e) {
					return true
				}
			}
		case []any:
			for _, e := range v {
				if holds(e) {
					return true
				}
			}
		case string:
			return strings.HasPrefix(strings.TrimSpace(v), "{") && reflect.DeepEqual(decode(v), want)
		}
		return false
	}
	return holds(decode(body))
}

// testThinkingBytes: thinking goes back byte for byte, whatever is in it, and also
// when the conversation was written to a journal and read again.
func testThinkingBytes(t *testing.T, d Dialect) {
	for name, pieces := range map[string][]string{
		"spacing":     {" \n lead", "\t\tin  between\r\n", " trail \n\n"},
		"unicode":     {"ü\u2028\u2029", "😀\u200b", "\ufeff e\u0301"},
		"escapes":     {`a\u00fc\n`, `"quoted" \ </think> <|x|>`},
		"controls":    {"\u0001\u001f\u007f"},
		"many pieces": bytewise(strings.Repeat("a b\n", 50)),
	} {
		t.Run(name, func(t *testing.T) {
			reply := Reply{Thinking: pieces, Signature: "EqQB+/=\u00fc&<", Text: []string{"ok"}, Calls: []Call{{ID: "c1", Name: "bash", Args: []string{`{}`}}}}
			s := NewServer(t, d, nil, Stream(d.Frames(reply)...))
			req := hello()
			r := MustAsk(t, s.Model, req)
			first := r.Resp.Message.Blocks[0]
			if first.Type != core.BlockThinking || first.Text != strings.Join(pieces, "") {
				t.Fatalf("%+v", first)
			}
			req.Messages = append(req.Messages, r.Resp.Message, &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c1", false, core.Text("x"))}})
			MustAsk(t, s.Model, req)
			if inner := strings.TrimSuffix(strings.TrimPrefix(first.Opaque, "{"), "}"); !strings.Contains(s.Body(1), inner) {
				t.Errorf("%s\nis not in\n%s", inner, s.Body(1))
			}
			if resumed := askAfterResume(t, d, req); resumed != s.Body(1) {
				t.Errorf("after a resume\n%s\nis sent, before it was\n%s", resumed, s.Body(1))
			}
		})
	}
}

// askAfterResume sends the request as a new process does that read its messages
// from a journal, and returns what was sent.
func askAfterResume(t testing.TB, d Dialect, req *llm.Request) string {
	t.Helper()
	var journal bytes.Buffer
	if err := json.NewEncoder(&journal).Encode(req.Messages); err != nil {
		t.Fatal(err)
	}
	again := *req
	again.Messages = nil
	if err := json.Unmarshal(journal.Bytes(), &again.Messages); err != nil {
		t.Fatal(err)
	}
	s := NewServer(t, d, nil, Stream(d.Frames(Reply{Text: []string{"ok"}})...))
	MustAsk(t, s.Model, &again)
	return s.Body(0)
}

// testUnknownAsks: a server that has no tools of its own and takes no free text
// is asked exactly as if neither had been wanted.
func testUnknownAsks(t *testing.T, d Dialect) {
	ok := Stream(d.Frames(Reply{Text: []string{"ok"}})...)
	plain := NewServer(t, d, nil, ok)
	want := MustAsk(t, plain.Model, hello())
	for name, change := range map[string]func(*llm.Request){
		"a server tool that nobody has": func(r *llm.Request) { r.ServerTools = []string{"nobody_has_this"} },
		"a tool with free text": func(r *llm.Request) {
			r.Tools[1].FreeText = &llm.FreeText{Field: "command", Syntax: "regex", Definition: ".*"}
		},
	} {
		s := NewServer(t, d, nil, ok)
		req := hello()
		change(req)
		if got := MustAsk(t, s.Model, req); s.Body(0) != plain.Body(0) || got.Resp.RequestHash != want.Resp.RequestHash {
			t.Errorf("%s:\n%s\ninstead of\n%s", name, s.Body(0), plain.Body(0))
		}
	}
}
