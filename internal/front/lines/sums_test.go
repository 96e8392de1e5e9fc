package lines

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
)

// Where usage was not reported, or a price is not known, no sum looks whole, and
// none looks like nothing.
func TestUsage(t *testing.T) {
	priced := core.Price{Known: true, Input: 1, Output: 5}
	known, nothing := core.Cost{USD: 0.5, Known: true}, core.Cost{Known: true}
	for _, tc := range []struct {
		name  string
		usage core.Usage
		cost  core.Cost
		price core.Price
		want  string
	}{
		{"all reported", core.Usage{Input: 10}, known, priced, "10 tokens in, 0 out · $0.50"},
		{"everything", core.Usage{Input: 10, CacheRead: 200, CacheWrite: 30, Output: 9, Thinking: 4, Searches: 2}, known, priced,
			"240 tokens in (200 from cache, 30 written to it), 9 out (4 thinking), 2 web searches · $0.50"},
		{"a first message", core.Usage{Input: 10, CacheWrite: 30, Searches: 1}, known, priced, "40 tokens in (30 written to cache), 0 out, 1 web search · $0.50"},
		{"some not reported", core.Usage{Input: 10, Unreported: 5}, known, priced, "at least 10 tokens in, 0 out · at least $0.50"},
		{"a request that failed", core.Usage{Unreported: 5}, nothing, priced, "tokens not reported · cost not reported"},
		{"one of unknown price", core.Usage{Unreported: 5}, nothing, core.Price{}, "tokens not reported · cost unknown"},
		{"no price", core.Usage{Input: 10}, core.Cost{}, core.Price{}, "10 tokens in, 0 out · cost unknown"},
		{"a local model", core.Usage{Input: 10, Unreported: 5}, nothing, core.Price{Known: true}, "at least 10 tokens in, 0 out · free"},
		{"a price for some", core.Usage{Input: 10}, core.Cost{USD: 0.5}, priced, "10 tokens in, 0 out · at least $0.50"},
	} {
		r := &engine.TurnResult{End: core.EndDone, Steps: 1, Usage: tc.usage, Cost: tc.cost}
		if got, want := Usage(r, &llm.Info{Spec: "x/m", Price: tc.price}), "done · 1 step · "+tc.want; got != want {
			t.Errorf("%s: %q, want %q", tc.name, got, want)
		}
	}
	if got, want := Usage(&engine.TurnResult{End: core.EndError, Cost: nothing}, &llm.Info{}), "error · 0 steps"; got != want {
		t.Errorf("nothing sent: %q, want %q", got, want)
	}
}

func TestTotals(t *testing.T) {
	priced := &llm.Info{Spec: "p/m", Price: core.Price{Known: true, Input: 1}}
	one, two := core.Usage{Input: 5, CacheRead: 20, CacheWrite: 3, Output: 7}, core.Usage{Input: 2, Output: 1}
	for _, tt := range []struct {
		name string
		t    engine.Totals
		info *llm.Info
		last *engine.TurnResult
		want []string
	}{
		{"nothing yet", engine.Totals{Cost: core.Cost{Known: true}}, priced, nil, []string{
			"model    p/m", "turns    0, with 0 steps", "tokens   0 in, 0 out", "cost     $0"}},
		{"all known", engine.Totals{Turns: 2, Steps: 1, Usage: one, Cost: core.Cost{USD: 1.234, Known: true}}, priced,
			&engine.TurnResult{End: core.EndDone, Steps: 1, Usage: two, Cost: core.Cost{USD: 0.02, Known: true}}, []string{
				"model    p/m", "turns    2, with 1 step", "tokens   28 in (20 from cache, 3 written to it), 7 out", "cost     $1.23",
				"last     done · 1 step · 2 tokens in, 1 out · $0.02"}},
		{"some not reported", engine.Totals{Usage: core.Usage{Input: 5, Unreported: 900}, Cost: core.Cost{USD: 0.001, Known: true}, UnreportedUSD: 0.02}, priced, nil, []string{
			"model    p/m", "turns    0, with 0 steps", "tokens   at least 5 in, 0 out; up to 900 more", "cost     at least $0.0010; up to $0.02 more"}},
		{"nothing reported", engine.Totals{Usage: core.Usage{Unreported: 900}, Cost: core.Cost{Known: true}, UnreportedUSD: 0.02}, priced, nil, []string{
			"model    p/m", "turns    0, with 0 steps", "tokens   not reported; up to 900", "cost     not reported; up to $0.02"}},
		{"no price", engine.Totals{Cost: core.Cost{Known: true}}, &llm.Info{Spec: "x/y"}, nil, []string{
			"model    x/y", "turns    0, with 0 steps", "tokens   0 in, 0 out", "cost     unknown, as the price of x/y is"}},
		{"two models", engine.Totals{Usage: one.Add(two), Steps: 2, Cost: core.Cost{USD: 0.5},
			Models: core.ByModel{
				{Spec: "p/m", Usage: one, Cost: core.Cost{USD: 0.5, Known: true}, Requests: 1},
				{Spec: "x/y", Usage: two, Requests: 2},
			}}, priced, nil, []string{
			"model    p/m", "turns    0, with 2 steps", "tokens   30 in (20 from cache, 3 written to it), 8 out", "cost     at least $0.50, as not every price is known",
			"of this  p/m: 1 request · 28 tokens in (20 from cache, 3 written to it), 7 out · $0.50",
			"         x/y: 2 requests · 2 tokens in, 1 out · cost unknown"}},
	} {
		if diff := cmp.Diff(tt.want, TotalsRows(tt.t, tt.info, tt.last)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestTimes(t *testing.T) {
	const ms = 1e6
	for _, tc := range []struct {
		ms            int64
		elapsed, left string
	}{
		{0, "0 s", "0 s"}, {1, "0 s", "1 s"}, {1000, "1 s", "1 s"}, {1001, "1 s", "2 s"}, {119_000, "119 s", "119 s"}, {125_500, "2 min 5 s", "2 min 6 s"},
	} {
		d := time.Duration(tc.ms * ms)
		if Elapsed(d) != tc.elapsed || Left(d) != tc.left {
			t.Errorf("%s: %q passed, %q left; want %q, %q", d, Elapsed(d), Left(d), tc.elapsed, tc.left)
		}
	}
}
