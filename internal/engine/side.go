package engine

import (
	"context"
	"errors"
	"fmt"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/engine/compact"
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
		size := budget.Size{Estimate: t.a.conv.estimator.Tokens(bytes), Output: req.MaxTokens}
		r, err := t.a.s.account.ReservePart(t.largest(size))
		if err != nil {
			return nil, sum, err
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
func (t *turnRun) settleSide(purpose string, r *budget.Reservation, resp *llm.Response, err error) core.Cost {
	booked, _ := t.settled(r, resp, err)
	rec := &session.SideUsage{Purpose: purpose, ModelUsage: booked, Failure: failureOf(err)}
	if err == nil {
		rec.Text, rec.Stop, rec.RequestHash = resp.Message.PlainText(), resp.Stop, resp.RequestHash
	}
	t.a.journal.append(rec)
	t.a.journal.flushSoon()
	return booked.Cost
}
