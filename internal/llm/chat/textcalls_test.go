package chat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

type textCase struct {
	mode, text string
	rest       string
	calls      []textCall
}

func textCases() map[string]textCase {
	ls := textCall{"bash", `{"command": "ls"}`}
	read := textCall{"read_file", `{"path":"a"}`}
	return map[string]textCase{
		"object":               {"", `{"name": "bash", "arguments": {"command": "ls"}}`, "", []textCall{ls}},
		"parameters":           {"", "\n" + `{"name":"bash","parameters":{"command": "ls"}}` + "\n", "", []textCall{ls}},
		"function":             {"", `{"type":"function","function":{"name":"bash","arguments":{"command": "ls"}}}`, "", []textCall{ls}},
		"pretty":               {"", "{\n  \"name\": \"bash\",\n  \"arguments\": {\"command\": \"ls\"}\n}", "", []textCall{ls}},
		"one a line":           {"", `{"name":"bash","arguments":{"command": "ls"}}` + "\n" + `{"name":"read_file","arguments":{"path":"a"}}`, "", []textCall{ls, read}},
		"array":                {"", `[{"name":"bash","arguments":{"command": "ls"}},{"name":"read_file","arguments":{"path":"a"}}]`, "", []textCall{ls, read}},
		"fence":                {"", "```json\n" + `{"name":"bash","arguments":{"command": "ls"}}` + "\n```", "", []textCall{ls}},
		"bare fence":           {"", "```\n" + `[{"name":"bash","arguments":{"command": "ls"}}]` + "\n```\n", "", []textCall{ls}},
		"tag":                  {"", `<tool_call>{"name":"bash","arguments":{"command": "ls"}}</tool_call>`, "", []textCall{ls}},
		"tags":                 {"", "<tool_call>\n" + `{"name":"bash","arguments":{"command": "ls"}}` + "\n</tool_call>\n<tool_call>\n" + `{"name":"read_file","arguments":{"path":"a"}}` + "\n</tool_call>", "", []textCall{ls, read}},
		"tag without end":      {"", `<tool_call>{"name":"bash","arguments":{"command": "ls"}}`, "", []textCall{ls}},
		"no tool":              {"", `{"name":"rm","arguments":{}}`, `{"name":"rm","arguments":{}}`, nil},
		"one is no tool":       {"", `[{"name":"bash","arguments":{}},{"name":"rm","arguments":{}}]`, `[{"name":"bash","arguments":{}},{"name":"rm","arguments":{}}]`, nil},
		"arguments no object":  {"", `{"name":"bash","arguments":"ls"}`, `{"name":"bash","arguments":"ls"}`, nil},
		"no arguments":         {"", `{"name":"bash"}`, `{"name":"bash"}`, nil},
		"in a sentence":        {"", `Use {"name":"bash","arguments":{"command": "ls"}}`, `Use {"name":"bash","arguments":{"command": "ls"}}`, nil},
		"text behind":          {"", `{"name":"bash","arguments":{"command": "ls"}} is how`, `{"name":"bash","arguments":{"command": "ls"}} is how`, nil},
		"another fence":        {"", "```python\n{\"name\":\"bash\",\"arguments\":{}}\n```", "```python\n{\"name\":\"bash\",\"arguments\":{}}\n```", nil},
		"broken":               {"", `{"name":"bash","arguments":{`, `{"name":"bash","arguments":{`, nil},
		"empty array":          {"", `[]`, `[]`, nil},
		"other JSON":           {"", `{"result": 1}`, `{"result": 1}`, nil},
		"off":                  {"off", `{"name":"bash","arguments":{"command": "ls"}}`, `{"name":"bash","arguments":{"command": "ls"}}`, nil},
		"function tag":         {"", `<function=bash>{"command": "ls"}</function>`, "", []textCall{ls}},
		"function, no end":     {"", `<function=bash>{"command": "ls"}`, "", []textCall{ls}},
		"parameters in tags":   {"", "<tool_call>\n<function=bash>\n<parameter=command>\nls &\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>", "", []textCall{{"bash", `{"command":"ls &","n":3}`}}},
		"a string by schema":   {"", "<function=bash><parameter=command>1</parameter></function>", "", []textCall{{"bash", `{"command":"1"}`}}},
		"text that is no JSON": {"", "<function=bash><parameter=n>{ 1</parameter></function>", "", []textCall{{"bash", `{"n":"{ 1"}`}}},
		"no parameters":        {"", "<function=bash></function>", "", []textCall{{"bash", `{}`}}},
		"two functions":        {"", "<function=bash>{\"command\": \"ls\"}</function>\n<function=read_file><parameter=path>a</parameter></function>", "", []textCall{ls, read}},
		"function, no tool":    {"", `<function=rm>{"command": "ls"}</function>`, `<function=rm>{"command": "ls"}</function>`, nil},
		"function, text in it": {"", `<function=bash>ls</function>`, `<function=bash>ls</function>`, nil},
		"function, tag broken": {"", `<function=bash><parameter=command>ls</function>`, `<function=bash><parameter=command>ls</function>`, nil},
		"one parameter twice":  {"", `<function=bash><parameter=n>1</parameter><parameter=n>2</parameter></function>`, `<function=bash><parameter=n>1</parameter><parameter=n>2</parameter></function>`, nil},
		"the end in a value":   {"", "<function=bash><parameter=command>echo </parameter> x</parameter></function>", "<function=bash><parameter=command>echo </parameter> x</parameter></function>", nil},
		"Phi":                  {"", `<|tool_call|>[{"name":"bash","arguments":{"command": "ls"}}]<|/tool_call|>`, "", []textCall{ls}},
		"Granite":              {"", `<|tool_call|>[{"name":"bash","arguments":{"command": "ls"}},{"name":"read_file","arguments":{"path":"a"}}]`, "", []textCall{ls, read}},
		"Phi, text":            {"", `<|tool_call|> is a token`, `<|tool_call|> is a token`, nil},
		"Mistral":              {"", `[TOOL_CALLS] [{"name":"bash","arguments":{"command": "ls"}}]`, "", []textCall{ls}},
		"Mistral, new":         {"", `[TOOL_CALLS]bash[ARGS]{"command": "ls"}[TOOL_CALLS]read_file[CALL_ID]a1B2c3D4e[ARGS]{"path":"a"}`, "", []textCall{ls, read}},
		"Mistral, no tool":     {"", `[TOOL_CALLS]rm[ARGS]{"command": "ls"}`, `[TOOL_CALLS]rm[ARGS]{"command": "ls"}`, nil},
		"Mistral, text":        {"", `[TOOL_CALLS] is a token`, `[TOOL_CALLS] is a token`, nil},
		"lines, function":      {"lines", "I list.\n<function=bash>{\"command\": \"ls\"}</function>\nThen wait.", "I list.\nThen wait.", []textCall{ls}},
		"lines, Mistral":       {"lines", "I list.\n[TOOL_CALLS]bash[ARGS]{\"command\": \"ls\"}", "I list.", []textCall{ls}},
		"lines":                {"lines", "I list.\n" + `{"name":"bash","arguments":{"command": "ls"}}` + "\nThen wait.", "I list.\nThen wait.", []textCall{ls}},
		"lines, tag":           {"lines", "I list.\n<tool_call>\n" + `{"name":"bash","arguments":{"command": "ls"}}` + "\n</tool_call>", "I list.", []textCall{ls}},
		"lines, fence":         {"lines", "I list:\n\n```json\n" + `{"name":"bash","arguments":{"command": "ls"}}` + "\n```\n", "I list:", []textCall{ls}},
		"lines, in a sentence": {"lines", `Use {"name":"bash","arguments":{}}` + "\nor not", `Use {"name":"bash","arguments":{}}` + "\nor not", nil},
		"lines, text behind":   {"lines", `{"name":"bash","arguments":{}} is how`, `{"name":"bash","arguments":{}} is how`, nil},
	}
}

