package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/engine/turn"
	"garuda/internal/llm"
	"garuda/internal/session"
)

// request takes one step: it reserves, sends, and sends again where that may
// help, once with a smaller conversation. A refused reservation is not a step.
func (t *turnRun) request(ctx context.Context) (*llm.Response, error) {
	t.validate()
	t.leaveUnfit()
	t.compactIfDue(ctx)
	t.fit()
	t.warnOfCut()
	sent, failed, smaller := false, 0, false
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // before anything is spent
		}
		reserved, err := t.a.s.account.Reserve(t.largest(t.size()))
		if err != nil {
			return nil, err
		}
		if !sent {
			sent = true
			t.result.Steps++
		}
		resp, err := t.attempt(ctx)
		t.settle(reserved, resp, err)
		if err == nil {
			t.clean(resp)
			return resp, nil
		}
		var e *llm.Error
		if ctx.Err() != nil || !errors.As(err, &e) {
			return nil, err
		}
		if t.lowerOutput(e) || t.capOutput(e) {
			continue
		}
		if recoverable(e) {
			if smaller || !t.shrink(ctx, e) {
				return nil, hopeless(e, smaller)
			}
			smaller = true
			continue
		}
		failed++
		if err := t.waitBeforeRetry(ctx, e, failed); err != nil {
			return nil, err
		}
	}
}

// waitBeforeRetry returns nil when the request should be sent again.
func (t *turnRun) waitBeforeRetry(ctx context.Context, e *llm.Error, failed int) error {
	wait, again, reason := turn.Retry(e, failed, t.cfg.Model.Info().Local, t.cfg.Jitter())
	switch {
	case !again && reason != "":
		return fmt.Errorf("%w (%s)", e, reason)
	case !again:
		return e
	}
	t.publish(Retrying{
		Attempt: failed, Max: turn.MaxRetries, Wait: wait, Until: t.cfg.Clock.Now().Add(wait), Reason: inWords(e), Err: e,
	})
	err := t.cfg.Clock.Sleep(ctx, wait)
	t.publish(RetryEnded{Attempt: failed, Sent: err == nil})
	return err
}

// inWords says why a request failed, in a few words.
func inWords(e *llm.Error) string {
	switch e.Kind {
	case llm.ErrRateLimit:
		return "rate limit"
	case llm.ErrOverloaded:
		return "the server is overloaded"
	case llm.ErrServer:
		if e.Status != 0 {
			return fmt.Sprintf("server error %d", e.Status)
		}
		return "server error"
	case llm.ErrIdle:
		return "no answer in time"
	case llm.ErrRefused:
		return "connection refused"
	case llm.ErrNetwork, llm.ErrProtocol:
		if e.Streaming {
			return "the answer broke off"
		}
		return "connection failed"
	case llm.ErrAuth, llm.ErrQuota, llm.ErrContextOverflow, llm.ErrTooLarge, llm.ErrBadRequest:
	}
	return strings.ReplaceAll(string(e.Kind), "_", " ")
}

// validate makes sure that what is sent can be sent, and says what it mended.
func (t *turnRun) validate() {
	fixed, mends := core.Validate(t.a.conv.messages)
	if len(mends) == 0 {
		return
	}
	t.a.conv.replace(fixed)
	for _, m := range mends {
		t.publish(Notice{Text: "mended the conversation: " + m})
	}
}

// clean takes out of a response what could not be sent again, so that what is
// kept, shown and run is one and the same.
func (t *turnRun) clean(resp *llm.Response) {
	calls := len(resp.Message.ToolUses())
	fixed, _ := core.Validate([]*core.Message{core.UserText("?"), resp.Message})
	if len(fixed) < 2 {
		resp.Message = &core.Message{Role: core.RoleAssistant}
	} else {
		resp.Message = fixed[1] // behind it may stand answers to its calls
	}
	if lost := calls - len(resp.Message.ToolUses()); lost > 0 {
		t.publish(Notice{Text: fmt.Sprintf("left out %d calls of the response: without a name, or with the id of another", lost)})
	}
	t.a.conv.renameCalls(resp.Message)
}

// settle books what the attempt used, and on record what nobody said.
func (t *turnRun) settle(r *budget.Reservation, resp *llm.Response, err error) {
	booked, reported := t.settled(r, resp, err)
	t.lastCost = booked.Cost
	if reported {
		return
	}
	reason := "the provider reported no usage"
	if err != nil {
		reason = err.Error()
	}
	t.a.journal.append(&session.Unreported{
		Tokens: r.Tokens, USD: r.USD, Reason: reason, Model: r.Model, Failure: failureOf(err), PriceUnknown: !r.PriceKnown,
	})
}

// attempt sends the request once.
func (t *turnRun) attempt(ctx context.Context) (*llm.Response, error) {
	show := &streamed{log: t.a.s.log}
	start := t.cfg.Clock.Now()
	resp, err := t.cfg.Model.Stream(ctx, &llm.Request{
		System: t.cfg.System, Tools: t.a.s.tools.current(), Messages: t.a.conv.sent,
		MaxTokens: t.maxTokens, Thinking: t.thinking, SessionID: t.cfg.ID,
	}, show.event)
	t.lastAPI = t.cfg.Clock.Now().Sub(start)
	t.result.APITime += t.lastAPI
	show.end(err != nil)
	if err == nil && (resp == nil || resp.Message == nil) {
		return nil, fmt.Errorf("%s: the client gave neither a response nor an error", t.cfg.Model.Info().Spec)
	}
	return resp, err
}

// streamed turns a model's events into the session's.
type streamed struct {
	log  *eventLog
	open *growing
}

func (s *streamed) event(e llm.Event) {
	switch e := e.(type) {
	case llm.TextDelta:
		s.write(growText, e.Text)
	case llm.ThinkingDelta:
		s.write(growThinking, e.Text)
	case llm.ToolCallStarted:
		s.end(false)
		s.log.publish(ToolStarted{ID: e.ID, Name: e.Name})
	case llm.ServerTool:
		s.end(false)
		s.log.publish(ServerTool(e))
	case llm.Notice:
		s.log.publish(Notice{Text: e.Text})
	}
}

func (s *streamed) write(kind growKind, text string) {
	if s.open == nil || s.open.kind != kind {
		s.end(false)
		s.open = s.log.open(&growing{kind: kind})
	}
	s.log.grow(s.open, []byte(text))
}

func (s *streamed) end(discarded bool) {
	if s.open != nil {
		s.log.finish(s.open, discarded)
		s.open = nil
	}
}
