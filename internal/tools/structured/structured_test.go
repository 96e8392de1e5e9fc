package structured

import (
	"fmt"
	"strings"
	"testing"

	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

func TestParseRefuses(t *testing.T) {
	object := func(rest string) string { return `{"type":"object",` + rest + `}` }
	for _, tc := range []struct{ name, schema, want string }{
		{"no JSON", "{\n  \"type\": object}", "line 2, column 11: invalid character 'o'"},
		{"cut", `{"type":"object"`, "unexpected end of JSON input"},
		{"a list", `["a"]`, "it must be a JSON object"},
		{"no type", `{"properties":{}}`, `at /type: the answer must be an object`},
		{"a list as the answer", `{"type":"array","items":{}}`, `put another value into a property of one`},
		{"a place on the web", object(`"properties":{"a/b":{"$ref":"https://example.com/s.json"}}`), `at /properties/a~1b/$ref: "https://example.com/s.json" leads out of the schema, and nothing is fetched`},
		{"a file", object(`"properties":{"a":{"$ref":"other.json#/a"}}`), "leads out of the schema"},
		{"a place that is not there", object(`"properties":{"a":{"$ref":"#/$defs/gone"}}`), "it is no JSON Schema that can be used"},
		{"a wrong keyword", object(`"required":"a"`), "it is no JSON Schema"},
		{"a bad pattern", object(`"properties":{"a":{"pattern":"["}}`), "it is no JSON Schema that can be used"},
		{"itself", object(`"$ref":"#"`), "comes back to itself"},
		{"a longer way to itself", object(`"allOf":[{"$ref":"#/$defs/b"}],"$defs":{"b":{"anyOf":[{"not":{"$ref":"#"}}]}}`), "comes back to itself"},
		{"by name", object(`"$defs":{"b":{"$anchor":"x","oneOf":[{"$ref":"#x"}]}}`), "comes back to itself"},
		{"in another spelling", object(`"$defs":{"b":{"allOf":[{"$ref":"#/%24defs/b"}]}}`), "comes back to itself"},
		{"by a name that stands elsewhere too", object(`"$defs":{"a":{"const":{"$anchor":"x"}},"b":{"$anchor":"x","oneOf":[{"$ref":"#x"}]}}`), "comes back to itself"},
		{"a name of its own", object(`"properties":{"a":{"$id":"https://example.com/a","allOf":[{"$ref":"#"}]}}`), `at /properties/a/$id: only the whole schema can have an "$id"; leave it out, and refer to the part as "#/properties/a"`},
		{"doubling", object(`"$ref":"#/$defs/0","$defs":{` + doubling(26) + `}`), "more than 10000 parts would be checked for one value"},
		{"deep", object(`"properties":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70)), "nested more than 64 levels deep"},
		{"large", object(`"description":"` + strings.Repeat("x", MaxSchema) + `"`), "at most 65536 go with each request"},
	} {
		_, err := Parse([]byte(tc.schema))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	for _, good := range []string{
		`{"type":"object"}`, "\ufeff {\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\"}",
		object(`"properties":{"children":{"type":"array","items":{"$ref":"#"}}}`), // a tree is no circle
		object(`"$id":"https://example.com/s","properties":{"$id":{"type":"string"}}`),
		object(`"$ref":"#/$defs/0","$defs":{` + doubling(10) + `}`),
		object(`"properties":{"a":{"$ref":"#/$defs/b"},"c":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}`),
	} {
		if _, err := Parse([]byte(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// doubling are parts each of which refers twice to the next.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"allOf":[{"$ref":"#/$defs/%d"},{"$ref":"#/$defs/%d"}]},`, i, i+1, i+1)
	}
	return b.String() + fmt.Sprintf(`"%d":{}`, n)
}

// What a model gets for answers that do not fit, and that one that fits stays as it is.
func TestAnswers(t *testing.T) {
	s, err := Parse([]byte(`{"type":"object","properties":{"count":{"type":"integer"},"file_path":{"type":"string"},"note":{"type":["string","null"]}},"required":["count"]}`))
	if err != nil {
		t.Fatal(err)
	}
	tools := []tool.Tool{New(s)}
	for _, tc := range []struct{ in, want string }{
		{`{"count":"3"}`, `Error: structured_output failed: count is "3", want a whole number`},
		{`{}`, `Error: structured_output failed: count is missing; give count, and if you like file_path, note`},
		{`[1]`, `Error: structured_output failed: the arguments are not a JSON object`},
		{`{"count":1,"note":null,"file_path":"x","more":[1]}`, "The answer was taken."},
	} {
		if got := tooltest.Call(t, nil, tools, Name, tc.in); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tc.in, got, tc.want)
		}
	}
	// Nothing is renamed, converted or left out on the way.
	in := `{"count": 12345678901234567890, "note": null, "file_path": "x"}`
	out, err := tooltest.Run(nil, tools[0], map[string]any{})
	if err != nil || string(out.Answer) != "{}" {
		t.Errorf("%+v, %v", out, err)
	}
	if got := tooltest.Call(t, nil, tools, Name, in); got != "The answer was taken." {
		t.Error(got)
	}
	if n := len(tools[0].Spec().Description); n > 260 {
		t.Errorf("the description has %d bytes", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"object","allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$anchor":"n","not":{"$ref":"#n"}}}}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"enum":[1,"x",null]}},"dependentSchemas":{"a":{"$ref":"#/properties/a"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		// What was accepted can be validated against, without an end to the stack.
		_ = tooltest.Call(t, nil, []tool.Tool{New(s)}, Name, `{"a":{"b":[{"a":1}]}}`)
	})
}
