package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"garuda/internal/testkit"
)

const editSchema = `{"type":"object","properties":{
	"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},
	"replace_all":{"type":"boolean"},"limit":{"type":"integer","minimum":1},"ratio":{"type":"number"},
	"mode":{"type":"string","enum":["files","content","count"]},"tags":{"type":"array","items":{"type":"string"}},
	"edits":{"type":"array","items":{"type":"object","properties":{"old_string":{"type":"string"},"replace_all":{"type":"boolean"}},"additionalProperties":false}}
	},"required":["path"],"additionalProperties":false}`

func schema(t testing.TB) *inputSchema {
	in, err := newInputSchema(&Spec{Name: "edit_file", Schema: json.RawMessage(editSchema)})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestInput(t *testing.T) {
	in := schema(t)
	for _, tc := range []struct{ name, raw, want, err string }{
		{name: "plain stays as it is", raw: `{ "path": "a" }`, want: `{ "path": "a" }`},
		{name: "camel case", raw: `{"path":"a","oldString":"x","replaceAll":true}`, want: `{"old_string":"x","path":"a","replace_all":true}`},
		{name: "names of other agents", raw: `{"file_path":"a","old_str":"x"}`, want: `{"old_string":"x","path":"a"}`},
		{name: "camel case of another agent's name", raw: `{"filePath":"a"}`, want: `{"path":"a"}`},
		{name: "numbers as strings", raw: `{"path":"a","limit":"5","ratio":"0.5"}`, want: `{"limit":5,"path":"a","ratio":0.5}`},
		{name: "booleans as strings", raw: `{"path":"a","replace_all":"True"}`, want: `{"path":"a","replace_all":true}`},
		{name: "another agent's value", raw: `{"path":"a","output_mode":"files_with_matches"}`, want: `{"mode":"files","path":"a"}`},
		{name: "what every tool does anyway", raw: `{"path":"a","-n":true}`, want: `{"path":"a"}`},
		{name: "null is nothing", raw: `{"path":"a","limit":null}`, want: `{"path":"a"}`},
		{name: "inside a list", raw: `{"path":"a","edits":[{"oldString":"x","replaceAll":"true"},{"old_string":"y","replace_all":null}]}`,
			want: `{"edits":[{"old_string":"x","replace_all":true},{"old_string":"y"}],"path":"a"}`},
		{name: "a list as a string", raw: `{"path":"a","edits":"[{\"old_str\":\"x\"}]"}`, want: `{"edits":[{"old_string":"x"}],"path":"a"}`},
		{name: "unknown field inside", raw: `{"path":"a","edits":[{"old_string":"x"},{"old_sting":"x"}]}`,
			err: `edit_file.edits[1] has no field "old_sting"; did you mean "old_string"?`},
		{name: "a list that is none", raw: `{"path":"a","edits":"[1"}`, err: `edits is "[1", want a list of objects with old_string, replace_all`},
		{name: "unknown field", raw: `{"path":"a","replce_all":true}`, err: `has no field "replce_all"; did you mean "replace_all"?`},
		{name: "far from any field", raw: `{"path":"a","zzzzzz":1}`, err: `its fields are edits, limit, mode`},
		{name: "a field of any length", raw: `{"path":"a","` + strings.Repeat("x", 5000) + `":1}`, err: `has no field "` + strings.Repeat("x", 59) + `…; its fields are edits`},
		{name: "same field twice", raw: `{"path":"a","file_path":"b"}`, err: `are the same field`},
		{name: "case cannot smuggle a second value", raw: `{"path":"a","Path":"b"}`, err: `are the same field`},
		{name: "missing", raw: `{}`, err: "path is missing; give path, and if you like edits, limit, mode, new_string, old_string, ratio, replace_all, tags"},
		{name: "empty text", raw: ``, err: "path is missing"},
		{name: "wrong type", raw: `{"path":5}`, err: `path is 5, want text: "5"`},
		{name: "below the minimum", raw: `{"path":"a","limit":0}`, err: "limit is 0, want a whole number of at least 1"},
		{name: "not in the list", raw: `{"path":"a","mode":"all"}`, err: `mode is "all", want files, content or count`},
		{name: "no number", raw: `{"path":"a","limit":"many"}`, err: `limit is "many", want a whole number of at least 1`},
		{name: "half a number", raw: `{"path":"a","limit":2.5}`, err: "limit is 2.5, want a whole number of at least 1"},
		{name: "half a number as a string", raw: `{"path":"a","limit":"2.5"}`, err: `limit is "2.5", want a whole number`},
		{name: "a number with a point", raw: `{"path":"a","limit":5.0}`, want: `{"limit":5,"path":"a"}`},
		{name: "and as a string", raw: `{"path":"a","limit":"5.0"}`, want: `{"limit":5,"path":"a"}`},
		{name: "a number that nothing holds", raw: `{"path":"a","limit":99999999999999999999}`, err: "edit_file.limit is 99999999999999999999, a number far too large"},
		{name: "one without an end", raw: `{"path":"a","limit":1e999}`, err: "far too large"},
		{name: "no boolean", raw: `{"path":"a","replace_all":"yes"}`, err: `replace_all is "yes", want true or false`},
		{name: "one where a list is wanted", raw: `{"path":"a","tags":"x"}`, err: `tags is "x", want a list of texts`},
		{name: "wrong inside", raw: `{"path":"a","edits":[{},{"old_string":["x"]}]}`, err: `edits[1].old_string is ["x"], want text`},
		{name: "text where an object is wanted", raw: `{"path":"a","edits":["x"]}`, err: `edits[0] is "x", want an object with old_string, replace_all`},
		{name: "long", raw: `{"path":["` + strings.Repeat("x", 100) + `"]}`, err: `path is ["` + strings.Repeat("x", 58) + `…, want text`},
		{name: "broken", raw: `{"path":"a`, err: "not a JSON object"},
		{name: "not an object", raw: `["a"]`, err: `the arguments are not a JSON object but ["a"]; send the fields by name`},
		{name: "a string", raw: `"rm -rf"`, err: "not a JSON object"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := in.check(tc.raw)
			switch {
			case tc.err == "" && err != nil:
				t.Fatalf("refused: %v", err)
			case tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)):
				t.Fatalf("error %v, want one with %q", err, tc.err)
			case tc.err == "" && string(got) != tc.want:
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// What was once accepted is accepted again, and stays as it is.
func TestCheckIsStable(t *testing.T) {
	in := schema(t)
	rapid.Check(t, func(t *rapid.T) {
		fields := map[string]any{}
		for _, name := range []string{"path", "filePath", "limit", "replaceAll", "replace_all", "mode", "old_str"} {
			if rapid.Bool().Draw(t, name) {
				fields[name] = rapid.SampledFrom([]any{"a", "5", 5, true, "false", nil, "files"}).Draw(t, name+" value")
			}
		}
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		once, err := in.check(string(raw))
		if err != nil {
			return
		}
		twice, err := in.check(string(once))
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%s became %s, then %s (%v)", raw, once, twice, err)
		}
	})
}

func FuzzInput(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzInput.corpus")
	f.Add(`{"path":"a","limit":"5"}`)
	f.Add(`{"Path":null}`)
	f.Add(`[`)
	in := schema(f)
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := in.check(raw)
		if err == nil && !json.Valid(got) {
			t.Errorf("%q became %q, which is no JSON", raw, got)
		}
		if err != nil {
			return
		}
		if again, err := in.check(string(got)); err != nil || string(again) != string(got) {
			t.Errorf("%q became %q, and that %q, %v", raw, got, again, err)
		}
	})
}

