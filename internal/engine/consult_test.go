package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
	"garuda/internal/tools/consult"
	"garuda/internal/workspace"
)

const (
	askStore = `{"questions":[{"header":"Store","question":"Where?","options":[{"label":"SQLite"},{"label":"Redis"}]}]}`
	showPlan = `{"plan":"1. mend it"}`
)

// asked waits for the next question.
func (b *bench) asked() Asked {
	b.t.Helper()
	events := b.until(func(e Event) bool { _, ok := e.(Asked); return ok })
	return events[len(events)-1].(Asked)
}

func (b *bench) mode() string { return b.s.cfg.Modes.Mode() }

// modes are the changes of mode in the journal, as "plan by model".
func (j *memoryJournal) modes() (out []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.records {
		if m, ok := r.(*session.Mode); ok {
			out = append(out, m.Mode+" by "+m.By)
		}
	}
	return out
}

// resultOf is the result of the last request's last call.
func (b *bench) resultOf() string {
	sent := b.model.sent()
	msgs := sent[len(sent)-1].Messages
	blocks := msgs[len(msgs)-1].Blocks
	return blocks[len(blocks)-1].ResultText()
}

func TestModelAsks(t *testing.T) {
	b := newBench(t, Config{}, consult.New(), calls(use("1", "ask", askStore)), says("Redis, then."))
	b.s.Submit(Prompt{Text: "go"})
	q := b.asked()
	want := &tool.Question{
		Kind: tool.QuestionChoice, CallID: "1", Tool: "ask", Title: "The model asks", Target: "Store", Preview: "Where?",
		Options: []tool.Option{{Label: "SQLite"}, {Label: "Redis"}},
	}
	if diff := cmp.Diff(want, q.Question); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	b.s.Answer(q.ID, tool.Answer{Choice: tool.AnswerGiven, Picked: []int{1}})
	if r := b.ended(); r.End != core.EndDone || r.Text != "Redis, then." {
		t.Errorf("ended %s with %q: %v", r.End, r.Text, r.Err)
	}
	if got, want := b.resultOf(), "The user answered:\n1. Store: Redis"; got != want {
		t.Errorf("result %q, want %q", got, want)
	}
}

func TestStopWhileTheModelAsks(t *testing.T) {
	for name, input := range map[string]string{"ask": askStore, "exit_plan_mode": showPlan} {
		b := newBench(t, Config{}, consult.New(), calls(use("1", name, input)), says("fresh"))
		if err := b.s.SetMode(tool.ModePlan); err != nil {
			t.Fatal(err)
		}
		b.s.Submit(Prompt{Text: "go"})
		q := b.asked()
		b.s.Interrupt(StopTurn)
		b.until(func(e Event) bool { return e == Withdrawn{ID: q.ID} })
		if r := b.ended(); r.End != core.EndInterrupted {
			t.Fatalf("%s: ended %s: %v", name, r.End, r.Err)
		}
		b.s.Answer(q.ID, tool.Answer{Choice: tool.AnswerBuild}) // too late: it must do nothing
		b.turn("next")
		mustSend(t, b.model.sent()[1].Messages)
		if b.mode() != tool.ModePlan {
			t.Errorf("%s: an answer after the stop set the mode %s", name, b.mode())
		}
	}
}

