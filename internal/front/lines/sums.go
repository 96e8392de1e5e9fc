package lines

import (
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
)

// Usage is the line at the end of a turn.
func Usage(r *engine.TurnResult, info *llm.Info) string {
	text := fmt.Sprintf("%s · %s", r.End, Count(r.Steps, "step"))
	if r.Usage == (core.Usage{}) && r.Steps == 0 {
		return text // nothing was sent
	}
	return text + " · " + tokens(r.Usage, " tokens") + " · " + costInShort(r.Usage, r.Cost, info.Price)
}

// tokens says what was counted, with this unit after the first number: "at least"
// where a provider did not say all, and no number where it said nothing.
func tokens(u core.Usage, unit string) string {
	switch {
	case u.Context() == 0 && u.Unreported > 0:
		return strings.TrimSpace(unit + " not reported")
	case u.Unreported > 0:
		return "at least " + counted(u, unit)
	}
	return counted(u, unit)
}

func counted(u core.Usage, unit string) string {
	text := fmt.Sprintf("%d%s in", u.Input+u.CacheRead+u.CacheWrite, unit)
	var cache []string
	if u.CacheRead > 0 {
		cache = append(cache, fmt.Sprintf("%d from cache", u.CacheRead))
	}
	if u.CacheWrite > 0 {
		cache = append(cache, fmt.Sprintf("%d written to it", u.CacheWrite))
		if len(cache) == 1 {
			cache[0] = fmt.Sprintf("%d written to cache", u.CacheWrite)
		}
	}
	if len(cache) > 0 {
		text += " (" + strings.Join(cache, ", ") + ")"
	}
	text += fmt.Sprintf(", %d out", u.Output)
	if u.Thinking > 0 {
		text += fmt.Sprintf(" (%d thinking)", u.Thinking)
	}
	switch {
	case u.Searches == 1:
		text += ", 1 web search"
	case u.Searches > 1:
		text += fmt.Sprintf(", %d web searches", u.Searches)
	}
	return text
}

// costInShort is the cost at one model's price.
func costInShort(u core.Usage, c core.Cost, p core.Price) string {
	switch {
	case !p.Known, !c.Known && c.USD == 0:
		return "cost unknown"
	case p == core.Price{Known: true}:
		return "free"
	case u.Context() == 0 && u.Unreported > 0:
		return "cost not reported"
	case u.Unreported > 0, !c.Known:
		return "at least " + Money(c.USD)
	}
	return Money(c.USD)
}

// Money shows US dollars, with more digits where they matter.
func Money(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0.01:
		return fmt.Sprintf("$%.4f", usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// TotalsRows are the sums of a session, a line each, and those of its last turn,
// which may be nil.
func TotalsRows(t engine.Totals, info *llm.Info, last *engine.TurnResult) []string {
	u := t.Usage
	all := "tokens   " + tokens(u, "")
	switch {
	case u.Unreported > 0 && u.Context() == 0:
		all += fmt.Sprintf("; up to %d", u.Unreported)
	case u.Unreported > 0:
		all += fmt.Sprintf("; up to %d more", u.Unreported)
	}
	rows := []string{
		"model    " + info.Spec,
		fmt.Sprintf("turns    %d, with %s", t.Turns, Count(t.Steps, "step")),
		all,
		"cost     " + totalCost(t, info),
	}
	if last != nil {
		rows = append(rows, "last     "+Usage(last, info))
	}
	if len(t.Models) > 1 {
		for i, m := range t.Models {
			label := "         "
			if i == 0 {
				label = "of this  "
			}
			rows = append(rows, label+m.Spec+": "+Count(m.Requests, "request")+" · "+tokens(m.Usage, " tokens")+" · "+modelCost(m))
		}
	}
	return rows
}

func totalCost(t engine.Totals, info *llm.Info) string {
	switch u := t.Usage; {
	case !t.Cost.Known && t.Cost.USD > 0:
		return "at least " + Money(t.Cost.USD) + ", as not every price is known"
	case !t.Cost.Known, u.Input+u.Output == 0 && !info.Price.Known:
		return "unknown, as the price of " + info.Spec + " is"
	case t.UnreportedUSD > 0 && t.Cost.USD == 0:
		return "not reported; up to " + Money(t.UnreportedUSD)
	case t.UnreportedUSD > 0:
		return "at least " + Money(t.Cost.USD) + "; up to " + Money(t.UnreportedUSD) + " more"
	case u.Unreported > 0 && info.Price != core.Price{Known: true}:
		return "at least " + Money(t.Cost.USD)
	}
	return Money(t.Cost.USD)
}

// modelCost is one model's part, whose price now is not asked for: it may have
// been another one then.
func modelCost(m engine.ModelUsage) string {
	switch {
	case !m.Cost.Known && m.Cost.USD == 0:
		return "cost unknown"
	case m.UnreportedUSD > 0 && m.Cost.USD == 0:
		return "cost not reported"
	case m.UnreportedUSD > 0, !m.Cost.Known:
		return "at least " + Money(m.Cost.USD)
	}
	return Money(m.Cost.USD)
}
