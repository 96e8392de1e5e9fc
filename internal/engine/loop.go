package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/engine/turn"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// turnRun is one turn: from a user's message to the model's final answer. Its
// goroutine owns the actor's conversation and journal until it ends.
type turnRun struct {
	a         *actor
	cfg       *Config
	prompt    Prompt
	result    TurnResult
	thinking  llm.ThinkingLevel
	maxTokens int
	repeats   turn.Repeats
	// capped is true once the output limit was lowered because the server refused it.
	capped    bool
	answering answering
	// lastAPI and lastCost are those of the newest response.
	lastAPI  time.Duration
	lastCost core.Cost
}

func (a *actor) newTurn(p Prompt) *turnRun {
	return &turnRun{a: a, cfg: &a.s.cfg, prompt: p, thinking: a.thinking, maxTokens: a.outputLimit()}
}

func (t *turnRun) run(ctx context.Context) *TurnResult {
	start := t.cfg.Clock.Now()
	if len(t.prompt.notes) == 0 {
		// A turn that the session began by itself is no word of the person: what was
		// denied before it stays denied, however it came about.
		t.cfg.Modes.BeginTurn()
	}
	t.result.Cost.Known = true // of nothing
	if t.prompt.isEmpty() {
		t.publish(TurnStarted{Message: &core.Message{Role: core.RoleUser}})
		t.result.End, t.result.Err = core.EndError, errEmptyPrompt
		return &t.result
	}
	t.begin(ctx)
	end, err := t.loop(ctx)
	if err != nil {
		end, err = t.endFor(ctx, err)
	}
	t.a.s.account.Drop()
	t.result.End, t.result.Err = end, err
	rec := &session.End{StopReason: end, Steps: t.result.Steps}
	if err != nil {
		rec.Error = err.Error()
	}
	t.a.journal.append(rec)
	t.a.journal.flush()
	t.result.JournalErr = t.a.journal.failure()
	t.result.Duration = t.cfg.Clock.Now().Sub(start)
	return &t.result
}

// errEmptyPrompt ends the turn of a message that says nothing, which no provider
// takes. Nothing of it is kept.
var errEmptyPrompt = errors.New("the message is empty")

func (p *Prompt) isEmpty() bool {
	return strings.TrimSpace(p.Text) == "" && len(p.Attachments) == 0 && len(p.notes) == 0
}

// begin takes the user's message into journal and conversation.
func (t *turnRun) begin(ctx context.Context) {
	attached := t.attach(ctx)
	if t.cfg.DropThinking {
		t.a.conv.dropThinking()
	}
	m := &core.Message{Role: core.RoleUser}
	if strings.TrimSpace(t.prompt.Text) != "" {
		m.Blocks = append(m.Blocks, core.Text(t.prompt.Text))
	}
	if t.cfg.Modes.Mode() == tool.ModePlan {
		m.Blocks = append(m.Blocks, planNote(t.cfg))
	}
	m.Blocks = append(m.Blocks, t.prompt.notes...)
	m.Blocks = append(m.Blocks, t.a.notes.take()...)
	t.a.toldModel = t.cfg.Model.Info().Spec
	m.Blocks = append(m.Blocks, t.instructed(attached.read)...)
	m.Blocks = append(m.Blocks, t.prompt.Attachments...)
	m.Blocks = append(m.Blocks, attached.blocks...)
	t.keepTree()
	t.a.journal.append(&session.User{Message: m})
	t.a.journal.flush()
	t.a.back.Message(m)
	unseen := t.a.conv.append(m)
	t.publish(TurnStarted{Message: m})
	t.a.sayUnseen(unseen)
}

func (t *turnRun) loop(ctx context.Context) (core.TurnEnd, error) {
	recoveries := 0
	for t.result.Steps < t.cfg.Limits.MaxSteps {
		resp, err := t.request(ctx)
		if err != nil {
			return "", err
		}
		t.result.RawStop, t.result.Text = resp.RawStop, resp.Message.PlainText()
		calls := resp.Message.ToolUses()
		action, end := turn.Next(resp.Stop, len(calls), recoveries)
		if action == turn.Step && len(resp.Message.Blocks) == 0 {
			// Nothing came that the next request could go on from: it would be
			// the same one again, and so for ever.
			action, end = turn.Finish, core.EndDone
		}
		switch action {
		case turn.Finish:
			if t.askForAnswer(resp, end) || t.goOn(resp, end) {
				break
			}
			t.finish(resp, calls, end)
			return t.withoutAnswer(end), nil
		case turn.Recover:
			recoveries++
			t.recover(resp)
		case turn.Step:
			t.keep(resp)
			t.a.journal.flush()
		case turn.RunCalls:
			t.keep(resp)
			if end := t.answered(t.runCalls(ctx, calls)); end != "" {
				t.stepEnded()
				return end, nil
			}
		}
		t.stepEnded()
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
	}
	return core.EndMaxSteps, nil
}

