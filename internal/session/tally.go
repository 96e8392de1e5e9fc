package session

import (
	"cmp"
	"maps"

	"garuda/internal/core"
)

// tally sums up records in their order. A copy shares nothing that changes.
type tally struct {
	Totals
	// debits are what was booked for calls whose agents have not reported, by call.
	debits map[string]core.ByModel
}

// add counts a record.
func (t *tally) add(rec Record) {
	switch r := rec.(type) {
	case *Start:
		t.Model = r.Model
	case *Resume:
		t.Model = r.Model
	case *Model:
		t.Model = r.Model
	case *Title:
		t.Title = r.Title
	case *User:
		t.Turns++
	case *Assistant:
		first := t.Steps == 0
		t.Steps++
		t.Usage = t.Usage.Add(r.Usage)
		t.Cost = core.Cost{USD: t.Cost.USD + r.Cost.USD, Known: r.Cost.Known && (first || t.Cost.Known)}
		m := core.ModelUsage{Spec: t.Model, Usage: r.Usage, Cost: r.Cost}
		if r.UsageReported {
			m.Requests = 1 // else the record of its unreported tokens counts it
		}
		t.Models = t.Models.Add(m)
	case *Unreported:
		t.Usage.Unreported += r.Tokens
		t.UnreportedUSD += r.USD
		t.Models = t.Models.Add(core.ModelUsage{
			Spec: cmp.Or(r.Model, t.Model), Usage: core.Usage{Unreported: r.Tokens},
			Cost: core.Cost{Known: !r.PriceUnknown}, UnreportedUSD: r.USD, Requests: 1,
		})
	case *SideUsage:
		t.book(r.ModelUsage)
	case *ChildSpend:
		t.book(r.ModelUsage)
		t.debit(r)
	case *ToolResults:
		for i := range r.Calls {
			t.reported(&r.Calls[i])
		}
	}
}

// book adds what one request used, or several to one model.
func (t *tally) book(m core.ModelUsage) {
	t.Cost.Known = t.Cost.Known || len(t.Models) == 0 // of nothing it is
	t.Usage, t.Cost = t.Usage.Add(m.Usage), t.Cost.Add(m.Cost)
	t.UnreportedUSD += m.UnreportedUSD
	t.Models = t.Models.Add(m)
}

// debit remembers what to take back once the call's agent has reported.
func (t *tally) debit(r *ChildSpend) {
	debits := make(map[string]core.ByModel, len(t.debits)+1)
	maps.Copy(debits, t.debits)
	debits[r.Call] = debits[r.Call].Add(r.ModelUsage)
	t.debits = debits
}

// reported puts a subagent's report in place of what was booked for its call so far.
func (t *tally) reported(c *CallInfo) {
	if c.Subagent == nil {
		return
	}
	for _, m := range t.debits[c.ID] {
		t.book(m.Negative())
	}
	t.debits = maps.Clone(t.debits)
	delete(t.debits, c.ID)
	for _, m := range c.Subagent.Models {
		t.book(m)
	}
}
