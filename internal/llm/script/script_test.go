package script

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
)

const fix = `{"version": 1, "name": "fix", "steps": [
  {"thinking": "Look.", "text": "I run the test in {{root}}.", "calls": [{"name": "bash", "input": {"command": "sh {{root}}/t.sh", "a": 1}}],
   "usage": {"input": 10, "output": 2}},
  {"require": [{"call": 0, "contains": "FAIL", "error": true}], "text": "überrascht 😀"}
]}`

func play(t *testing.T, m *Model, msgs ...*core.Message) (*llm.Response, []llm.Event, error) {
	t.Helper()
	var events []llm.Event
	r, err := m.Stream(t.Context(), &llm.Request{System: "s", Messages: msgs}, func(e llm.Event) { events = append(events, e) })
	return r, events, err
}

func load(t *testing.T, text string, vars map[string]string) *Model {
	t.Helper()
	s, err := Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(s, Options{Vars: vars})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPlay(t *testing.T) {
	m := load(t, fix, map[string]string{"root": `/t"x`})
	ask := core.UserText("fix it")
	r, events, err := play(t, m, ask)
	if err != nil {
		t.Fatal(err)
	}
	wantMsg := &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{
		{Type: core.BlockThinking, Text: "Look.", Provider: Format},
		core.Text(`I run the test in /t"x.`),
		{Type: core.BlockToolUse, ID: "call_1_1", Name: "bash", Input: `{"command":"sh /t\"x/t.sh","a":1}`},
	}}
	if d := cmp.Diff(wantMsg, r.Message); d != "" {
		t.Error(d)
	}
	if r.Stop != core.StopToolUse || !r.UsageReported || r.Usage.Input != 10 || len(r.RequestHash) != 64 || r.RequestBytes == 0 {
		t.Errorf("%+v", r)
	}
	var text, thinking string
	deltas := 0
	for _, e := range events {
		switch e := e.(type) {
		case llm.TextDelta:
			text += e.Text
			deltas++
		case llm.ThinkingDelta:
			thinking += e.Text
		}
	}
	if text != `I run the test in /t"x.` || thinking != "Look." || deltas < 2 {
		t.Errorf("%q in %d deltas, %q", text, deltas, thinking)
	}
	if last := events[len(events)-1]; last != (llm.ToolCallStarted{ID: "call_1_1", Name: "bash"}) {
		t.Errorf("%v", last)
	}
	result := &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("call_1_1", true, core.Text("1 test: FAIL"))}}
	r2, _, err := play(t, m, ask, r.Message, result)
	if err != nil || r2.Stop != core.StopEndTurn || r2.UsageReported || r2.Message.PlainText() != "überrascht 😀" || r2.RequestHash == r.RequestHash {
		t.Errorf("%+v, %v", r2, err)
	}
	if reqs := m.Requests(); len(reqs) != 2 || len(reqs[0].Messages) != 1 || len(reqs[1].Messages) != 3 {
		t.Errorf("%d requests", len(reqs))
	}
}

// A demonstration cannot say that a test failed when it did not.
func TestRequirements(t *testing.T) {
	yes, no := true, false
	for name, tt := range map[string]struct {
		require Requirement
		result  *core.Message
		problem string
	}{
		"met":          {Requirement{Contains: "FAIL", Error: &yes}, resultMsg(true, "FAIL"), ""},
		"lacks, met":   {Requirement{Lacks: "FAIL", Error: &no}, resultMsg(false, "ok"), ""},
		"not there":    {Requirement{Contains: "FAIL"}, resultMsg(true, "ok"), `expected to contain "FAIL"; it is "ok"`},
		"there":        {Requirement{Lacks: "FAIL"}, resultMsg(true, "FAIL"), `expected not to contain "FAIL"`},
		"no error":     {Requirement{Error: &yes}, resultMsg(false, "ok"), "error was expected to be true"},
		"no result":    {Requirement{Call: 1, Contains: "x"}, resultMsg(false, "x"), "the last message has 1 results"},
		"no results":   {Requirement{Contains: "x"}, core.UserText("x"), "the last message has 0 results"},
		"a long one":   {Requirement{Contains: "x"}, resultMsg(false, strings.Repeat("é", 1000)), "…"},
		"no message":   {Requirement{Contains: "x"}, nil, "0 results"},
		"by its place": {Requirement{Call: 0, Contains: "x"}, resultMsg(false, "x"), ""},
	} {
		m, err := New(&Scenario{Name: "n", Steps: []Step{{Require: []Requirement{tt.require}, Text: "t"}}}, Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		var msgs []*core.Message
		if tt.result != nil {
			msgs = append(msgs, tt.result)
		}
		_, events, err := play(t, m, msgs...)
		var le *llm.Error
		switch {
		case tt.problem == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.problem != "" && (!errors.As(err, &le) || !errors.Is(err, ErrScenario) || le.Kind != llm.ErrBadRequest ||
			!strings.Contains(err.Error(), tt.problem) || len(events) > 0):
			t.Errorf("%s: %v (%d events)", name, err, len(events))
		}
	}
}

func resultMsg(isError bool, text string) *core.Message {
	return &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("c", isError, core.Text(text))}}
}

