package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/engine/turn"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// errStopped is the cause of a turn's context when a person stopped the turn,
// errTimeout when its time was up.
var (
	errStopped = errors.New("stopped by the user")
	errTimeout = errors.New("the time limit was reached")
)

// actor is the session's state. Only the session's goroutine touches it; while
// a turn runs, the turn's goroutine owns conv and journal.
type actor struct {
	s          *Session
	queue      []Prompt
	steering   steering
	cancelTurn context.CancelCauseFunc
	turnDone   chan *TurnResult
	// asideDone tells that what ran between two turns is over.
	asideDone chan *TurnResult
	questions questions
	totals    Totals
	closing   bool

	conv    conversation
	journal *recorder
	// children is what agents have used that calls of the turn started.
	children children
	// thinking is how much the model thinks from the next turn on.
	thinking llm.ThinkingLevel
	// back are the turns that can be taken back.
	back session.Turns
	// notes go with the next message or step; see Session.notes.
	notes *pending
	// restful is true when the last turn came to its end by itself.
	restful bool
	// room is the output limit for which a window of which the server told has
	// room; 0 where none was too small.
	room int
	// space is how the conversation fills the model's window.
	space space
	// warnedOfCut is true once it was said that a request is larger than the window
	// of a server on this machine.
	warnedOfCut bool
	// toldModel is the model that the conversation was last told of.
	toldModel string
	// fresh is true until a model that was chosen in the middle of the conversation
	// has got its first request.
	fresh bool
}

// noteModel marks the note that tells of another model.
const noteModel = "model"

func newActor(s *Session) *actor {
	a := &actor{
		s: s, notes: &s.notes, questions: questions{publish: s.log.publish},
		toldModel: s.cfg.Model.Info().Spec, thinking: s.cfg.Thinking,
	}
	a.conv.fixedBytes = len(s.cfg.System)
	a.beginTools()
	a.conv.blind = isBlind(s.cfg.Model.Info())
	if s.account = s.cfg.Budget; s.account == nil {
		s.account = budget.New(budget.Limits{Tokens: s.cfg.Limits.TokenBudget, USD: s.cfg.Limits.SpendUSD})
	}
	s.account.Tell(a.childSpent)
	a.journal = &recorder{publish: s.log.publish, seen: s.outline.add, open: s.cfg.OpenJournal}
	a.totals.Cost.Known = true // of nothing
	if h := s.cfg.History; h != nil {
		a.restore(h)
	}
	if p := s.cfg.Pipeline; p != nil {
		a.wirePipeline(p)
	}
	return a
}

// restore takes up what a resumed journal holds.
func (a *actor) restore(h *session.History) {
	a.s.outline.begin(&h.Outline)
	unseen := a.conv.replace(h.Messages)
	a.back = h.Back
	info := a.s.cfg.Model.Info()
	a.fresh = h.Model != info.Spec && len(h.Messages) > 0
	a.sayUnseen(unseen)
	a.totals = Totals{
		Usage: h.Usage, Cost: h.Cost, UnreportedUSD: h.UnreportedUSD, Models: h.Models, Turns: h.Turns, Steps: h.Steps,
	}
	a.totals.Cost.Known = (h.Cost.Known || h.Steps == 0) && allKnown(h.Models)
	a.s.account.Book(core.ModelUsage{Usage: h.Usage, Cost: h.Cost, UnreportedUSD: h.UnreportedUSD})
	if h.Thinking != nil && llm.ThinkingLevel(*h.Thinking).Valid() {
		a.thinking = llm.ThinkingLevel(*h.Thinking)
	}
	if h.Asking {
		a.bookLost(h.Model)
	}
	a.toldModel = h.Told
	a.noteModel(info.Spec)
}