// TestOnlyAPersonsAnswerLeavesPlanMode: of all answers there are, and of some that
// there are not, just the two that say so change the mode.
func TestOnlyAPersonsAnswerLeavesPlanMode(t *testing.T) {
	for choice, want := range map[tool.Choice]string{
		tool.AnswerBuild: "build", tool.AnswerAcceptEdits: "accept_edits",
		tool.AnswerKeepPlanning: "plan", tool.AnswerOnce: "plan", tool.AnswerSession: "plan", tool.AnswerProject: "plan",
		tool.AnswerDeny: "plan", tool.AnswerGiven: "plan", tool.AnswerSkip: "plan", "": "plan", "accept_edits": "plan", "yolo": "plan",
	} {
		t.Run(string(choice), func(t *testing.T) {
			b := newBench(t, Config{}, consult.New(), calls(use("1", "enter_plan_mode", "{}")), calls(use("2", "exit_plan_mode", showPlan)), says("ok"))
			b.s.Submit(Prompt{Text: "go"})
			q := b.asked()
			if q.Question.Kind != tool.QuestionPlan || q.Question.Preview != "1. mend it" || b.mode() != tool.ModePlan {
				t.Fatalf("asked %+v in mode %s", q.Question, b.mode())
			}
			b.s.Answer(q.ID, tool.Answer{Choice: choice, Comment: "a comment", Text: "1. text"})
			b.ended()
			if b.mode() != want {
				t.Errorf("the mode is %s, want %s", b.mode(), want)
			}
			journal := []string{"plan by model"}
			if want != tool.ModePlan {
				journal = append(journal, want+" by user")
			}
			if diff := cmp.Diff(journal, b.journal.modes()); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
			if approved := strings.HasPrefix(b.resultOf(), "The user approved the plan."); approved != (want != tool.ModePlan) {
				t.Errorf("the model was told %q", b.resultOf())
			}
		})
	}
}

// TestNoAnswerNoMode is the negative control: without an answer, whatever the model
// calls and however the question ends, plan mode stays.
func TestNoAnswerNoMode(t *testing.T) {
	b := newBench(t, Config{}, consult.New(),
		calls(use("1", "exit_plan_mode", `{"plan":"1. x","mode":"build"}`)), calls(use("2", "enter_plan_mode", `{"mode":"build"}`)),
		calls(use("3", "ask", askStore)), says("ok"))
	if err := b.s.SetMode(tool.ModePlan); err != nil {
		t.Fatal(err)
	}
	b.s.Submit(Prompt{Text: "go"})
	b.s.Answer(b.asked().ID, tool.Answer{Choice: tool.AnswerBuild})
	b.ended()
	if diff := cmp.Diff([]string{"plan by user"}, b.journal.modes()); diff != "" || b.mode() != tool.ModePlan {
		t.Errorf("mode %s; journal (-want +got):\n%s", b.mode(), diff)
	}
}

