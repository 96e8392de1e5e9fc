package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// delegate is a tool that has an agent do something: a session of its own that spends
// from the parent's. ends gets how each of its turns ended.
func delegate(parent **bench, limits Limits, ends *[]core.TurnEnd, replies ...reply) *fakeTool {
	small := newTool("task", tool.Plan{ReadOnly: true}, func(ctx context.Context, c *tool.Call, _ map[string]any) (*tool.Output, error) {
		child := New(Config{
			ID: "20260101-000000-child", Modes: &fakeModes{}, Clock: (*parent).clock, Jitter: func() float64 { return 0 },
			Model: &fakeModel{
				info:    llm.Info{Spec: "fake/small", MaxOutput: 64_000, Price: core.Price{Input: 2, Output: 2, Known: true}},
				replies: append([]reply(nil), replies...),
			},
			Limits: limits, Budget: (*parent).s.ChildBudget(c.ID, limits),
		})
		defer func() { _ = child.Close() }() // in memory only: there is nothing to fail
		sub := child.Subscribe(0)
		defer sub.Close()
		child.Submit(Prompt{Text: "look into it"})
		for {
			_, e, err := sub.Next(ctx)
			if err != nil {
				return nil, err
			}
			if ended, ok := e.(TurnEnded); ok {
				*ends = append(*ends, ended.Result.End)
				return &tool.Output{Text: string(ended.Result.End) + " " + ended.Result.Text}, nil
			}
		}
	})
	small.spec.MaxResult = 100
	return small
}

// What an agent spends is in the parent's journal at once, under the call that started
// it; the call's report stands in its place; every sum has it once.
func TestAnAgentsSpendingCountsAtOnce(t *testing.T) {
	var b *bench
	var ends []core.TurnEnd
	overloaded := fails(&llm.Error{Kind: llm.ErrOverloaded, Model: "fake/small", Status: 529})
	task := delegate(&b, Limits{MaxSteps: 3}, &ends, overloaded, says("found"))
	b = newBench(t, Config{}, []tool.Tool{task}, calls(use("1", "task", `{}`)), says("fine"))
	r := b.turn("go")
	if d := cmp.Diff([]core.TurnEnd{core.EndDone}, ends); d != "" {
		t.Fatal(d)
	}
	var kinds []string
	spent := 0
	for _, rec := range b.journal.records {
		switch rec := rec.(type) {
		case *session.ChildSpend:
			kinds = append(kinds, "child_spend "+rec.Call)
			spent += rec.Tokens
		case *session.ToolResults:
			kinds = append(kinds, "tool_results")
			if got := rec.Calls[0].Subagent; got == nil || len(got.Models) != 1 || got.Models[0].Usage.Total() != spent || got.Models[0].Requests != 2 {
				t.Errorf("the call reports %+v, %d tokens were spent", got, spent)
			}
		}
	}
	id := r.Session.Models[0].Spec
	if len(kinds) != 3 || kinds[2] != "tool_results" || !strings.HasPrefix(kinds[0], "child_spend ") || id != "fake/m" {
		t.Errorf("the journal has %q, the first model is %s", kinds, id)
	}
	small := r.Session.Models[1]
	if small.Spec != "fake/small" || small.Usage.Input != 10 || small.Usage.Unreported < 8192 || r.Usage.Unreported != small.Usage.Unreported {
		t.Errorf("the sums have %+v", r.Session)
	}
	stored := storedBench(t, Config{}, nil)
	j, err := stored.s.cfg.OpenJournal()
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range b.journal.records {
		if err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := stored.store.Load(b.s.ID())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Session.Models, h.Models, ofTheModel, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("a resume sums up otherwise (-was +loaded):\n%s", d)
	}
}

// An agent gets what its parent's answer leaves, and no more; a refused request is no
// step, ends that run only, and the parent can still answer.
func TestAParentCanAlwaysAnswer(t *testing.T) {
	for _, tc := range []struct {
		budget, child int
		ends          core.TurnEnd
	}{
		{17_500, 0, core.EndDone},
		{16_450, 0, core.EndTokenBudget},     // the floor is what is left
		{40_000, 8_000, core.EndTokenBudget}, // its own limit is less than one request
	} {
		t.Run(fmt.Sprint(tc.budget, " ", tc.child), func(t *testing.T) {
			var b *bench
			var ends []core.TurnEnd
			task := delegate(&b, Limits{TokenBudget: tc.child}, &ends, says("found"))
			b = newBench(t, Config{Limits: Limits{TokenBudget: tc.budget}}, []tool.Tool{task}, calls(use("1", "task", `{}`)), says("fine"))
			r := b.turn("go")
			if r.End != core.EndDone || r.Steps != 2 {
				t.Errorf("the parent ended %s after %d steps", r.End, r.Steps)
			}
			if d := cmp.Diff([]core.TurnEnd{tc.ends}, ends); d != "" {
				t.Error(d)
			}
		})
	}
}

// What a session is told anew when it is resumed counts before its first request is
// admitted.
func TestChangedInstructionsCount(t *testing.T) {
	for name, tc := range map[string]struct {
		system string
		tools  []llm.ToolSpec
		end    core.TurnEnd
	}{
		"as before":    {end: core.EndDone},
		"instructions": {system: strings.Repeat("Do as I say. ", 1_000), end: core.EndTokenBudget},
		"tools":        {tools: []llm.ToolSpec{{Name: "new", Description: strings.Repeat("It can do a lot. ", 1_000)}}, end: core.EndTokenBudget},
	} {
		h := &session.History{Messages: []*core.Message{core.UserText("hello there")}, Model: "fake/m", Turns: 1, Steps: 1,
			Usage: core.Usage{Input: 1000}, Cost: core.Cost{Known: true}, Context: 1000}
		b := newBench(t, Config{Limits: Limits{TokenBudget: 10_000}, History: h, System: tc.system, Tools: tc.tools}, nil, says("fine"))
		if r := b.turn("go on"); r.End != tc.end || tc.end != core.EndDone && (r.Steps != 0 || len(b.model.sent()) != 0) {
			t.Errorf("%s: ended %s after %d steps", name, r.End, r.Steps)
		}
	}
}

// Each limit is warned of once, also when it is an agent below that spends.
func TestBudgetWarnings(t *testing.T) {
	var b *bench
	var ends []core.TurnEnd
	much := func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		r := response(core.StopEndTurn, core.Text("ok"))
		r.Usage, r.UsageReported = core.Usage{Input: 48_000}, true
		return r, nil
	}
	task := delegate(&b, Limits{}, &ends, much)
	b = newBench(t, Config{Limits: Limits{TokenBudget: 60_000, SpendUSD: 1}}, []tool.Tool{task}, calls(use("1", "task", `{}`)), says("fine"))
	b.s.Submit(Prompt{Text: "go"})
	var warned []string
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		switch e := e.(type) {
		case BudgetWarning:
			warned = append(warned, e.Text)
		case ToolEnded:
			warned = append(warned, "the call ended")
		}
	}
	if d := cmp.Diff([]string{"80 % of this session's 60000 tokens are spent", "the call ended"}, warned); d != "" {
		t.Error(d)
	}
}
