package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		{name: "null is nothing", raw: `{"path":"a","limit":null}`, want: `{"path":"a"}`},
		{name: "inside a list", raw: `{"path":"a","edits":[{"oldString":"x","replaceAll":"true"},{"old_string":"y","replace_all":null}]}`,
			want: `{"edits":[{"old_string":"x","replace_all":true},{"old_string":"y"}],"path":"a"}`},
		{name: "a list as a string", raw: `{"path":"a","edits":"[{\"old_str\":\"x\"}]"}`, want: `{"edits":[{"old_string":"x"}],"path":"a"}`},
		{name: "unknown field inside", raw: `{"path":"a","edits":[{"old_string":"x"},{"old_sting":"x"}]}`,
			err: `edit_file.edits[1] has no field "old_sting"; did you mean "old_string"?`},
		{name: "a list that is none", raw: `{"path":"a","edits":"[1"}`, err: "edits"},
		{name: "unknown field", raw: `{"path":"a","replce_all":true}`, err: `has no field "replce_all"; did you mean "replace_all"?`},
		{name: "far from any field", raw: `{"path":"a","zzzzzz":1}`, err: `its fields are edits, limit, mode`},
		{name: "same field twice", raw: `{"path":"a","file_path":"b"}`, err: `are the same field`},
		{name: "case cannot smuggle a second value", raw: `{"path":"a","Path":"b"}`, err: `are the same field`},
		{name: "missing", raw: `{}`, err: "path"},
		{name: "empty text", raw: ``, err: "path"},
		{name: "wrong type", raw: `{"path":5}`, err: "path"},
		{name: "below the minimum", raw: `{"path":"a","limit":0}`, err: "limit"},
		{name: "not in the list", raw: `{"path":"a","mode":"all"}`, err: "mode"},
		{name: "broken", raw: `{"path":"a`, err: "not a JSON object"},
		{name: "not an object", raw: `["a"]`, err: "not a JSON object"},
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