func TestBeyondTheEnd(t *testing.T) {
	m, err := New(&Scenario{Name: "n", Steps: []Step{{Text: "t"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := play(t, m, core.UserText("a")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := play(t, m, core.UserText("a")); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), "has 1 steps") {
		t.Errorf("%v", err)
	}
}

func TestErrorsAndRetry(t *testing.T) {
	m := load(t, `{"version": 1, "name": "n", "steps": [
		{"text": "half", "error": {"kind": "rate_limit", "status": 429, "retryAfterMs": 1500}}, {"text": "whole"}]}`, nil)
	r, events, err := play(t, m, core.UserText("a"))
	var le *llm.Error
	if !errors.As(err, &le) || r != nil || le.Kind != llm.ErrRateLimit || le.RetryAfter.Milliseconds() != 1500 || !le.Streaming || le.Status != 429 || len(events) == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, _, err = play(t, m, core.UserText("a")); err != nil || r.Message.PlainText() != "whole" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, err := New(&Scenario{Steps: []Step{{Text: "t", Wait: func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}, {Text: "u"}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stream(ctx, &llm.Request{}, func(llm.Event) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := m.Stream(ctx, &llm.Request{}, func(llm.Event) { t.Error("spoke after the end") }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 2, "steps": [{"text": "a"}]}`:                           "version 2",
		`{"version": 1, "steps": []}`:                                        "no steps",
		`{"version": 1, "steps": [{}]}`:                                      "step 1 says nothing",
		`{"version": 1, "steps": [{"txt": "a"}]}`:                            `"txt"`,
		`{"version": 1, "steps": [{"text": "a"}]} {}`:                        "after the object",
		`{"version": 1, "steps": [{"calls": [{"input": {}}]}]}`:              "no name",
		`{"version": 1, "steps": [{"calls": [{"name": "x"}]}]}`:              "either input or raw",
		`{"version": 1, "steps": [{"calls": [{"name": "x", "input": []}]}]}`: "not a JSON object",
		`{"version": 1, "steps": [{"text": "a", "require": [{"call": 0}]}]}`: "requires nothing",
		`{"version": 1, "steps": [{"error": {}}]}`:                           "no kind",
		`{"version": 1, "steps": [{"text": "a"}, {"text": "b", "calls": [{"name": "x", "input": {}, "raw": "{"}], "stop": ""}]}`: "either input or raw",
	} {
		if _, err := Parse("test", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestFill(t *testing.T) {
	vars := map[string]string{"root": "/a\nb", "x": "1"}
	for in, want := range map[string]string{
		"plain": "plain", "{{x}}{{x}}": "11", "{{ x }}": "{{ x }}", "a {{": "a {{", "{{{x}}}": "{1}", "{{}}": "{{}}", "${{x}}": "$1", "{{X}}": "{{X}}",
	} {
		if got, err := fill(in, vars, false); err != nil || got != want {
			t.Errorf("fill(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	if got, _ := fill(`{"a":"{{root}}"}`, vars, true); got != `{"a":"/a\nb"}` {
		t.Errorf("%q", got)
	}
	if _, err := New(&Scenario{Steps: []Step{{Text: "{{none}}"}}}, Options{}); err == nil || !strings.Contains(err.Error(), "{{none}}") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(fix))
	f.Add([]byte(`{"version":1,"steps":[{"calls":[{"name":"x","input":  null}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz", data)
		if err != nil {
			return
		}
		m, err := New(s, Options{Vars: map[string]string{"root": "/r"}})
		if err != nil {
			return
		}
		for range s.Steps {
			_, _ = m.Stream(t.Context(), &llm.Request{}, func(llm.Event) {})
		}
	})
}