func newTextCalls(mode string) textCalls {
	return textCalls{mode: mode, tools: map[string]bool{"bash": true, "read_file": true}, specs: hello().Tools}
}

func TestTextCalls(t *testing.T) {
	for name, tt := range textCases() {
		t.Run(name, func(t *testing.T) {
			c := newTextCalls(tt.mode)
			c.push(tt.text)
			rest, calls := c.calls()
			if d := cmp.Diff(tt.calls, calls, cmp.AllowUnexported(textCall{})); d != "" || rest != tt.rest {
				t.Errorf("rest %q, %s", rest, d)
			}
			if len(tt.calls) > 0 && (strings.Contains(c.shown(), `"name"`) || strings.Contains(c.shown(), "[TOOL") || strings.Contains(c.shown(), "<")) {
				t.Errorf("a call was shown: %q", c.shown())
			}
		})
	}
}

// TestTextCallsAreHeldBack cuts each text anywhere: what is shown is what the
// message then holds, and never a call.
func TestTextCallsAreHeldBack(t *testing.T) {
	cases := textCases()
	var names []string
	for name := range cases {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		tt := cases[rapid.SampledFrom(names).Draw(t, "case")]
		c := newTextCalls(tt.mode)
		var shown strings.Builder
		for rest := tt.text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			shown.WriteString(c.push(rest[:n]))
			rest = rest[n:]
		}
		if shown.String() != c.shown() || !strings.HasPrefix(tt.text, c.shown()) {
			t.Fatalf("shown %q, recorded %q", shown.String(), c.shown())
		}
		text, calls := c.calls()
		if text != tt.rest || len(calls) != len(tt.calls) {
			t.Fatalf("%q, %v", text, calls)
		}
		if len(calls) > 0 && (strings.Contains(c.shown(), `"name"`) || strings.Contains(c.shown(), "[TOOL") || strings.Contains(c.shown(), "<f")) {
			t.Fatalf("a call was shown: %q", c.shown())
		}
	})
}