func TestPlanModeBindsWithinTheTurn(t *testing.T) {
	d := &modeDecider{}
	b := newBench(t, Config{}, append(consult.New(), writer()),
		calls(use("1", "change", `{"path":"a"}`), use("2", "enter_plan_mode", "{}"), use("3", "change", `{"path":"b"}`)),
		calls(use("4", "exit_plan_mode", showPlan), use("5", "change", `{"path":"c"}`)), says("ok"))
	d.modes, b.s.cfg.Pipeline.Decider = b.s.cfg.Modes, d
	b.s.Submit(Prompt{Text: "go"})
	b.s.Answer(b.asked().ID, tool.Answer{Choice: tool.AnswerAcceptEdits})
	b.ended()
	sent := b.model.sent()
	last := sent[len(sent)-1].Messages
	var got []string
	for _, m := range []*core.Message{last[2], last[4]} {
		for _, r := range m.Blocks {
			text, _, _ := strings.Cut(r.ResultText(), ":")
			got = append(got, text)
		}
	}
	want := []string{"seen a", "Plan mode holds now", "Permission denied", "The user approved the plan. Plan mode is over", "seen c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// modeDecider denies changes in plan mode, asks about them in build mode, and
// allows them in accept_edits mode.
type modeDecider struct {
	fakeDecider
	modes Modes
}

func (d *modeDecider) Decide(req *tool.DecisionRequest) *tool.Decision {
	in := fakeDecider{ask: map[string]bool{}, deny: map[string]bool{}}
	in.deny["change"] = d.modes.Mode() == tool.ModePlan
	in.ask["change"] = d.modes.Mode() == tool.ModeBuild
	return in.Decide(req)
}

// TestWaitingQuestionIsDecidedAgain: another mode makes an approval that waits
// void, and what it asked is decided under the new mode.
func TestWaitingQuestionIsDecidedAgain(t *testing.T) {
	for mode, want := range map[string]string{tool.ModePlan: "Permission denied: a rule says no", tool.ModeAcceptEdits: "seen x"} {
		b := newBench(t, Config{}, []tool.Tool{writer()}, calls(use("1", "change", `{"path":"x"}`)), says("ok"))
		b.s.cfg.Pipeline.Decider = &modeDecider{modes: b.s.cfg.Modes}
		if err := b.s.SetMode(tool.ModeBuild); err != nil {
			t.Fatal(err)
		}
		b.s.Submit(Prompt{Text: "go"})
		q := b.asked()
		if err := b.s.SetMode(tool.ModeBuild); err != nil { // no other one: it stands
			t.Fatal(err)
		}
		if err := b.s.SetMode(mode); err != nil {
			t.Fatal(err)
		}
		b.until(func(e Event) bool { return e == Withdrawn{ID: q.ID} })
		b.ended()
		if got := b.resultOf(); got != want {
			t.Errorf("%s: result %q, want %q", mode, got, want)
		}
	}
}

func TestPlanIsNotAskedAboutInAnotherMode(t *testing.T) {
	b := newBench(t, Config{}, consult.New(), calls(use("1", "enter_plan_mode", "{}")), calls(use("2", "exit_plan_mode", showPlan)), says("ok"))
	b.s.Submit(Prompt{Text: "go"})
	q := b.asked()
	if err := b.s.SetMode(tool.ModeBuild); err != nil {
		t.Fatal(err)
	}
	b.s.Answer(q.ID, tool.Answer{Choice: tool.AnswerAcceptEdits}) // it was withdrawn
	b.ended()
	want := "While the plan was shown the user switched to build mode themselves, so it is not asked about any more. " +
		"Carry it out as far as that mode allows."
	if got := b.resultOf(); got != want || b.mode() != tool.ModeBuild {
		t.Errorf("result %q in mode %s, want %q", got, b.mode(), want)
	}
}

// TestQuestionsQueue: whoever asks, one question stands at a time, and a change of
// mode takes away those that depend on it and no other.
func TestQuestionsQueue(t *testing.T) {
	b := newBench(t, Config{}, nil)
	type end struct {
		answer tool.Answer
		err    error
	}
	put := func(q *tool.Question) chan end {
		ended := make(chan end, 1)
		go func() {
			a, err := b.s.Ask(t.Context(), q)
			ended <- end{a, err}
		}()
		return ended
	}
	firstEnd := put(&tool.Question{Kind: tool.QuestionApproval, Title: "first"})
	first := b.asked()
	secondEnd := put(&tool.Question{Kind: tool.QuestionChoice, Title: "second"})
	b.s.waitQueued(t, 2)
	thirdEnd := put(&tool.Question{Kind: tool.QuestionPlan, Title: "third"})
	b.s.waitQueued(t, 3)
	b.s.Answer(first.ID+1, tool.Answer{Choice: tool.AnswerGiven}) // it does not stand yet
	if err := b.s.SetMode(tool.ModePlan); err != nil {
		t.Fatal(err)
	}
	for name, ended := range map[string]chan end{"first": firstEnd, "third": thirdEnd} {
		if e := <-ended; !errors.Is(e.err, tool.ErrModeChanged) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	b.until(func(e Event) bool { return e == Withdrawn{ID: first.ID} })
	second := b.asked()
	if second.Question.Title != "second" {
		t.Fatalf("asked %q", second.Question.Title)
	}
	b.s.Answer(second.ID, tool.Answer{Choice: tool.AnswerSkip})
	if e := <-secondEnd; e.err != nil || e.answer.Choice != tool.AnswerSkip {
		t.Errorf("second: %+v", e)
	}
}

// waitQueued returns once this many questions wait or stand.
func (s *Session) waitQueued(t *testing.T, n int) {
	t.Helper()
	for s.queued() < n {
		if t.Context().Err() != nil {
			t.Fatal("the question does not come")
		}
	}
}

func (s *Session) queued() int {
	n := 0
	s.do(func(a *actor) { n = len(a.questions.waiting) })
	return n
}

// TestNobodyAnswers: a session without a person gives tools no way to one.
func TestNobodyAnswers(t *testing.T) {
	registry, err := tool.NewRegistry(consult.New()...)
	if err != nil {
		t.Fatal(err)
	}
	clock := &instantClock{}
	p := &tool.Pipeline{Registry: registry, Decider: &fakeDecider{}, Env: &tool.Env{Clock: clock, Tracker: workspace.NewTracker()}}
	model := &fakeModel{replies: []reply{calls(use("1", "ask", askStore), use("2", "enter_plan_mode", "{}"), use("3", "exit_plan_mode", showPlan)), says("ok")}}
	modes := &fakeModes{mode: tool.ModePlan}
	b := &bench{t: t, model: model, s: New(Config{ID: "20260101-000000-abcd", Model: model, Modes: modes, Clock: clock, Pipeline: p})}
	b.sub = b.s.Subscribe(0)
	defer b.sub.Close()
	if r := b.turn("go"); r.End != core.EndDone || modes.mode != tool.ModePlan {
		t.Errorf("ended %s in mode %s: %v", r.End, modes.mode, r.Err)
	}
	if err := b.s.Close(); err != nil {
		t.Error(err)
	}
	for _, m := range model.sent()[1].Messages[2].Blocks {
		if text := m.ResultText(); !m.IsError || !strings.Contains(text, "nobody can be asked here") {
			t.Errorf("result %q", text)
		}
	}
}

// TestResumeWithAnOpenQuestion: a program that was killed while a question stood
// goes on without it, in the mode that the journal says.
func TestResumeWithAnOpenQuestion(t *testing.T) {
	var open []session.Record
	b := newBench(t, Config{}, consult.New(), calls(use("1", "ask", askStore)), says("later"))
	b.s.Submit(Prompt{Text: "go"})
	b.asked()
	b.journal.mu.Lock()
	open = append(open, b.journal.records[:b.journal.flushed]...) // what a kill would leave
	b.journal.mu.Unlock()
	b.s.Interrupt(StopTurn)
	b.ended()

	var messages []*core.Message
	for _, r := range open {
		switch r := r.(type) {
		case *session.User:
			messages = append(messages, r.Message)
		case *session.Assistant:
			messages = append(messages, r.Message)
		}
	}
	history := &session.History{Messages: messages, Model: "fake/m", Told: "fake/m"}
	again := newBench(t, Config{History: history}, consult.New(), says("as you say"))
	if r := again.turn("forget the question"); r.End != core.EndDone {
		t.Fatalf("ended %s: %v", r.End, r.Err)
	}
	mustSend(t, again.model.sent()[0].Messages)
}

func TestPlanNote(t *testing.T) {
	const (
		common = "<garuda_note>Plan mode holds now: look, search and think, but change nothing. Tools and commands that only read run; " +
			"what would change something, or would have to be asked, is refused: put it into the plan. End with a numbered plan that names " +
			"the files, the changes and the checks, and below it a fenced block of the language \"permissions\" with the rules that carrying " +
			"it out needs, one a line, such as edit_file(src/**), bash(go test *) or web_fetch(example.com)."
		show   = " Give that plan to exit_plan_mode: the user approves it there.</garuda_note>"
		answer = " That plan is your answer.</garuda_note>"
	)
	offered := Config{Tools: []llm.ToolSpec{{Name: "exit_plan_mode"}}}
	for _, tt := range []struct {
		cfg  Config
		want string
	}{{offered, common + show}, {Config{}, common + answer}} {
		b := newBench(t, tt.cfg, nil, says("1. mend it"), says("mended"))
		if err := b.s.SetMode(tool.ModePlan); err != nil {
			t.Fatal(err)
		}
		b.turn("plan it")
		if err := b.s.SetMode(tool.ModeBuild); err != nil {
			t.Fatal(err)
		}
		b.turn("build it")
		sent := b.model.sent()
		first := sent[1].Messages[0].Blocks
		if len(first) != 2 || first[1].Note != "plan" || first[1].Text != tt.want {
			t.Errorf("got  %+v\nwant %q", first, tt.want)
		}
		if last := sent[1].Messages[2].Blocks; len(last) != 1 {
			t.Errorf("a note in build mode: %+v", last)
		}
	}
}
