package engine

import (
	"slices"

	"garuda/internal/core"
)

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
