package engine

import (
	"garuda/internal/core"
	"garuda/internal/engine/turn"
	"garuda/internal/llm"
)

// unreported is a request to a model of which nobody said what it used: all of
// its reservation counts.
func unreported(spec string, r turn.Reservation) ModelUsage {
	return ModelUsage{
		Spec: spec, Usage: core.Usage{Unreported: r.Tokens}, Cost: core.Cost{Known: true}, UnreportedUSD: r.USD, Requests: 1,
	}
}

// costOf is what a response cost: what the provider says it billed, else what its
// usage comes to at the model's price.
func costOf(info *llm.Info, resp *llm.Response) core.Cost {
	if resp.BilledUSD > 0 {
		return core.Cost{USD: resp.BilledUSD, Known: true}
	}
	return info.Price.Cost(resp.Usage)
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
