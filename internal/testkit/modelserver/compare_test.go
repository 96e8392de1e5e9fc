package modelserver

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPrefix(t *testing.T) {
	const base = `{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],` +
		`"tools":[{"name":"a"},{"name":"b","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}]}`
	tests := []struct{ name, format, prev, next, segment string }{
		{"the same", "anthropic", base, base, ""},
		{"marks moved on", "anthropic", base,
			`{"tools":[{"name":"a"},{"cache_control":{"type":"ephemeral"},"name":"b"}],"system":[{"type":"text","text":"s"}],"max_tokens":9,` +
				`"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r","cache_control":{}}]}]}]}`, ""},
		{"system", "anthropic", base, strings.Replace(base, `"text":"s"`, `"text":"t"`, 1), "system"},
		{"white space", "anthropic", base, strings.Replace(base, `"text":"s"`, `"text": "s"`, 1), "system"},
		{"a tool", "anthropic", base, strings.Replace(base, `"a"`, `"c"`, 1), "tools[0]"},
		{"a tool more", "anthropic", base, strings.Replace(base, `"tools":[`, `"tools":[{},`, 1), "tools"},
		{"an old message", "anthropic", base, strings.Replace(base, `"q"`, `"Q"`, 1), "messages[0]"},
		{"a message less", "anthropic", base, strings.Replace(base, `"messages":[`, `"messages":[],"x":[`, 1), "messages"},
		{"keys in another order", "chat", `{"messages":[{"role":"user","content":"a"}]}`, `{"messages":[{"content":"a","role":"user"}]}`, "messages[0]"},
		{"chat grows", "chat", `{"messages":[{"role":"system","content":"a"}]}`, `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}]}`, ""},
		{"chat's system", "chat", `{"messages":[{"role":"system","content":"a"}]}`, `{"messages":[{"role":"system","content":"b"}]}`, "messages[0]"},
		{"responses grow", "responses", `{"instructions":"i","input":[{"a":1}]}`, `{"instructions":"i","input":[{"a":1},{"b":2}]}`, ""},
		{"responses' system", "responses", `{"instructions":"i","input":[]}`, `{"instructions":"j","input":[]}`, "system"},
		{"a mark in the model's own input", "anthropic",
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"cache_control":1}}]}]}`,
			`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"cache_control":2}}]}]}`, "messages[0]"},
	}
	for _, tt := range tests {
		got, err := Prefix(tt.format, []byte(tt.prev), []byte(tt.next))
		if err != nil {
			t.Fatal(tt.name, err)
		}
		segment := ""
		if got != nil {
			segment = got.Segment
		}
		if segment != tt.segment {
			t.Errorf("%s: break at %q, want %q: %v", tt.name, segment, tt.segment, got)
		}
	}
	if _, err := Prefix("chat", []byte("{"), []byte("{}")); err == nil {
		t.Error("broken JSON was compared")
	}
}

// With a mark put into any place of a block, what is left is the block without it.
func TestUnmark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfN(rapid.SampledFrom([]string{`"type":"text"`, `"text":"a,{}\"b"`, `"n": [1, {"x":2}]`, `"z":null`}), 0, 4).Draw(t, "members")
		at := rapid.IntRange(0, len(members)).Draw(t, "at")
		marked := append(append(append([]string{}, members[:at]...), `"cache_control":{"type":"ephemeral","ttl":"1h"}`), members[at:]...)
		block := func(m []string) string { return `{"role":"user","content":[{` + strings.Join(m, ",") + `}]}` }
		got := string(unmark(json.RawMessage(block(marked))))
		if got != block(members) {
			t.Fatalf("%s\nbecame %s\nwant   %s", block(marked), got, block(members))
		}
	})
}

func TestBreaksAreFound(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{{Text: "a"}, {Text: "b"}, {Text: "c"}}}, Options{ForgetBodies: true})
	mustPost(t, s, "chat", `{"messages":[{"role":"user","content":"a"}]}`)
	mustPost(t, s, "chat", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`)
	if b := s.Breaks(); len(b) != 0 {
		t.Errorf("%v", b)
	}
	mustPost(t, s, "chat", `{"messages":[{"role":"user","content":"a"},{"role":"user","content":"c"}]}`)
	b := s.Breaks()
	if len(b) != 1 || b[0].Request != 2 || b[0].Segment != "messages[1]" || !strings.Contains(b[0].String(), `"c"`) {
		t.Errorf("%v", b)
	}
	if q := s.Requests()[0]; q.Body != nil || q.Bytes == 0 {
		t.Errorf("%+v", q)
	}
}

// The walk finds what encoding/json finds, in any valid JSON.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(` { "a" : [1, {"b\\\"": "]"}, null ] , "c":-1.5e3,"":{}} `))
	f.Add([]byte(`[[],{},"\\\\",""]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err == nil {
			spans := elements(raw)
			if len(spans) != len(list) {
				t.Fatalf("%d elements, want %d", len(spans), len(list))
			}
			for i, s := range spans {
				if string(raw[s[0]:s[1]]) != string(list[i]) {
					t.Errorf("element %d is %q, want %q", i, raw[s[0]:s[1]], list[i])
				}
			}
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(raw, &object); err == nil {
			found := map[string]string{}
			eachMember(raw, func(from int, key string, start, end int) {
				var name string
				if err := json.Unmarshal([]byte(`"`+key+`"`), &name); err != nil || from > start {
					t.Errorf("key %q: %v", key, err)
				}
				found[name] = string(raw[start:end])
			})
			if len(found) != len(object) {
				t.Fatalf("%d members, want %d", len(found), len(object))
			}
			for name, v := range object {
				if found[name] != string(v) {
					t.Errorf("%q is %q, want %q", name, found[name], v)
				}
			}
		}
	})
}

func FuzzUnmark(f *testing.F) {
	f.Add([]byte(`{"cache_control":{},"content":[{"a":1,"cache_control":null}]}`))
	f.Add([]byte(`[{"cache_control":1}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if json.Valid(raw) && !json.Valid(unmark(raw)) {
			t.Errorf("%s became %s", raw, unmark(raw))
		}
	})
}

// A 2 MB request, as the last of a long run is: what the server does with it is
// no part of the client's gap, but of the run's wall time.
func BenchmarkSplit(b *testing.B) {
	message := `{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"` + strings.Repeat("line of a file\\n", 700) + `"}]}]}`
	body := []byte(`{"system":[{"type":"text","text":"s","cache_control":{}}],"messages":[` + strings.Repeat(message+",", 190) + message + `]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := split("anthropic", body); err != nil {
			b.Fatal(err)
		}
	}
}
