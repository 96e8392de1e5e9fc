package toolsearch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

func deferred() []*tool.Spec {
	spec := func(name, description string, fields ...string) *tool.Spec {
		props := map[string]any{}
		for _, f := range fields {
			props[f] = map[string]any{"type": "string"}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": props})
		if err != nil {
			panic(err)
		}
		return &tool.Spec{Name: name, Description: description, Schema: schema}
	}
	return []*tool.Spec{
		spec("task_list", "List the items of the task list, with their owners.", "owner"),
		spec("task_create", "Add an item to the task list: work that others may take over, with what it depends on.", "subject"),
		spec("repl", "Run code in an interpreter that stays alive between calls; use bash for commands.", "language", "code"),
		spec("mcp__mail__send", "Sends a \u202emessage by the team's mail server", "recipient", "body"),
		spec("odd", ""),
	}
}

func TestDescriptionNamesWhatIsDeferred(t *testing.T) {
	spec := New(deferred()).Spec()
	_, list, _ := strings.Cut(spec.Description, "Tools:\n")
	want := `mcp__mail__send: Sends a [U+202E]message by the team's…
odd
repl: Run code in an interpreter that stays…
task_create: Add an item to the task list
task_list: List the items of the task list, with…`
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again := New(deferred()).Spec(); again.Description != spec.Description {
		t.Error("two of the same tools differ")
	}
	tooltest.CheckSpec[input](t, New(nil).Spec(), 400)
}

func TestLongLinesAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"Short.":                    "Short",
		"Reads a.b files.":          "Reads a.b files",
		"Two\n  lines":              "Two lines",
		strings.Repeat("word ", 30): strings.TrimSpace(strings.Repeat("word ", 8)) + "…",
		strings.Repeat("x", 100):    strings.Repeat("x", lineLimit) + "…",
		strings.Repeat("ü", 40):     strings.Repeat("ü", 40),
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		// By name, as other agents have it, and in shorter forms.
		{"select:repl", "repl"},
		{"select:task_list,repl", "task_list repl"},
		{"SELECT: task_list, task_create task_list", "task_list task_create"},
		{"Task_List", "task_list"},
		{"task_list task_create", "task_list task_create"},
		{"select:repl,nope", "repl"},
		// By words: the name first, then what stands in the description and the fields.
		{"task", "task_create task_list"},
		{"tasks", "task_create task_list"},
		{"list items", "task_list task_create"},
		{"send mail", "mcp__mail__send"},
		{"+mail list", "mcp__mail__send"},
		{"interpreter", "repl"},
		{"recipient", "mcp__mail__send"},
		{"python language", "repl"},
		{"the list", "task_list task_create"},
		{"for the and with", ""},
		{"weather", ""},
		{"+weather task", ""},
	} {
		out, err := tooltest.Run(nil, New(deferred()), map[string]any{"query": tc.query})
		if err != nil {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		if got := strings.Join(out.Load, " "); got != tc.want {
			t.Errorf("%s: loads %q, want %q", tc.query, got, tc.want)
		}
		if tc.want == "" && (out.IsError || !strings.HasPrefix(out.Text, "No tool matches these words. There are: mcp__mail__send, odd, ")) {
			t.Errorf("%s: %q", tc.query, out.Text)
		}
	}
}

func TestResult(t *testing.T) {
	for query, want := range map[string]string{
		"select:repl,task_lst": "Loaded; call them from your next response on:\n" +
			"repl: Run code in an interpreter that stays…\n" +
			`there is no tool "task_lst" to be loaded; did you mean "task_list"?`,
		"select:odd,bash": "Loaded; call them from your next response on:\nodd\n" +
			`there is no tool "bash" to be loaded; a tool that is listed already is called without loading`,
	} {
		if got := tooltest.MustRun(t, nil, New(deferred()), tooltest.Args{"query": query}); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", query, got, want)
		}
	}
}

func TestLimit(t *testing.T) {
	var many []*tool.Spec
	for i := range 30 {
		many = append(many, &tool.Spec{Name: fmt.Sprintf("mail_%02d", i), Description: "Something."})
	}
	for _, tc := range []struct{ args, last, more string }{
		{`{"query":"mail"}`, "mail_04", "[25 more match; say more, or raise limit (at most 20)]"},
		{`{"query":"mail","limit":50}`, "mail_19", "[10 more match; say more, or raise limit (at most 20)]\n[limit 50 was cut to 20, the most there is]"},
		{`{"query":"mail 07","limit":1}`, "mail_07", "[29 more match; say more, or raise limit (at most 20)]"},
	} {
		out, err := tooltest.Run(nil, New(many), json.RawMessage(tc.args))
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Load[len(out.Load)-1]; got != tc.last || !strings.HasSuffix(out.Text, "\n"+tc.more) {
			t.Errorf("%s: the last is %s of %q", tc.args, got, out.Text)
		}
	}
	// What is selected by name has no limit but the names.
	names := make([]string, len(many))
	for i, s := range many {
		names[i] = s.Name
	}
	out, err := tooltest.Run(nil, New(many), tooltest.Args{"query": "select:" + strings.Join(names, ",")})
	if err != nil || len(out.Load) != len(many) {
		t.Errorf("%d of %d loaded: %v", len(out.Load), len(many), err)
	}
}

// The wrong calls that models make, through the pipeline's own reading of input.
func TestWrongCalls(t *testing.T) {
	registry, err := tool.NewRegistry(New(deferred()))
	if err != nil {
		t.Fatal(err)
	}
	p := &tool.Pipeline{Registry: registry, Env: &tool.Env{}}
	for input, want := range map[string]string{
		`{}`:                            "query is missing; give query, and if you like limit",
		`{"query":""}`:                  `query is empty; give words, or "select:" and names`,
		`{"query":"select: , "}`:        `query is empty; give words, or "select:" and names`,
		`{"query":"???"}`:               `query is empty; give words, or "select:" and names`,
		`{"query":"select:task_lsit"}`:  `there is no tool "task_lsit" to be loaded; did you mean "task_list"?`,
		`{"query":"select:bash,zzz"}`:   `there is no tool "bash" to be loaded; a tool that is listed already is called without loading; there is no tool "zzz" to be loaded; a tool that is listed already is called without loading`,
		`{"query":"mail","limit":"no"}`: `limit is "no", want a whole number of at least 1`,
		`{"query":"mail","limit":0}`:    "limit is 0, want a whole number of at least 1",
		`{"query":"mail","mode":"x"}`:   `tool_search has no field "mode"; its fields are limit, query`,
		`{"qury":"mail"}`:               `tool_search has no field "qury"; did you mean "query"?`,
		`{"query":["repl"]}`:            `query is ["repl"], want text`,
		// Taken, as other agents call it.
		`{"query":"select:repl","max_results":"3"}`: "",
		`{"Query":"repl"}`:                          "",
	} {
		got := p.Prepare(t.Context(), core.Block{Type: core.BlockToolUse, ID: "1", Name: "tool_search", Input: input}).Failed()
		if want != "" {
			want = "Error: tool_search failed: " + want
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", input, got, want)
		}
	}
}
