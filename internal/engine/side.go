package engine

import (
	"context"
	"errors"
	"fmt"

	"garuda/internal/core"
	"garuda/internal/engine/compact"
	"garuda/internal/engine/turn"
	"garuda/internal/llm"
	"garuda/internal/session"
)

// purposeSummary is what a side request is for that sums the conversation up.
const purposeSummary = "summary"

// side makes a request outside the conversation: reserved, charged and sent again like
// any other, but neither shown nor kept. It says what all its tries cost together.
func (t *turnRun) side(ctx context.Context, purpose string, req *llm.Request) (*llm.Response, core.Cost, error) {
	bytes := len(req.System)
	for _, m := range req.Messages {
		bytes += compact.Context.Size(m)
	}
	for _, s := range req.Tools {
		bytes += compact.ToolSize(s.Name, s.Description, s.Schema)
	}
	sum := core.Cost{Known: true}
	for failed := 0; ; {
		if ctx.Err() != nil {
			return nil, sum, context.Cause(ctx) // before anything is spent
		}
		r := turn.Reserve(t.a.conv.estimator.Tokens(bytes), 0, 0, req.MaxTokens, t.cfg.Model.Info().Price)
		if end, ok := t.a.budget.Admit(r); !ok {
			return nil, sum, errBudget{end: end}
		}
		start := t.cfg.Clock.Now()
		resp, err := t.cfg.Model.Stream(ctx, req, func(llm.Event) {})
		t.result.APITime += t.cfg.Clock.Now().Sub(start)
		if err == nil && (resp == nil || resp.Message == nil) {
			err = fmt.Errorf("%s: the client gave neither a response nor an error", t.cfg.Model.Info().Spec)
		}
		sum = sum.Add(t.settleSide(purpose, r, resp, err))
		if err == nil {
			return resp, sum, nil
		}
		var e *llm.Error
		if ctx.Err() != nil || !errors.As(err, &e) || recoverable(e) {
			return nil, sum, err
		}
		failed++
		if err := t.waitBeforeRetry(ctx, e, failed); err != nil {
			return nil, sum, err
		}
	}
}

// settleSide books what one try cost. Where nobody says, the whole reservation counts.
func (t *turnRun) settleSide(purpose string, r turn.Reservation, resp *llm.Response, err error) core.Cost {
	info := t.cfg.Model.Info()
	reported := err == nil && resp.UsageReported
	booked := unreported(info.Spec, r, info.Price.Known)
	booked.ContextWindow, booked.MaxOutput = info.ContextWindow, info.MaxOutput
	if err == nil {
		booked.Cost = resp.Cost(info.Price)
	}
	if reported {
		booked.Usage, booked.UnreportedUSD = resp.Usage, 0
	}
	t.result.book(booked)
	t.a.budget.Settle(r, reported, booked.Usage, booked.Cost)
	rec := &session.SideUsage{Purpose: purpose, ModelUsage: booked, Failure: failureOf(err)}
	if err == nil {
		rec.Text, rec.Stop, rec.RequestHash = resp.Message.PlainText(), resp.Stop, resp.RequestHash
	}
	t.a.journal.append(rec)
	t.a.journal.flushSoon()
	if what := t.a.budget.Warn(); what != "" {
		t.publish(BudgetWarning{Text: "80 % of " + what + " are spent"})
	}
	return booked.Cost
}