// endFor names the end of a turn that an error ended.
func (t *turnRun) endFor(ctx context.Context, err error) (core.TurnEnd, error) {
	limit, exceeded := budgetEnd(err)
	switch {
	case exceeded:
		return limit, nil
	case errors.Is(context.Cause(ctx), errTimeout):
		return core.EndTimeout, fmt.Errorf("%w after %s", errTimeout, t.prompt.Timeout)
	case ctx.Err() != nil:
		return core.EndInterrupted, nil //nolint:nilerr // the stop is not an error of the turn
	}
	return core.EndError, err
}

// keep takes a complete response into journal and conversation. It is put on the
// disk while calls that change nothing already run; a call that changes
// something, the next request and the turn's end wait for it.
func (t *turnRun) keep(resp *llm.Response) {
	if len(resp.Message.Blocks) == 0 {
		t.publish(Notice{Text: "the model's answer held nothing"})
	}
	t.record(resp, resp.Message)
	t.a.journal.flushSoon()
}

// finish keeps the last response. Calls in a response that ends the turn never
// run: each gets an answer that says so.
func (t *turnRun) finish(resp *llm.Response, calls []core.Block, end core.TurnEnd) {
	t.keep(resp)
	if len(calls) > 0 {
		m := &core.Message{Role: core.RoleUser}
		infos := make([]session.CallInfo, len(calls))
		for i, c := range calls {
			m.Blocks = append(m.Blocks, core.ToolResult(c.ID, true,
				core.Text("Error: "+c.Name+" failed: it was not run, the response ended with "+string(end)+".")))
			infos[i] = session.CallInfo{ID: c.ID, Name: c.Name}
		}
		t.a.journal.append(&session.ToolResults{Message: m, Calls: infos, Synthetic: true})
		t.a.conv.append(m)
		t.publish(Results{Message: m})
	}
	t.stepEnded()
}

func (t *turnRun) stepEnded() {
	t.publish(StepEnded{Step: t.result.Steps, Usage: t.result.Usage, Cost: t.result.Cost})
}

// recover keeps the text of a response that was cut, and asks for the rest with
// a higher limit. Half a call is never run.
func (t *turnRun) recover(resp *llm.Response) {
	kept := &core.Message{Role: core.RoleAssistant}
	for _, b := range resp.Message.Blocks {
		if b.Type == core.BlockText && strings.TrimSpace(b.Text) != "" {
			kept.Blocks = append(kept.Blocks, b)
		}
	}
	t.record(resp, kept)
	t.maxTokens = max(t.maxTokens, t.a.bounded(turn.RecoveredMaxTokens))
	m := &core.Message{Role: core.RoleUser, Blocks: []core.Block{{
		Type: core.BlockText, Note: "continue",
		Text: "<garuda_note>Your last response was cut at the output limit. Continue exactly where it ended; " +
			"a tool call that was cut was not run, make it again, in smaller pieces if it is large.</garuda_note>",
	}}}
	t.a.journal.append(&session.Continue{Message: m, MaxTokens: t.maxTokens})
	t.a.journal.flush()
	t.a.conv.append(m)
	t.publish(Notice{Text: fmt.Sprintf("the response was cut at the output limit; going on with %d tokens", t.maxTokens)})
}

// record writes the response with this message as what is kept of it. One of
// which nothing is left was paid for all the same, but is no part of the
// conversation: nothing empty can be sent again.
func (t *turnRun) record(resp *llm.Response, kept *core.Message) {
	if len(kept.Blocks) == 0 {
		kept = nil
	}
	t.a.journal.append(&session.Assistant{
		Step: t.result.Steps, Message: kept, Stop: resp.Stop, RawStop: resp.RawStop,
		ResponseID: resp.ID, Model: resp.Model, Usage: resp.Usage, UsageReported: resp.UsageReported,
		Cost: t.lastCost, APIMs: t.lastAPI.Milliseconds(), RequestHash: resp.RequestHash,
	})
	if kept == nil {
		return
	}
	sent := t.a.conv.bytes
	t.a.conv.append(kept)
	if resp.UsageReported {
		t.a.conv.measure(sent, resp.Usage)
	}
	shown := *resp
	shown.Message = kept
	t.publish(Answered{Step: t.result.Steps, Response: &shown, Cost: t.lastCost})
}

func (t *turnRun) publish(e Event) { t.a.s.log.publish(e) }