// bookLost books the request that may have been on its way to this model when the
// program was killed: nobody will say what it cost. Where another model is in use
// now, the budget takes its price, for want of the other's.
func (a *actor) bookLost(model string) {
	whole, _ := a.conv.estimate()
	info := a.s.cfg.Model.Info()
	r := budget.Largest(model, info.Price, budget.Size{Estimate: whole, Output: a.outputLimit()})
	r.PriceKnown = info.Price.Known && model == info.Spec
	a.totals.book(r.Lost())
	a.s.account.Book(r.Lost())
	a.journal.append(&session.Unreported{
		Tokens: r.Tokens, USD: r.USD, Model: model, PriceUnknown: !r.PriceKnown,
		Reason: "the program ended while a request may have been on its way",
	})
}

// noteModel tells the model in use of itself, where the conversation was last
// told of another one.
func (a *actor) noteModel(spec string) {
	a.notes.drop(noteModel)
	if spec == a.toldModel {
		return
	}
	a.notes.put(core.Block{
		Type: core.BlockText, Note: noteModel,
		Text: "<garuda_note>From here on you are running on the model " + core.Visible(spec) + ".</garuda_note>",
	})
}

// wirePipeline connects what the pipeline asks, records and reports.
func (a *actor) wirePipeline(p *tool.Pipeline) {
	if a.s.cfg.CanAsk {
		p.Asker = a.s
		p.Env.Consult = consultant{s: a.s, agent: p.Agent}
	}
	p.Env.Notes = sessionNotes{a.s}
	p.Env.Briefer = a.s
	p.NotLoaded = a.s.tools.waits
	var once sync.Once
	p.AuditFailed = func(err error) {
		once.Do(func() { a.s.log.publish(Notice{Text: err.Error() + "; calls go on without it"}) })
	}
	p.Intent = func(id, name, target string) error {
		a.journal.append(&session.Intent{ID: id, Name: name, Target: target})
		a.journal.flush()
		return nil
	}
	if a.s.cfg.Snapshots != nil {
		p.BeforeChange = a.awaitTree
	}
	p.Answered = func(req *tool.DecisionRequest, _, final *tool.Decision, answer tool.Answer) {
		a.journal.append(&session.GrantRecord{
			CallID: req.CallID, Tool: req.Tool, Rule: final.Rule, Choice: string(answer.Choice),
		})
	}
}

func (a *actor) loop() {
	defer close(a.s.done)
	for {
		select {
		case f := <-a.s.mailbox:
			f(a)
		case r := <-a.turnDone:
			a.turnEnded(r)
		case r := <-a.asideDone:
			a.asideEnded(r)
		}
		if a.closing && a.cancelTurn == nil {
			a.s.account.Close()
			a.s.closeErr = a.journal.close()
			a.s.log.close()
			return
		}
	}
}

func (a *actor) submit(p Prompt) {
	if a.closing {
		return
	}
	if a.cancelTurn != nil {
		a.queue = append(a.queue, p)
		a.notes.message()
		return
	}
	a.startTurn(p)
}

func (a *actor) startTurn(p Prompt) {
	ctx, cancel := context.WithCancelCause(context.Background())
	a.cancelTurn, a.turnDone = cancel, make(chan *TurnResult, 1)
	t := a.newTurn(p)
	done := a.turnDone
	go func() {
		stopTimer := func() bool { return true }
		if p.Timeout > 0 {
			stopTimer = a.s.cfg.Clock.AfterFunc(p.Timeout, func() { cancel(errTimeout) })
		}
		result := t.run(ctx)
		stopTimer()
		cancel(nil)
		done <- result
	}()
}

func (a *actor) turnEnded(r *TurnResult) {
	a.cancelTurn, a.turnDone = nil, nil
	a.totals.Turns++
	a.totals.Steps += r.Steps
	for _, m := range r.Models {
		a.totals.book(m)
	}
	r.Session = a.totals
	if r.End == core.EndInterrupted {
		a.notes.put(stoppedNote())
	}
	a.unsteered(r)
	a.restful = r.End == core.EndDone
	a.s.log.publish(TurnEnded{Result: r})
	a.next()
}

// next begins with what waited for the end of a turn.
func (a *actor) next() {
	if len(a.queue) > 0 && !a.closing {
		next := a.queue[0]
		a.queue = a.queue[1:]
		a.startTurn(next)
	}
	a.wake()
}

