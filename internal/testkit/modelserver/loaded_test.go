package modelserver

import (
	"fmt"
	"strings"
	"testing"
)

// wireForms are a request with tools and messages in each format, the messages
// being a call of a tool and its result.
var wireForms = map[string]struct{ body, tool, call string }{
	"anthropic": {`{"system":"s","tools":[%s],"messages":[{"role":"user","content":"q"}%s]}`,
		`{"name":"%s","input_schema":{}}`,
		`,{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"%s","input":{"query":"%s"}}]},{"role":"user","content":[{"type":"tool_result","content":"%s"}]}`},
	"chat": {`{"tools":[%s],"messages":[{"role":"user","content":"q"}%s]}`,
		`{"type":"function","function":{"name":"%s","parameters":{}}}`,
		`,{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"%s","arguments":"{\"query\":\"%s\"}"}}]},{"role":"tool","content":"%s"}`},
	"responses": {`{"instructions":"s","tools":[%s],"input":[{"role":"user","content":"q"}%s]}`,
		`{"type":"function","name":"%s","parameters":{}}`,
		`,{"type":"function_call","name":"%s","arguments":"{\"query\":\"%s\"}"},{"type":"function_call_output","output":"%s"}`},
	"gemini": {`{"systemInstruction":{},"tools":[{"functionDeclarations":[%s]}],"contents":[{"role":"user","parts":[{"text":"q"}]}%s]}`,
		`{"name":"%s"}`,
		`,{"role":"model","parts":[{"functionCall":{"name":"%s","args":{"query":"%s"}}}]},{"role":"user","parts":[{"functionResponse":{"response":{"output":"%s"}}}]}`},
}

// Only a search may add tools, only at the end, and only those that it found.
func TestToolsMayBeAddedBySearchAlone(t *testing.T) {
	for format, form := range wireForms {
		request := func(tools, call string) []byte {
			var list []string
			for _, name := range strings.Fields(tools) {
				list = append(list, fmt.Sprintf(form.tool, name))
			}
			if call != "" {
				name, found, _ := strings.Cut(call, " ")
				call = fmt.Sprintf(form.call, name, found, "Loaded: "+found)
			}
			return fmt.Appendf(nil, form.body, strings.Join(list, ","), call)
		}
		before := request("look tool_search", "")
		for _, tc := range []struct{ name, tools, call, segment string }{
			{"loaded", "look tool_search c a", "tool_search a c", ""},
			{"found, but not added", "look tool_search", "tool_search a", ""},
			{"added without a call", "look tool_search a", "", "tools"},
			{"added by another call", "look tool_search a", "look a", "tools"},
			{"another one added", "look tool_search a b", "tool_search a", "tools"},
			{"sorted in", "a look tool_search", "tool_search a", "tools[0]"},
			{"one taken away", "look", "tool_search a", "tools"},
			{"one in place of another", "look a", "tool_search a", "tools[1]"},
		} {
			b, err := Prefix(format, before, request(tc.tools, tc.call))
			if err != nil {
				t.Fatal(err)
			}
			segment := ""
			if b != nil {
				segment = b.Segment
			}
			if segment != tc.segment {
				t.Errorf("%s, %s: break at %q, want %q", format, tc.name, segment, tc.segment)
			}
		}
		// What was loaded by an earlier call stays: a later request adds none by it.
		loaded := request("look tool_search a", "tool_search a b")
		if b, err := Prefix(format, loaded, request("look tool_search a b", "tool_search a b")); err != nil || b == nil || b.Segment != "tools" {
			t.Errorf("%s: a tool came without a new call: %v, %v", format, b, err)
		}
	}
}

func TestLoadsAreCounted(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{{Text: "a"}, {Text: "b"}, {Text: "c"}}}, Options{})
	const q = `{"role":"user","content":"q"}`
	const call = `{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"tool_search","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"a"}`
	mustPost(t, s, "chat", `{"tools":[],"messages":[`+q+`]}`)
	mustPost(t, s, "chat", `{"tools":[{"type":"function","function":{"name":"a"}}],"messages":[`+q+`,`+call+`]}`)
	mustPost(t, s, "chat", `{"tools":[{"type":"function","function":{"name":"a"}}],"messages":[`+q+`,`+call+`,{"role":"user","content":"more"}]}`)
	if b, n := s.Breaks(), s.Loads(); len(b) != 0 || n != 1 {
		t.Errorf("%d loads, breaks %v", n, b)
	}
}
