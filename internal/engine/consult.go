package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// Who changed the mode, as the journal has it.
const (
	byUser  = "user"
	byModel = "model"
)

// questions puts one question at a time, in order, whoever asks.
type questions struct {
	publish func(Event)
	nextID  int
	waiting []waitingQuestion
}

type waitingQuestion struct {
	id    int
	q     *tool.Question
	reply chan<- replied
}

// replied ends the wait of whoever asked; err is why there is no answer.
type replied struct {
	answer tool.Answer
	err    error
}

func (qs *questions) ask(q *tool.Question, to chan<- replied) int {
	qs.nextID++
	qs.waiting = append(qs.waiting, waitingQuestion{id: qs.nextID, q: q, reply: to})
	if len(qs.waiting) == 1 {
		qs.put()
	}
	return qs.nextID
}

func (qs *questions) put() {
	if len(qs.waiting) > 0 {
		qs.publish(Asked{ID: qs.waiting[0].id, Question: qs.waiting[0].q})
	}
}

func (qs *questions) answer(id int, answer tool.Answer) {
	if len(qs.waiting) == 0 || qs.waiting[0].id != id {
		return // withdrawn meanwhile, or not yet put
	}
	qs.waiting[0].reply <- replied{answer: answer}
	qs.waiting = qs.waiting[1:]
	qs.put()
}

func (qs *questions) withdraw(id int) {
	i := slices.IndexFunc(qs.waiting, func(w waitingQuestion) bool { return w.id == id })
	if i < 0 {
		return
	}
	qs.waiting = slices.Delete(qs.waiting, i, i+1)
	if i == 0 {
		qs.publish(Withdrawn{ID: id})
		qs.put()
	}
}

// modeChanged ends the wait of each question whose answer depends on the mode:
// what it asks is decided again. A question of the model's own stands.
func (qs *questions) modeChanged() {
	if len(qs.waiting) == 0 {
		return
	}
	first := qs.waiting[0].id
	qs.waiting = slices.DeleteFunc(qs.waiting, func(w waitingQuestion) bool {
		if w.q.Kind == tool.QuestionChoice {
			return false
		}
		w.reply <- replied{err: tool.ErrModeChanged}
		return true
	})
	if len(qs.waiting) == 0 || qs.waiting[0].id != first {
		qs.publish(Withdrawn{ID: first})
		qs.put()
	}
}

// Ask implements tool.Asker: the question goes to whoever is subscribed.
func (s *Session) Ask(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	replies := make(chan replied, 1)
	var id int
	s.do(func(a *actor) { id = a.questions.ask(q, replies) })
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		s.do(func(a *actor) { a.questions.withdraw(id) })
		return tool.Answer{}, context.Cause(ctx)
	case <-s.done:
		return tool.Answer{}, ErrClosed
	}
}

// setMode changes the mode of the whole tree from the next decision on.
func (a *actor) setMode(mode, by string) error {
	was := a.s.cfg.Modes.Mode()
	if err := a.s.cfg.Modes.SetMode(mode); err != nil {
		return fmt.Errorf("change the mode: %w", err)
	}
	a.journal.append(&session.Mode{Mode: mode, By: by})
	if mode != was {
		a.questions.modeChanged()
	}
	return nil
}

// consultant is tool.Consult for the calls of one agent.
type consultant struct {
	s     *Session
	agent string
}

var _ tool.Consult = consultant{}

// Ask puts the question in the agent's name.
func (c consultant) Ask(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	asked := *q
	asked.Agent = c.agent
	return c.s.Ask(ctx, &asked)
}

// Mode is the permission mode now.
func (c consultant) Mode() string { return c.s.cfg.Modes.Mode() }

// EnterPlan switches to plan mode, which only ever takes away.
func (c consultant) EnterPlan() (string, error) {
	if err := c.setMode(tool.ModePlan, byModel); err != nil {
		return "", err
	}
	c.s.log.publish(Notice{Text: "plan mode: the model switched to it; /build ends it"})
	return planRules(&c.s.cfg), nil
}

// ApprovePlan shows the plan, and changes the mode where the answer says so.
func (c consultant) ApprovePlan(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	shown := *q
	shown.Kind = tool.QuestionPlan
	answer, err := c.Ask(ctx, &shown)
	if err != nil {
		return answer, err
	}
	switch answer.Choice {
	case tool.AnswerBuild:
		err = c.setMode(tool.ModeBuild, byUser)
	case tool.AnswerAcceptEdits:
		err = c.setMode(tool.ModeAcceptEdits, byUser)
	}
	return answer, err
}

func (c consultant) setMode(mode, by string) error {
	err := ErrClosed
	c.s.do(func(a *actor) { err = a.setMode(mode, by) })
	return err
}

// planNote goes with each message of the user in plan mode.
func planNote(cfg *Config) core.Block {
	return core.Block{
		Type: core.BlockText, Note: "plan", Text: "<garuda_note>" + planRules(cfg) + "</garuda_note>",
	}
}

// planRules say what plan mode allows, and what a plan ends with. The block of
// permissions is what /schedule reads.
func planRules(cfg *Config) string {
	var b strings.Builder
	b.WriteString("Plan mode holds now: look, search and think, but change nothing. Tools and commands that only read run; " +
		"what would change something, or would have to be asked, is refused: put it into the plan. " +
		"End with a numbered plan that names the files, the changes and the checks, and below it a fenced block of the language " +
		"\"permissions\" with the rules that carrying it out needs, one a line, such as edit_file(src/**), bash(go test *) or web_fetch(example.com).")
	if slices.ContainsFunc(cfg.Tools, func(t llm.ToolSpec) bool { return t.Name == exitPlanMode }) {
		b.WriteString(" Give that plan to " + exitPlanMode + ": the user approves it there.")
	} else {
		b.WriteString(" That plan is your answer.")
	}
	return b.String()
}

// exitPlanMode is the tool that shows a plan, where it is offered.
const exitPlanMode = "exit_plan_mode"