// A refusal in words says what may come instead, for the keywords that schemas use;
// the validator's own words stand for the others.
func TestExplain(t *testing.T) {
	for _, tc := range []struct{ property, value, want string }{
		{`{"type":"integer","minimum":1,"maximum":20}`, `50`, "x is 50, want a whole number from 1 to 20"},
		{`{"type":"number","maximum":0.5}`, `1.25`, "x is 1.25, want a number of at most 0.5"},
		{`{"type":["integer","null"]}`, `true`, "x is true, want a whole number or null"},
		{`{"type":"integer","enum":[1,2]}`, `3`, "x is 3, want 1 or 2"},
		{`{"type":"string","minLength":1}`, `""`, "x is empty"},
		{`{"type":"string","minLength":3}`, `"ab"`, "x has 2 characters, want at least 3"},
		{`{"type":"string","maxLength":2}`, `"äöü"`, "x has 3 characters, want at most 2"},
		{`{"type":"array","minItems":1}`, `[]`, "x is an empty list"},
		{`{"type":"array","minItems":2}`, `[1]`, "x has 1 entry, want at least 2"},
		{`{"type":"array","maxItems":1}`, `[1,2]`, "x has 2 entries, want at most 1"},
		{`{"type":"array","items":{"type":"integer"}}`, `{"a":1}`, `x is {"a":1}, want a list of numbers`},
		{`{"type":"object","properties":{"a":{"type":"string"},"b":{},"c":{}},"required":["b","a"]}`, `{}`,
			"x.b and x.a are missing; give b, a, and if you like c"},
		{`{"type":"object","properties":{"a":{"type":"boolean"}}}`, `{"a":1}`, "x.a is 1, want true or false"},
		{`{"type":"string","pattern":"^a"}`, `"b"`, `pattern: "b" does not match regular expression "^a"`},
		{`{"not":{"type":"string"}}`, `"b"`, "not: "},
	} {
		in, err := newInputSchema(&Spec{Name: "t", Schema: json.RawMessage(`{"type":"object","properties":{"x":` + tc.property + `}}`)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.check(`{"x":` + tc.value + `}`); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s, %s: %v, want %q", tc.property, tc.value, err, tc.want)
		}
	}
}