func TestTextIsShownAtOnce(t *testing.T) {
	for _, mode := range []string{"", "lines", "off"} {
		for _, s := range []string{"Hello", "The", "{ foo", "[1", "{\"result\": ", "```go\n", "# Title", "<b>"} {
			c := textCalls{mode: mode, tools: map[string]bool{"bash": true}}
			if got := c.push(s); got != s {
				t.Errorf("mode %q holds %q back", mode, s)
			}
		}
	}
}

func TestTextCallsInAnAnswer(t *testing.T) {
	call := piece(`"content":%s`, llmtest.Quote(`{"name":"bash","arguments":{"command":"ls"}}`))
	s := server(t, llm.Quirks{}, call, finish("stop"), done)
	r := llmtest.MustAsk(t, s.Model, hello())
	if got := r.Resp.Message.Blocks; len(got) != 1 || got[0].Name != "bash" || got[0].Input != `{"command":"ls"}` || got[0].ID == "" {
		t.Errorf("%+v", got)
	}
	if r.Resp.Stop != core.StopToolUse || r.Text() != "" || len(r.Started()) != 1 {
		t.Errorf("%s, %v", r.Resp.Stop, r.Events)
	}
	for name, frames := range map[string][]string{
		"cut":      {call, finish("length"), done},
		"real one": {call, piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"read_file","arguments":"{}"}}]`), finish("tool_calls"), done},
	} {
		s := server(t, llm.Quirks{}, frames...)
		r := llmtest.MustAsk(t, s.Model, hello())
		if r.Text() != `{"name":"bash","arguments":{"command":"ls"}}` || r.Resp.Message.PlainText() != r.Text() {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "x/m"}, BaseURL: "http://localhost", Quirks: llm.Quirks{TextToolCalls: "sometimes"}}); err == nil {
		t.Error("an unknown mode was taken")
	}
}

func FuzzTextCalls(f *testing.F) {
	for _, tt := range textCases() {
		f.Add(tt.text, len(tt.text)/2, tt.mode)
	}
	f.Fuzz(func(t *testing.T, in string, cut int, mode string) {
		c := newTextCalls(mode)
		cut = max(0, min(cut, len(in)))
		c.push(in[:cut])
		c.push(in[cut:])
		text, calls := c.calls()
		if len(calls) == 0 && text != in {
			t.Fatalf("%q became %q", in, text)
		}
		for _, k := range calls {
			if !c.tools[k.name] || !wire.IsObject(k.input) {
				t.Fatalf("%+v", k)
			}
		}
	})
}
