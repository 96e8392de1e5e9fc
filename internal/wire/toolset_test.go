package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"garuda/internal/tool/toolset"
)

// opened is a system in an empty folder, with the built-in settings.
func opened(t *testing.T, attended bool) *System {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GARUDA_HOME", home)
	s, err := Open(t.Context(), &Options{
		CWD: t.TempDir(), InMemory: true, Version: "0.0.0", Attended: attended, UseModel: fakeModel{spec: "anthropic/claude-sonnet-4-5"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// What every request begins with is paid for with every one of them.
func TestFirstRequestIsSmall(t *testing.T) {
	const limit = 16 << 10
	for _, attended := range []bool{true, false} {
		s := opened(t, attended)
		s.buildPrompt()
		type object = map[string]any
		var tools []object
		for _, spec := range s.toolSpecs(toolset.On) {
			tools = append(tools, object{"name": spec.Name, "description": spec.Description, "input_schema": spec.Schema})
		}
		var body bytes.Buffer
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(object{
			"model": "claude-sonnet-4-5", "max_tokens": 8192, "stream": true, "tools": tools,
			"system":   []object{{"type": "text", "text": s.system}},
			"messages": []object{{"role": "user", "content": []object{{"type": "text", "text": "hi"}}}},
		}); err != nil {
			t.Fatal(err)
		}
		t.Logf("attended %v: %d bytes, of which the prompt is %d", attended, body.Len(), len(s.system))
		if body.Len() > limit {
			t.Errorf("attended %v: the first request is %d bytes, more than %d; shorten descriptions, or put a tool into a set that is deferred",
				attended, body.Len(), limit)
		}
	}
}

// A set with another name would be deferred for ever: no setting names it.
func TestToolsAreInKnownSets(t *testing.T) {
	sets := []string{"core", "edit", "git", "web", "code", "tasks", "agents", "more"}
	ofTheSession := []string{
		"ask", "skill", "remember", "recall", "forget", "enter_plan_mode", "exit_plan_mode", "structured_output", toolset.Search,
	}
	for _, r := range opened(t, true).Tools() {
		switch {
		case r.Spec.Set == "" && !slices.Contains(ofTheSession, r.Spec.Name):
			t.Errorf("%s is in no set", r.Spec.Name)
		case r.Spec.Set != "" && !slices.Contains(sets, r.Spec.Set):
			t.Errorf("%s is in the set %q; there are %q", r.Spec.Name, r.Spec.Set, sets)
		}
	}
}
