package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"garuda/internal/core"
)

// stubTool is a tool made of two functions.
type stubTool struct {
	spec Spec
	plan func(json.RawMessage) (*Plan, error)
	run  func(context.Context, *Call) (*Output, error)
}

func (s *stubTool) Spec() *Spec { return &s.spec }
func (s *stubTool) Plan(_ context.Context, _ *Env, in json.RawMessage) (*Plan, error) {
	return s.plan(in)
}
func (s *stubTool) Run(ctx context.Context, c *Call) (*Output, error) { return s.run(ctx, c) }

func stub(name string, plan Plan, run func(context.Context, *Call) (*Output, error)) *stubTool {
	return &stubTool{
		spec: Spec{Name: name, Class: ClassPath, Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`)},
		plan: func(json.RawMessage) (*Plan, error) { p := plan; return &p, nil },
		run:  run,
	}
}

// decider answers with what it is given, in order; the last one stays.
type decider struct{ answers []*Decision }

func (d *decider) Decide(req *DecisionRequest) *Decision {
	a := d.answers[0]
	if len(d.answers) > 1 {
		d.answers = d.answers[1:]
	}
	out := *a
	if out.Outcome == Allow && out.Grant == nil {
		out.Grant = NewGrant(req.CallID)
	}
	return &out
}

func (d *decider) Resolve(req *DecisionRequest, _ *Decision, a Answer) *Decision {
	if a.Choice == AnswerDeny {
		return &Decision{Outcome: Deny, By: "user", Reason: "no"}
	}
	return &Decision{Outcome: Allow, By: "user", Grant: NewGrant(req.CallID)}
}

func allow() *decider { return &decider{answers: []*Decision{{Outcome: Allow}}} }

func pipeline(t *testing.T, d Decider, tools ...Tool) *Pipeline {
	t.Helper()
	r, err := NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return &Pipeline{Registry: r, Decider: d, Env: &Env{Clock: core.SystemClock}}
}

func call(p *Pipeline, name, input string) *CallResult {
	ctx := context.Background()
	return p.Run(ctx, p.Prepare(ctx, core.Block{Type: core.BlockToolUse, ID: "c1", Name: name, Input: input}), 0, Observer{})
}

func ok(text string) func(context.Context, *Call) (*Output, error) {
	return func(context.Context, *Call) (*Output, error) { return &Output{Text: text}, nil }
}

func TestResults(t *testing.T) {
	boom := func(context.Context, *Call) (*Output, error) { panic("boom") }
	fault := func(context.Context, *Call) (*Output, error) { return nil, errors.New("disk on fire") }
	partial := func(context.Context, *Call) (*Output, error) {
		return &Output{Text: "half of it"}, errors.New("then it broke")
	}
	for _, tc := range []struct {
		name, tool, input, want string
		run                     func(context.Context, *Call) (*Output, error)
		isError                 bool
	}{
		{"fine", "good", `{}`, "done", ok("done"), false},
		{"nothing to say", "good", `{}`, "(no output)", ok(" \n"), false},
		{"unknown tool", "god", `{}`, `Error: god failed: there is no tool named "god"; did you mean "good"?`, ok(""), true},
		{"bad input", "good", `{"pth":"x"}`, `Error: good failed: good has no field "pth"; did you mean "path"?`, ok(""), true},
		{"failure", "good", `{}`, "Error: good failed: disk on fire", fault, true},
		{"failure with output", "good", `{}`, "half of it", partial, true},
		{"panic", "good", `{}`, "Error: good failed: it stopped on an internal error (boom); try another way and report this", boom, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := call(pipeline(t, allow(), stub("good", Plan{}, tc.run)), tc.tool, tc.input)
			if got := r.Result.ResultText(); got != tc.want || r.Result.IsError != tc.isError {
				t.Errorf("got %q (error %v), want %q (%v)", got, r.Result.IsError, tc.want, tc.isError)
			}
			if r.Result.ID != "c1" || r.Denied {
				t.Errorf("id %q, denied %v", r.Result.ID, r.Denied)
			}
		})
	}
}

func TestDenialsNeverRun(t *testing.T) {
	ran := false
	run := func(context.Context, *Call) (*Output, error) { ran = true; return &Output{}, nil }
	for name, d := range map[string]*decider{
		"denied":                   {answers: []*Decision{{Outcome: Deny, By: "rule", Reason: "rule x"}}},
		"asked, and nobody to ask": {answers: []*Decision{{Outcome: Ask, Question: &Question{}}}},
	} {
		r := call(pipeline(t, d, stub("good", Plan{}, run)), "good", `{}`)
		if ran || !r.Denied || !r.Result.IsError || !strings.HasPrefix(r.Result.ResultText(), "Permission denied: ") {
			t.Errorf("%s: ran %v, %+v", name, ran, r)
		}
	}
}

// A decision without a grant, with one for another call, or with a used one is a
// hole: nothing runs.
func TestNothingRunsWithoutItsOwnGrant(t *testing.T) {
	used := NewGrant("c1")
	if err := used.Use("c1"); err != nil {
		t.Fatal(err)
	}
	for name, grant := range map[string]*Grant{"another call's": NewGrant("c2"), "used": used} {
		ran := false
		d := &decider{answers: []*Decision{{Outcome: Allow, Grant: grant}}}
		r := call(pipeline(t, d, stub("good", Plan{}, func(context.Context, *Call) (*Output, error) {
			ran = true
			return &Output{}, nil
		})), "good", `{}`)
		if ran || !r.Result.IsError {
			t.Errorf("%s grant: ran %v, result %q", name, ran, r.Result.ResultText())
		}
	}
	var none *Grant
	if none.Use("c1") == nil {
		t.Error("no grant at all was good enough")
	}
}

func TestIntentComesAfterTheDecisionAndBeforeTheRun(t *testing.T) {
	var order []string
	p := pipeline(t, allow(), stub("good", Plan{Target: "x"}, func(context.Context, *Call) (*Output, error) {
		order = append(order, "run")
		return &Output{}, nil
	}))
	p.Intent = func(id, name, target string) error {
		order = append(order, "intent "+id+" "+name+" "+target)
		return nil
	}
	call(p, "good", `{}`)
	if got := strings.Join(order, ", "); got != "intent c1 good x, run" {
		t.Errorf("order %q", got)
	}
	order = nil
	p.Intent = func(string, string, string) error { return errors.New("disk full") }
	if r := call(p, "good", `{}`); !r.Result.IsError || order != nil {
		t.Errorf("ran without its intent on disk: %v, %q", order, r.Result.ResultText())
	}
}

func TestCheckWhileRunning(t *testing.T) {
	d := &decider{answers: []*Decision{{Outcome: Allow}, {Outcome: Deny, Reason: "that host is not allowed"}}}
	r := call(pipeline(t, d, stub("good", Plan{}, func(ctx context.Context, c *Call) (*Output, error) {
		return nil, c.Check(ctx, Effects{Hosts: []string{"evil.example"}}, "evil.example", "")
	})), "good", `{}`)
	if got := r.Result.ResultText(); !strings.Contains(got, "Permission denied: that host is not allowed") {
		t.Errorf("result %q", got)
	}
}

func TestLongResultsLoseTheirMiddle(t *testing.T) {
	long := strings.Repeat("ä", resultLimit) + "THE END"
	r := call(pipeline(t, allow(), stub("good", Plan{}, ok(long))), "good", `{}`)
	got := r.Result.ResultText()
	if len([]rune(got)) > resultLimit+200 || !strings.HasSuffix(got, "THE END") || !strings.Contains(got, "left out here") {
		t.Errorf("%d characters, ending in %q", len([]rune(got)), got[len(got)-20:])
	}
}

// A tool may say that its results are shorter, whatever it gives back.
func TestAToolsOwnResultCap(t *testing.T) {
	for name, r := range map[string]func(context.Context, *Call) (*Output, error){
		"output": ok(strings.Repeat("ä", 2_000)),
		"error":  func(context.Context, *Call) (*Output, error) { return nil, errors.New(strings.Repeat("ä", 2_000)) },
	} {
		short := stub("short", Plan{}, r)
		short.spec.MaxResult = 900
		p := pipeline(t, allow(), short)
		if n := len([]rune(call(p, "short", `{}`).Result.ResultText())); n < 900 || n > 900+200 {
			t.Errorf("%s: %d characters", name, n)
		}
		if p.ResultCap("short") != 900 || p.ResultCap("none") != resultLimit {
			t.Errorf("caps %d and %d", p.ResultCap("short"), p.ResultCap("none"))
		}
	}
}

func TestRegistryRefusesTwins(t *testing.T) {
	if _, err := NewRegistry(stub("a", Plan{}, nil), stub("a", Plan{}, nil)); err == nil {
		t.Error("two tools of one name were taken")
	}
}

// However a call ends, it adds no more than its share.
func TestLongRefusalsLoseTheirMiddleToo(t *testing.T) {
	long := strings.Repeat("é", 3*resultLimit)
	unplanned := stub("t", Plan{}, ok(""))
	unplanned.plan = func(json.RawMessage) (*Plan, error) { return nil, errors.New(long) }
	for name, got := range map[string]*CallResult{
		"not planned": call(pipeline(t, allow(), unplanned), "t", "{}"),
		"denied":      call(pipeline(t, &decider{answers: []*Decision{{Outcome: Deny, Reason: long}}}, stub("t", Plan{}, ok(""))), "t", "{}"),
		"unknown":     call(pipeline(t, allow(), stub("t", Plan{}, ok(""))), long, "{}"),
	} {
		text := got.Result.ResultText()
		if n := len([]rune(text)); n > resultLimit+200 || !strings.Contains(text, "characters left out here") {
			t.Errorf("%s: %d characters", name, n)
		}
	}
}
