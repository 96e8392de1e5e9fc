package engine

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
)

// answers is an answer with this usage; billed is what the provider says it costs.
// ofTheModel are what a model is and not what it used: no journal keeps them.
var ofTheModel = cmpopts.IgnoreFields(core.ModelUsage{}, "ContextWindow", "MaxOutput")

func answers(u core.Usage, billed float64) reply {
	return func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		r := response(core.StopEndTurn, core.Text("ok"))
		r.Usage, r.BilledUSD = u, billed
		return r, nil
	}
}

// Each model's usage, cost and requests are summed up apart, for a turn, for the
// session, and again after a resume.
func TestSumsByModel(t *testing.T) {
	overloaded := fails(&llm.Error{Kind: llm.ErrOverloaded, Model: "fake/m", Status: 529})
	silent := func(context.Context, *llm.Request, func(llm.Event)) (*llm.Response, error) {
		r := response(core.StopEndTurn, core.Text("ok"))
		r.Usage, r.UsageReported = core.Usage{}, false
		return r, nil
	}
	thinking := core.Usage{Input: 100, Output: 50, CacheRead: 1000, CacheWrite: 10, Thinking: 40, Searches: 1}
	b := storedBench(t, Config{}, nil, overloaded, answers(thinking, 0), answers(core.Usage{Input: 10, Output: 10}, 0.25), silent)
	b.model.info.Price = core.Price{Input: 1000, Output: 2000, CacheRead: 100, CacheWrite: 3000, Search: 0.01, Known: true}
	b.turn("one")
	b.turn("billed")
	b.turn("silent")
	unpriced := &fakeModel{info: llm.Info{Spec: "fake/unpriced"}, replies: []reply{answers(core.Usage{Input: 7, Output: 3}, 0)}}
	if err := b.s.SetModel(unpriced, 0); err != nil {
		t.Fatal(err)
	}
	r := b.turn("other")
	want := core.ByModel{{Spec: "fake/unpriced", Usage: core.Usage{Input: 7, Output: 3}, Requests: 1}}
	if d := cmp.Diff(want, r.Models); d != "" {
		t.Errorf("the turn: %s", d)
	}
	total := r.Session
	first := total.Models[0]
	if first.Requests != 4 || first.Usage.Thinking != 40 || first.Usage.Unreported == 0 || first.UnreportedUSD == 0 {
		t.Errorf("the first model: %+v", first)
	}
	// 0.1 + 0.1 + 0.1 + 0.03 + 0.01 by the price, 0.25 as billed.
	if usd := first.Cost.USD; !first.Cost.Known || usd < 0.5899 || usd > 0.5901 {
		t.Errorf("the first model costs %+v", first.Cost)
	}
	if total.Cost.Known || total.Usage != first.Usage.Add(r.Usage) || total.UnreportedUSD != first.UnreportedUSD {
		t.Errorf("the session: %+v", total)
	}
	h := b.loadAgain()
	loaded := Totals{Usage: h.Usage, Cost: h.Cost, UnreportedUSD: h.UnreportedUSD, Models: h.Models, Turns: h.Turns, Steps: h.Steps}
	if d := cmp.Diff(total, loaded, ofTheModel); d != "" {
		t.Errorf("a resume sums up otherwise (-was +loaded):\n%s", d)
	}
}

// A model whose price nobody knows costs nobody knows what, also when it only
// failed; one that is free stays free.
func TestFailuresOfAnUnknownPrice(t *testing.T) {
	for name, price := range map[string]core.Price{"unknown": {}, "free": {Known: true}} {
		b := storedBench(t, Config{}, nil, fails(&llm.Error{Kind: llm.ErrAuth, Model: "fake/m"}))
		b.model.info.Price = price
		r := b.turn("go")
		if r.Models[0].Cost.Known != price.Known || r.Session.Cost.Known != price.Known {
			t.Errorf("%s: %+v", name, r.Session)
		}
		if h := b.loadAgain(); h.Models[0].Cost.Known != price.Known || allKnown(h.Models) != price.Known {
			t.Errorf("%s: %+v", name, h.Models)
		}
	}
}

// A resumed session goes on with the sums by model, and books the request that was
// lost on the model that was asked.
func TestLostRequestIsItsModels(t *testing.T) {
	h := &session.History{
		Messages: []*core.Message{core.UserText("hello")}, Model: "fake/before", Told: "fake/before", Turns: 1, Asking: true,
		Models: core.ByModel{{Spec: "fake/before", Usage: core.Usage{Input: 5}, Cost: core.Cost{USD: 1, Known: true}, Requests: 1}},
	}
	b := newBench(t, Config{History: h}, nil, says("fine"))
	got := b.turn("go on").Session.Models
	if len(got) != 2 || got[0].Spec != "fake/before" || got[0].Requests != 2 || got[0].Usage.Unreported == 0 || got[1].Requests != 1 {
		t.Errorf("%+v", got)
	}
	if len(h.Models) != 1 || h.Models[0].Requests != 1 {
		t.Errorf("the history was changed: %+v", h.Models)
	}
	if u, ok := b.journal.records[0].(*session.Unreported); !ok || u.Model != "fake/before" {
		t.Errorf("the journal begins with %+v", b.journal.records[0])
	}
}

// Whoever waits sees why, for how long, and that it is over; a person who has
// enough ends the wait at once.
func TestWaitingCanBeSeenAndStopped(t *testing.T) {
	limited := fails(&llm.Error{Kind: llm.ErrRateLimit, Model: "fake/m", Status: 429, RetryAfter: 30 * time.Second})
	b := newBench(t, Config{}, nil, limited, says("there"), limited)
	b.s.Submit(Prompt{Text: "go"})
	events := b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok })
	var got []Event
	for _, e := range events {
		switch e := e.(type) {
		case Retrying:
			e.Err = nil
			got = append(got, e)
		case RetryEnded:
			got = append(got, e)
		}
	}
	want := []Event{
		Retrying{Attempt: 1, Max: 3, Wait: 30 * time.Second, Until: time.Unix(30, 0), Reason: "rate limit"},
		RetryEnded{Attempt: 1, Sent: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}

	b.clock.mu.Lock()
	b.clock.block = true
	b.clock.mu.Unlock()
	b.s.Submit(Prompt{Text: "again"})
	b.until(func(e Event) bool { _, ok := e.(Retrying); return ok })
	b.s.Interrupt(StopTurn)
	events = b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok })
	if end, ok := events[0].(RetryEnded); !ok || end.Sent {
		t.Errorf("after the interrupt came %+v", events[0])
	}
	if r := events[len(events)-1].(TurnEnded).Result; r.End != core.EndInterrupted || len(b.model.sent()) != 3 {
		t.Errorf("ended %s after %d requests", r.End, len(b.model.sent()))
	}
}
