package lines

import (
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
)

// Where usage was not reported, or a price is not known, no sum looks whole.
func TestSums(t *testing.T) {
	priced, unpriced := &llm.Info{Spec: "x/m", Price: core.Price{Known: true}}, &llm.Info{Spec: "x/m"}
	known, unknown := core.Cost{USD: 0.5, Known: true}, core.Cost{}
	for _, tc := range []struct {
		name      string
		usage     core.Usage
		cost      core.Cost
		info      *llm.Info
		turn, sum string
	}{
		{"all reported", core.Usage{Input: 10}, known, priced, "10 tokens in, 0 out · $0.50", "cost     $0.50"},
		{"some not", core.Usage{Input: 10, Unreported: 5}, known, priced, "at least 10 tokens in, 0 out · at least $0.50", "cost     at least $0.50"},
		{"no price", core.Usage{Input: 10}, unknown, unpriced, "10 tokens in, 0 out", "cost     unknown, as the price of x/m is"},
		{"a price for some", core.Usage{Input: 10}, core.Cost{USD: 0.5}, priced, "10 tokens in, 0 out", "cost     at least $0.50, as not every price is known"},
	} {
		r := &engine.TurnResult{End: core.EndDone, Steps: 1, Usage: tc.usage, Cost: tc.cost}
		if got := Usage(r, tc.info); !strings.HasSuffix(got, " · "+tc.turn) {
			t.Errorf("%s: %q", tc.name, got)
		}
		rows := TotalsRows(engine.Totals{Usage: tc.usage, Cost: tc.cost, Turns: 1, Steps: 1}, tc.info)
		if got := rows[len(rows)-1]; got != tc.sum {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.sum)
		}
	}
}
