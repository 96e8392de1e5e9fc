package tool

import (
	"context"
	"testing"
)

func TestDeferredToolsAreRefusedUntilTheyAreLoaded(t *testing.T) {
	ran := 0
	run := func(context.Context, *Call) (*Output, error) {
		ran++
		return &Output{Text: "done"}, nil
	}
	p := pipeline(t, allow(), stub("remind", Plan{}, run), stub("look", Plan{}, run))
	p.Registry.Off = map[string]string{"note": "todo.enabled is off"}
	loaded := false
	p.NotLoaded = func(name string) bool { return name == "remind" && !loaded }
	for _, tc := range []struct{ tool, input, want string }{
		{"remind", `{}`, `Error: remind failed: it is not loaded; call tool_search with the query "select:remind" first, and then this again`},
		{"remind", `{"wrong":1}`, `Error: remind failed: it is not loaded; call tool_search with the query "select:remind" first, and then this again`},
		{"remid", `{}`, `Error: remid failed: there is no tool named "remid"; did you mean "remind"?`},
		{"note", `{}`, "Error: note failed: it is off in this session (todo.enabled is off); go on without it, or tell the user what you need it for"},
		{"zzzzzz", `{}`, `Error: zzzzzz failed: there is no tool named "zzzzzz"; the tools are look`},
	} {
		if r := call(p, tc.tool, tc.input); r.Result.ResultText() != tc.want || !r.Result.IsError {
			t.Errorf("%s: %q, want %q", tc.tool, r.Result.ResultText(), tc.want)
		}
	}
	if ran != 0 {
		t.Fatalf("%d calls ran", ran)
	}
	loaded = true
	if r := call(p, "remind", `{}`); r.Result.ResultText() != "done" || ran != 1 {
		t.Errorf("loaded: %q after %d runs", r.Result.ResultText(), ran)
	}
	p.NotLoaded = nil // as tools are called by hand
	if r := call(p, "remind", `{}`); r.Result.ResultText() != "done" {
		t.Errorf("by hand: %q", r.Result.ResultText())
	}
}
