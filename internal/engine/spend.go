package engine

import (
	"errors"
	"sync"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/llm"
	"garuda/internal/session"
)

// ChildBudget is the account of an agent that this call starts: it may spend what its
// own limits and this session's leave, and what it spends counts here at once. It goes
// into the Config of the agent's session, which closes it. The call must not end
// before that session is closed.
func (s *Session) ChildBudget(call string, limits Limits) *budget.Account {
	return s.account.Child(call, budget.Limits{Tokens: limits.TokenBudget, USD: limits.SpendUSD})
}

// children is what agents have used that calls of this session started.
type children struct {
	mu   sync.Mutex
	used map[string]core.ByModel
}

func (c *children) add(call string, used core.ModelUsage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used == nil {
		c.used = map[string]core.ByModel{}
	}
	c.used[call] = c.used[call].Add(used)
}

// take gives what the agents of a call have used in all, and forgets it.
func (c *children) take(call string) core.ByModel {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.used[call]
	delete(c.used, call)
	return used
}

// childSpent is called with what each request of an agent below has used: it is on
// record before the agent goes on.
func (a *actor) childSpent(call string, used core.ModelUsage) {
	a.journal.append(&session.ChildSpend{Call: call, Tokens: used.Usage.Total(), ModelUsage: used})
	a.journal.flushSoon()
	a.children.add(call, used)
	a.warnOfBudget()
}

// chargeChildren books what the agents used that a call has started, now that it has
// ended, and gives it for the record of its result.
func (t *turnRun) chargeChildren(call string) *session.Subagent {
	used := t.a.children.take(call)
	if len(used) == 0 {
		return nil
	}
	t.a.s.account.Report(call, used)
	for _, m := range used {
		t.result.book(m)
	}
	return &session.Subagent{Models: used}
}

func (a *actor) warnOfBudget() {
	for _, what := range a.s.account.Warn() {
		a.s.log.publish(BudgetWarning{Text: "80 % of " + what + " are spent"})
	}
}

// size is what is known of the next request's size.
func (t *turnRun) size() budget.Size {
	whole, after := t.a.conv.estimate()
	return budget.Size{Estimate: whole, Measured: t.a.conv.measured, After: after, Output: t.maxTokens}
}

func (t *turnRun) largest(s budget.Size) budget.Request {
	info := t.cfg.Model.Info()
	return budget.Largest(info.Spec, info.Price, s)
}

// keepFloor keeps what is needed to send the results of these calls, however long they
// are: what agents and side requests spend meanwhile has to leave it.
func (t *turnRun) keepFloor(calls []core.Block) {
	caps := make([]int, len(calls))
	for i, c := range calls {
		caps[i] = t.cfg.Pipeline.ResultCap(c.Name)
	}
	info := t.cfg.Model.Info()
	t.a.s.account.Keep(budget.Floor(info.Spec, info.Price, t.size(), budget.Results{
		Caps: caps, Tokens: t.a.conv.estimator.Tokens, Due: t.compactionDue,
	}))
}

// compactionDue reports whether a request of this size is one before which the
// conversation is made smaller.
func (t *turnRun) compactionDue(tokens int) bool {
	room := t.a.inputRoom(t.maxTokens)
	return room > 0 && tokens > int(dueAt*float64(room))
}

// settled books what one try of a request used. Where the provider did not say, the
// whole reservation is spent, and every sum is "at least" from then on.
func (t *turnRun) settled(r *budget.Reservation, resp *llm.Response, err error) (booked core.ModelUsage, reported bool) {
	info := t.cfg.Model.Info()
	if reported = err == nil && resp.UsageReported; reported {
		booked = core.ModelUsage{Spec: info.Spec, Usage: resp.Usage, Cost: resp.Cost(info.Price), Requests: 1}
		r.Settle(booked)
	} else {
		booked = r.Lose()
		if err == nil {
			booked.Cost = resp.Cost(info.Price) // some say what they bill, and not for what
		}
	}
	booked.ContextWindow, booked.MaxOutput = info.ContextWindow, info.MaxOutput
	t.result.book(booked)
	t.a.warnOfBudget()
	return booked, reported
}

// budgetEnd is how a turn ends whose next request does not fit the budget.
func budgetEnd(err error) (core.TurnEnd, bool) {
	exceeded, ok := errors.AsType[*budget.ExceededError](err)
	if !ok {
		return "", false
	}
	return exceeded.End, true
}
