package engine

import (
	"slices"

	"garuda/internal/core"
	"garuda/internal/engine/turn"
)

// unreported is a request to a model of which nobody said what it used: all of
// its reservation counts. What it cost is unknown where the price is.
func unreported(spec string, r turn.Reservation, priced bool) ModelUsage {
	return ModelUsage{
		Spec: spec, Usage: core.Usage{Unreported: r.Tokens}, Cost: core.Cost{Known: priced}, UnreportedUSD: r.USD, Requests: 1,
	}
}

// allKnown reports whether the cost of every model is known; of none it is.
func allKnown(models core.ByModel) bool {
	return !slices.ContainsFunc(models, func(m ModelUsage) bool { return !m.Cost.Known })
}

// book adds what one model used.
func (t *Totals) book(m ModelUsage) {
	t.Usage, t.Cost = t.Usage.Add(m.Usage), t.Cost.Add(m.Cost)
	t.UnreportedUSD += m.UnreportedUSD
	t.Models = t.Models.Add(m)
}

// book adds what one request used.
func (r *TurnResult) book(m ModelUsage) {
	r.Usage, r.Cost = r.Usage.Add(m.Usage), r.Cost.Add(m.Cost)
	r.Models = r.Models.Add(m)
}
