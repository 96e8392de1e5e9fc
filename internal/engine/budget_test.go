package engine

import (
	"context"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// A resumed session has spent what it spent before, what nobody reported and the
// request that was under way when the program was killed included.
func TestResumedBudget(t *testing.T) {
	said := []*core.Message{core.UserText("hello there")}
	history := func(change func(*session.History)) *session.History {
		h := &session.History{Messages: said, Model: "fake/m", Turns: 1, Steps: 1,
			Usage: core.Usage{Input: 1000, Output: 100, Unreported: 400}, Cost: core.Cost{USD: 0.01, Known: true}, UnreportedUSD: 0.02}
		if change != nil {
			change(h)
		}
		return h
	}
	// The next request reserves about 8,200 tokens, at a millionth of a dollar each.
	for _, tc := range []struct {
		name    string
		limits  Limits
		history *session.History
		end     core.TurnEnd
	}{
		{"tokens fit", Limits{TokenBudget: 9_800}, history(nil), core.EndDone},
		{"tokens do not", Limits{TokenBudget: 9_600}, history(nil), core.EndTokenBudget},
		{"money fits", Limits{SpendUSD: 0.0385}, history(nil), core.EndDone},
		{"money of unreported tokens counts", Limits{SpendUSD: 0.0380}, history(nil), core.EndSpend},
		{"the lost request counts", Limits{TokenBudget: 9_800}, history(func(h *session.History) { h.Asking = true }), core.EndTokenBudget},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Config{Limits: tc.limits, History: tc.history}, nil, says("fine"))
			if r := b.turn("go on"); r.End != tc.end {
				t.Errorf("ended %s (%v), want %s; spent so far %+v", r.End, r.Err, tc.end, r.Session)
			}
		})
	}
}

func TestLostRequestIsWrittenDown(t *testing.T) {
	h := &session.History{Messages: []*core.Message{core.UserText("hello")}, Model: "fake/m", Turns: 1, Asking: true}
	b := newBench(t, Config{History: h}, nil, says("fine"))
	r := b.turn("go on")
	if r.Session.Usage.Unreported < 8192 || r.Usage.Unreported != 0 {
		t.Errorf("unreported: %d of the session, %d of the turn", r.Session.Usage.Unreported, r.Usage.Unreported)
	}
	if u, ok := b.journal.records[0].(*session.Unreported); !ok || u.Tokens != r.Session.Usage.Unreported || u.USD <= 0 {
		t.Errorf("the journal begins with %+v", b.journal.records[0])
	}
}

// Every try reserves, and every failed one stays spent: three of about 8,200
// tokens fit into 25,000, a fourth does not.
func TestRetriesKeepTheirReservations(t *testing.T) {
	overloaded := fails(&llm.Error{Kind: llm.ErrOverloaded, Model: "fake/m", Status: 529})
	b := newBench(t, Config{Limits: Limits{TokenBudget: 25_000}}, nil, overloaded, overloaded, overloaded, says("never"))
	r := b.turn("go")
	if r.End != core.EndTokenBudget || r.Steps != 1 || len(b.model.sent()) != 3 {
		t.Errorf("ended %s after %d steps and %d requests", r.End, r.Steps, len(b.model.sent()))
	}
	if r.Usage.Unreported < 3*8192 || r.Usage.Input != 0 {
		t.Errorf("usage %+v", r.Usage)
	}
	var usd float64
	for _, rec := range b.journal.records {
		if u, ok := rec.(*session.Unreported); ok {
			usd += u.USD
		}
	}
	if usd < 3*0.0081 || usd > 3*0.0084 {
		t.Errorf("the journal has %f dollars of them", usd)
	}
}

// An interrupt that comes before a request costs nothing.
func TestNothingIsSpentAfterAnInterrupt(t *testing.T) {
	var b *bench
	stop := newTool("stop", tool.Plan{ReadOnly: true}, func(ctx context.Context, c *tool.Call, in map[string]any) (*tool.Output, error) {
		b.s.Interrupt(StopTurn)
		return echo(ctx, c, in)
	})
	b = newBench(t, Config{}, []tool.Tool{stop}, calls(use("1", "stop", `{}`)), says("never"))
	r := b.turn("go")
	if r.End != core.EndInterrupted || r.Steps != 1 || r.Usage.Unreported != 0 {
		t.Errorf("ended %s after %d steps, %+v", r.End, r.Steps, r.Usage)
	}
}