func stoppedNote() core.Block {
	return core.Block{
		Type: core.BlockText, Note: "stopped",
		Text: "<garuda_note>The user stopped the last turn before it was finished. Do not take it up again unless asked.</garuda_note>",
	}
}

func (a *actor) stopTurn() bool {
	if a.cancelTurn == nil {
		return false
	}
	a.cancelTurn(errStopped)
	return true
}

// setThinking changes how much the model thinks, for turns that begin after it.
func (a *actor) setThinking(level llm.ThinkingLevel) error {
	if !level.Valid() {
		return fmt.Errorf("change the thinking: there is no level %q; it is off, low, medium, high, xhigh or max", string(level))
	}
	if level == a.thinking {
		return nil
	}
	a.thinking = level
	a.journal.append(&session.Thinking{Choice: string(level)})
	if a.cancelTurn == nil && len(a.conv.messages) > 0 { // a running turn owns the conversation
		whole, _ := a.conv.estimate()
		a.s.log.publish(Notice{Text: fmt.Sprintf("the model's cache starts anew with the next message (about %d tokens)", whole)})
	}
	return nil
}

// outputLimit is how many tokens a request may ask for at most.
func (a *actor) outputLimit() int {
	info := a.s.cfg.Model.Info()
	n := a.s.cfg.Limits.MaxOutput
	if n <= 0 {
		return a.bounded(llm.MaxTokens(info, a.thinking))
	}
	if info.MaxOutput > 0 {
		n = min(n, info.MaxOutput)
	}
	if a.room > 0 {
		n = min(n, a.room)
	}
	return n
}

// bounded is the part of an output limit that the model has room for.
func (a *actor) bounded(n int) int {
	n = llm.Bounded(a.s.cfg.Model.Info(), n)
	if a.room > 0 {
		n = min(n, a.room)
	}
	return n
}

// setModel drops what is bound to the model before; its caches start anew.
func (a *actor) setModel(m llm.Model, maxOutput int) error {
	if a.cancelTurn != nil {
		return errors.New("change the model: a turn is running; stop it or wait for its end")
	}
	was, info := a.s.cfg.Model.Info().Spec, m.Info()
	a.s.cfg.Model, a.s.cfg.Limits.MaxOutput = m, maxOutput
	if info.Spec == was {
		return nil // the same, opened again
	}
	a.conv.estimator, a.conv.blind, a.room = turn.Estimator{}, isBlind(info), 0
	a.warnedOfCut, a.space = false, space{}
	unseen := a.conv.replace(session.ForAnotherModel(a.conv.messages))
	a.journal.append(&session.Model{Model: info.Spec, ContextWindow: info.ContextWindow, MaxOutput: maxOutput, Known: session.SetupOf(info)})
	a.noteModel(info.Spec)
	a.fresh = len(a.conv.messages) > 0
	a.sayFresh(unseen)
	return nil
}

// sayFresh tells what a switch of model costs a conversation.
func (a *actor) sayFresh(unseen int) {
	if !a.fresh {
		return
	}
	info := a.s.cfg.Model.Info()
	whole, _ := a.conv.estimate()
	text := fmt.Sprintf("%s has nothing of this conversation in its cache: the next request sends all of it (about %d tokens)", info.Spec, whole)
	if limit := a.inputLimit(0, a.outputLimit()); limit > 0 && whole > limit {
		text += fmt.Sprintf("; that is more than fits its window of %d tokens, so what is old will be cut short or summed up", info.ContextWindow)
	}
	a.s.log.publish(Notice{Text: text})
	a.sayUnseen(unseen)
}

// sayUnseen tells of images that the model will not see.
func (a *actor) sayUnseen(images int) {
	if images > 0 {
		a.s.log.publish(Notice{Text: fmt.Sprintf("%s cannot see images: it gets a note in place of %s", a.s.cfg.Model.Info().Spec, count(images, "image"))})
	}
}

func isBlind(info *llm.Info) bool { return info.VisionKnown && !info.Vision }

// close only asks: the loop ends when the turn has.
func (a *actor) close() {
	a.closing = true
	a.queue = nil
	a.stopTurn()
}
