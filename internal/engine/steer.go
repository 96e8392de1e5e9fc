package engine

import (
	"slices"
	"sync"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
)

// noteSteer marks what the user sent while the turn ran.
const noteSteer = "steer"

// steering are messages for the turn that runs. Turn and session share them.
type steering struct {
	mu      sync.Mutex
	waiting []Prompt
}

func (s *steering) put(p Prompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, p)
}

func (s *steering) take() []Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.waiting
	s.waiting = nil
	return out
}

// Steer gives the running turn a message of the user, which the model gets with its
// next step: behind the results of calls that run, or in place of the turn's end. One
// that comes too late for that becomes a turn of its own, or, where the turn did not
// end by itself, is given back in TurnResult.Unsent. Without a running turn it is
// submitted.
func (s *Session) Steer(p Prompt) { s.do(func(a *actor) { a.steer(p) }) }

func (a *actor) steer(p Prompt) {
	switch {
	case a.cancelTurn == nil || a.asideDone != nil:
		a.submit(p)
	case !a.closing && !p.isEmpty():
		a.steering.put(p)
		a.notes.arrival("the user sent a message, which comes with the next step")
	}
}

// unsteered takes back what came too late for the turn that has ended.
func (a *actor) unsteered(r *TurnResult) {
	left := a.steering.take()
	if r.End == core.EndDone {
		a.queue = append(left, a.queue...)
		return
	}
	r.Unsent = left
}

// takeSteering is what the model gets of messages that came while the turn ran.
func (t *turnRun) takeSteering() []core.Block {
	var out []core.Block
	taken := t.a.steering.take()
	for _, p := range taken {
		text := "<garuda_note>The user sent this while you worked; take it up from here on:</garuda_note>\n" + p.Text
		out = append(append(out, core.Block{Type: core.BlockText, Note: noteSteer, Text: text}), p.Attachments...)
	}
	if len(taken) > 0 {
		t.publish(Steered{Prompts: slices.Clip(taken)})
	}
	return out
}

// goOn keeps a response with which the model wanted to end, and goes on with what the
// user sent meanwhile. It reports false where nothing was sent.
func (t *turnRun) goOn(resp *llm.Response, end core.TurnEnd) bool {
	if end != core.EndDone {
		return false
	}
	blocks := t.takeSteering()
	if recorded := t.cfg.RecordedSteering; recorded != nil {
		blocks = recorded(t.result.Steps)
	}
	if len(blocks) == 0 {
		return false
	}
	t.keep(resp)
	m := &core.Message{Role: core.RoleUser, Blocks: blocks}
	t.a.journal.append(&session.Continue{Message: m, MaxTokens: t.maxTokens})
	t.a.journal.flush()
	t.a.sayUnseen(t.a.conv.append(m))
	return true
}
