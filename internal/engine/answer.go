package engine

import (
	"fmt"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// maxAnswerErrors is how often in a turn the model is told that its answer does
// not fit or is missing; after that the turn ends.
const maxAnswerErrors = 3

// answering is how far a turn came that must end with a call of Config.AnswerTool.
type answering struct {
	// failed counts the times that no answer, or one that does not fit, was given.
	failed int
	// failedNow: one of them was in this step.
	failedNow bool
}

// takeAnswer looks for the turn's answer among a step's results; the last counts.
func (t *turnRun) takeAnswer(results []*tool.CallResult) {
	t.answering.failedNow = false
	if t.cfg.AnswerTool == "" {
		return
	}
	for _, r := range results {
		switch {
		case r.Name != t.cfg.AnswerTool:
		case r.Output != nil && r.Output.Answer != nil && !r.Result.IsError:
			t.result.Answer = r.Output.Answer
		default:
			t.answering.failedNow = true
		}
	}
	if t.result.Answer == nil && t.answering.failedNow {
		t.answering.failed++
	}
}

// answered says how the turn ends after a step of calls, or "" to go on.
func (t *turnRun) answered(inCircles bool) core.TurnEnd {
	switch {
	case t.result.Answer != nil:
		return core.EndDone
	case t.answering.failed > maxAnswerErrors:
		return core.EndNoAnswer
	case inCircles && !t.answering.failedNow: // the same wrong answer again ends by its own count
		return core.EndRepeatedCalls
	}
	return ""
}

// askForAnswer keeps a response with which the model wanted to end, and tells it
// that the answer is missing. It reports false where it was told often enough, or
// where no answer is wanted.
func (t *turnRun) askForAnswer(resp *llm.Response, end core.TurnEnd) bool {
	if t.cfg.AnswerTool == "" || end != core.EndDone || t.answering.failed >= maxAnswerErrors {
		return false
	}
	t.answering.failed++
	t.keep(resp)
	m := &core.Message{Role: core.RoleUser, Blocks: []core.Block{{
		Type: core.BlockText, Note: "answer",
		Text: fmt.Sprintf("<garuda_note>Your answer is missing: the program that asked reads only a call of %s. "+
			"Call it now, with the answer as its input.</garuda_note>", t.cfg.AnswerTool),
	}}}
	t.a.journal.append(&session.Continue{Message: m, MaxTokens: t.maxTokens})
	t.a.journal.flush()
	t.a.conv.append(m)
	return true
}

// withoutAnswer is the end of a turn that should have had one.
func (t *turnRun) withoutAnswer(end core.TurnEnd) core.TurnEnd {
	if t.cfg.AnswerTool != "" && end == core.EndDone {
		return core.EndNoAnswer
	}
	return end
}
