package consult

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// person is a tool.Consult that gives answers in order, and an error at their end.
type person struct {
	mode    string
	answers []tool.Answer
	asked   []*tool.Question
	err     error
}

var errNoMore = errors.New("nobody answers any more")

func (p *person) Ask(_ context.Context, q *tool.Question) (tool.Answer, error) {
	p.asked = append(p.asked, q)
	if len(p.answers) == 0 {
		if p.err != nil {
			return tool.Answer{}, p.err
		}
		return tool.Answer{}, errNoMore
	}
	a := p.answers[0]
	p.answers = p.answers[1:]
	return a, nil
}

func (p *person) Mode() string { return p.mode }

func (p *person) EnterPlan() (string, error) {
	p.mode = tool.ModePlan
	return "the rules", nil
}

func (p *person) ApprovePlan(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	a, err := p.Ask(ctx, q)
	if err == nil && a.Choice == tool.AnswerBuild {
		p.mode = tool.ModeBuild
	}
	return a, err
}

// allows lets every call run.
type allows struct{}

func (allows) Decide(req *tool.DecisionRequest) *tool.Decision {
	return &tool.Decision{Outcome: tool.Allow, Grant: tool.NewGrant(req.CallID)}
}

func (allows) Resolve(*tool.DecisionRequest, *tool.Decision, tool.Answer) *tool.Decision {
	panic("nothing is asked")
}

// call runs a call through the pipeline and gives what the model gets.
func call(t *testing.T, p *person, name, input string) (text string, isError bool) {
	t.Helper()
	registry, err := tool.NewRegistry(New()...)
	if err != nil {
		t.Fatal(err)
	}
	env := &tool.Env{Clock: core.SystemClock}
	if p != nil {
		env.Consult = p
	}
	pipeline := &tool.Pipeline{Registry: registry, Decider: allows{}, Env: env}
	use := core.Block{Type: core.BlockToolUse, ID: "c1", Name: name, Input: input}
	r := pipeline.Run(t.Context(), pipeline.Prepare(t.Context(), use), 0, tool.Observer{})
	return r.Result.ResultText(), r.Result.IsError
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWrongCalls(t *testing.T) {
	type in = map[string]any
	questions := func(qs ...any) in { return in{"questions": append([]any{}, qs...)} }
	long := strings.Repeat("é", maxLabel+1)
	for _, tt := range []struct {
		name, tool string
		input      in
		want       string
	}{
		{"nothing", "ask", in{}, "Error: ask failed: questions is missing; give questions"},
		{"no question", "ask", questions(), "Error: ask failed: there is no question; give 1 to 4"},
		{"one question, bare", "ask", in{"question": "Which?"},
			`Error: ask failed: ask has no field "question"; did you mean "questions"?`},
		{"five questions", "ask", questions(in{"question": "1"}, in{"question": "2"}, in{"question": "3"}, in{"question": "4"}, in{"question": "5"}),
			"Error: ask failed: there are 5 questions; at most 4 are asked at once: ask those first that the others depend on"},
		{"blank question", "ask", questions(in{"question": " \n"}), "Error: ask failed: questions[0].question is empty; say what the user is to decide"},
		{"without the question", "ask", questions(in{"header": "x"}),
			"Error: ask failed: questions[0].question is missing; give question, and if you like header, multiple, options"},
		{"option as text", "ask", questions(in{"question": "a", "options": []string{"x"}}),
			`Error: ask failed: questions[0].options[0] is "x", want an object with detail, label`},
		{"unknown field of an option", "ask", questions(in{"question": "a", "options": []in{{"label": "x", "detial": "y"}}}),
			`Error: ask failed: ask.questions[0].options[0] has no field "detial"; did you mean "detail"?`},
		{"empty label", "ask", questions(in{"question": "a"}, in{"question": "b", "options": []in{{"label": "x"}, {"label": " "}}}),
			"Error: ask failed: questions[1].options[1].label is empty; name each option in a few words"},
		{"equal labels", "ask", questions(in{"question": "a", "options": []in{{"label": "Yes"}, {"label": "yes "}}}),
			`Error: ask failed: questions[0].options[1]: two options are named "yes"; name each by what is different`},
		{"long label", "ask", questions(in{"question": "a", "options": []in{{"label": long}}}),
			"Error: ask failed: questions[0].options[0].label is 201 characters long, at most 200 are shown; make it shorter"},
		{"long detail", "ask", questions(in{"question": "a", "options": []in{{"label": "x", "detail": strings.Repeat("é", maxDetail+1)}}}),
			"Error: ask failed: questions[0].options[0].detail is 1001 characters long, at most 1000 are shown; make it shorter"},
		{"long header", "ask", questions(in{"question": "a", "header": strings.Repeat("h", maxHeader+1)}),
			"Error: ask failed: questions[0].header is 41 characters long, at most 40 are shown; make it shorter"},
		{"long question", "ask", questions(in{"question": strings.Repeat("q", maxQuestion+1)}),
			"Error: ask failed: questions[0].question is 2001 characters long, at most 2000 are shown; make it shorter"},
		{"many options", "ask", questions(in{"question": "a", "options": func() (out []in) {
			for i := range maxOptions + 1 {
				out = append(out, in{"label": fmt.Sprint(i)})
			}
			return out
		}()}), "Error: ask failed: questions[0] has 9 options, at most 8 are offered; leave out those that nobody would take"},

		{"a word too much", "enter_plan_mode", in{"plan": "1. x"}, `Error: enter_plan_mode failed: enter_plan_mode takes no fields; leave out "plan"`},
		{"no plan", "exit_plan_mode", in{}, "Error: exit_plan_mode failed: plan is missing; give plan"},
		{"empty plan", "exit_plan_mode", in{"plan": " "},
			"Error: exit_plan_mode failed: plan is empty; give the whole plan: the user decides by what stands in it"},
		{"long plan", "exit_plan_mode", in{"plan": strings.Repeat("p", tool.PlanLimit+1)},
			"Error: exit_plan_mode failed: plan is 50001 characters long, at most 50000 are shown; make it shorter"},
		{"in build mode", "exit_plan_mode", in{"plan": "1. x"},
			"Error: exit_plan_mode failed: this session is not in plan mode (it is in build mode), so there is nothing to approve; go on with the work"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &person{mode: tool.ModeBuild}
			got, isError := call(t, p, tt.tool, encode(t, tt.input))
			if got != tt.want || !isError {
				t.Errorf("got  %q (error: %v)\nwant %q", got, isError, tt.want)
			}
			if len(p.asked) > 0 {
				t.Errorf("a call that failed asked %d questions", len(p.asked))
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	for name, tt := range map[string]struct{ input, want string }{
		"ask": {`{"questions":[{"question":"Which?"}]}`,
			"Error: ask failed: nobody can be asked here; decide it yourself, and state in your answer what you assumed"},
		"enter_plan_mode": {`{}`, "Error: enter_plan_mode failed: nobody can be asked here to approve a plan; go on as you are"},
		"exit_plan_mode": {`{"plan":"1. x"}`,
			"Error: exit_plan_mode failed: nobody can be asked here; the plan is your answer: write it there"},
	} {
		if got, isError := call(t, nil, name, tt.input); got != tt.want || !isError {
			t.Errorf("%s: got %q (error: %v), want %q", name, got, isError, tt.want)
		}
	}
}

const twoQuestions = `{"questions":[{"header":"Store","question":"Where is it kept?","options":[{"label":"SQLite","detail":"one file"},{"label":"Redis"}]},` +
	`{"question":"Which tests, and\nwhy those?","multiSelect":true,"choices":[{"label":"unit","description":"fast"},{"label":"end to end"},{"label":"fuzz"}]}]}`

func TestAskedAsThePersonGetsIt(t *testing.T) {
	p := &person{answers: []tool.Answer{{Choice: tool.AnswerSkip}, {Choice: tool.AnswerSkip}}}
	call(t, p, "ask", twoQuestions)
	want := []*tool.Question{
		{Kind: tool.QuestionChoice, CallID: "c1", Tool: "ask", Title: "The model asks (1 of 2)", Target: "Store", Preview: "Where is it kept?",
			Options: []tool.Option{{Label: "SQLite", Detail: "one file"}, {Label: "Redis"}}},
		{Kind: tool.QuestionChoice, CallID: "c1", Tool: "ask", Title: "The model asks (2 of 2)", Preview: "Which tests, and\nwhy those?", Multiple: true,
			Options: []tool.Option{{Label: "unit", Detail: "fast"}, {Label: "end to end"}, {Label: "fuzz"}}},
	}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestHiddenCharactersAreShown(t *testing.T) {
	p := &person{answers: []tool.Answer{{Choice: tool.AnswerGiven, Picked: []int{0}}}}
	got, _ := call(t, p, "ask", `{"questions":[{"header":"a\u202eb","question":"x\u001b[2J?","options":[{"label":"l\u200b","detail":"d\u0007"}]}]}`)
	want := []*tool.Question{{
		Kind: tool.QuestionChoice, CallID: "c1", Tool: "ask", Title: "The model asks", Target: "a[U+202E]b", Preview: "x␛[2J?",
		Options: []tool.Option{{Label: "l[U+200B]", Detail: "d[U+0007]"}}, Warning: hiddenWarning,
	}}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Errorf("question (-want +got):\n%s", diff)
	}
	if want := "The user answered:\n1. a\u202eb: l\u200b"; got != want {
		t.Errorf("the model gets its own label back as %q, want %q", got, want)
	}
	p = &person{mode: tool.ModePlan, answers: []tool.Answer{{Choice: tool.AnswerBuild}}}
	call(t, p, "exit_plan_mode", `{"plan":"1. x\u202e\r"}`)
	if q := p.asked[0]; q.Preview != "1. x[U+202E]" || q.Warning != hiddenWarning {
		t.Errorf("the plan is shown as %q with the warning %q", q.Preview, q.Warning)
	}
}

func TestAnswers(t *testing.T) {
	given := func(text string, picked ...int) tool.Answer {
		return tool.Answer{Choice: tool.AnswerGiven, Text: text, Picked: picked}
	}
	skip := tool.Answer{Choice: tool.AnswerSkip}
	one := `{"questions":[{"header":"Store","question":"Where?","options":[{"label":"SQLite"},{"label":"Redis"}]}]}`
	for _, tt := range []struct {
		name, input string
		answers     []tool.Answer
		want        string
		isError     bool
	}{
		{"one picked", one, []tool.Answer{given("", 1)}, "The user answered:\n1. Store: Redis", false},
		{"own words", one, []tool.Answer{given(" neither,\nuse a file ")}, "The user answered:\n1. Store: in their own words: neither,\n   use a file", false},
		{"both", one, []tool.Answer{given("for now", 0)}, "The user answered:\n1. Store: SQLite; in their own words: for now", false},
		{"skipped", one, []tool.Answer{skip}, "The user skipped the question: decide it yourself, and state in your answer what you assumed.", false},
		{"given, but nothing", one, []tool.Answer{given(" ")}, "The user skipped the question: decide it yourself, and state in your answer what you assumed.", false},
		{"an answer of another kind", one, []tool.Answer{{Choice: tool.AnswerOnce, Text: "x"}},
			"The user skipped the question: decide it yourself, and state in your answer what you assumed.", false},
		{"nobody there", one, []tool.Answer{{Choice: tool.AnswerSkip, Comment: "nobody could be asked"}},
			"There is no answer:\n1. Store: not answered (nobody could be asked); decide it yourself, and state in your answer what you assumed", false},
		{"several of one", one, []tool.Answer{given("", 0, 1)},
			"Error: ask failed: the answer picks 2 options of a question that takes one; this is a fault of the surface, and nothing was decided", true},
		{"beyond the options", one, []tool.Answer{given("", 2)},
			"Error: ask failed: the answer picks option 3 of 2; this is a fault of the surface, and nothing was decided", true},
		{"several", twoQuestions, []tool.Answer{skip, given("", 2, 0, 2)},
			"The user answered:\n1. Store: skipped; decide it yourself, and state in your answer what you assumed\n2. Which tests, and why those?: unit, fuzz", false},
		{"all skipped", twoQuestions, []tool.Answer{skip, skip},
			"The user skipped the questions: decide them yourself, and state in your answer what you assumed.", false},
		{"a long answer", `{"questions":[{"question":"q"}]}`, []tool.Answer{given(strings.Repeat("w", tool.AnswerLimit+5))},
			"The user answered:\n1. q: in their own words: " + strings.Repeat("w", tool.AnswerLimit) + " [cut: it was 10005 characters long]", false},
		{"interrupted", one, nil, "Error: ask failed: it was interrupted before the user answered.", true},
		{"interrupted later", twoQuestions, []tool.Answer{skip},
			"Error: ask failed: it was interrupted before the user answered all of it: 1 of 2 answers had come and do not count.", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := call(t, &person{answers: tt.answers}, "ask", tt.input)
			if got != tt.want || isError != tt.isError {
				t.Errorf("got  %q (error: %v)\nwant %q", got, isError, tt.want)
			}
		})
	}
}

func TestEnterPlanMode(t *testing.T) {
	p := &person{mode: tool.ModeAcceptEdits}
	if got, isError := call(t, p, "enter_plan_mode", "{}"); got != "the rules" || isError || p.mode != tool.ModePlan {
		t.Errorf("got %q (error: %v) in mode %s", got, isError, p.mode)
	}
	if got, isError := call(t, p, "enter_plan_mode", ""); got != "This session is in plan mode already." || isError {
		t.Errorf("the second time: got %q (error: %v)", got, isError)
	}
}

const keep = "The user did not approve the plan and wants to go on planning; plan mode stays."

func TestExitPlanMode(t *testing.T) {
	edit := func(text string) tool.Answer { return tool.Answer{Choice: tool.AnswerEditPlan, Text: text} }
	const (
		build  = "The user approved the plan. Plan mode is over and this is build mode: carry the plan out; each change is asked for."
		edited = "\nThe user edited the plan; it is now:\n\n1. theirs"
	)
	for _, tt := range []struct {
		name    string
		answers []tool.Answer
		err     error
		want    string
		isError bool
	}{
		{"build", []tool.Answer{{Choice: tool.AnswerBuild}}, nil, build, false},
		{"build, with a comment", []tool.Answer{{Choice: tool.AnswerBuild, Comment: "quick"}}, nil, build + "\nTheir comment: quick", false},
		{"accept edits", []tool.Answer{{Choice: tool.AnswerAcceptEdits}}, nil,
			"The user approved the plan. Plan mode is over: carry the plan out. Edits inside the root are accepted without a question, commands are not.", false},
		{"keep", []tool.Answer{{Choice: tool.AnswerKeepPlanning}}, nil,
			keep + " They did not say what is missing: ask them, and wait for their next message.", false},
		{"keep, with a comment", []tool.Answer{{Choice: tool.AnswerKeepPlanning, Comment: "tests first"}}, nil,
			keep + " Change the plan accordingly, and give it to exit_plan_mode again.\nTheir comment: tests first", false},
		{"edit, then build", []tool.Answer{edit(" 1. theirs\n"), {Choice: tool.AnswerBuild}}, nil, build + edited, false},
		{"edit to the same", []tool.Answer{edit("1. ours"), edit(" "), {Choice: tool.AnswerBuild}}, nil, build, false},
		{"edit, then keep", []tool.Answer{edit("1. theirs"), {Choice: tool.AnswerKeepPlanning}}, nil,
			keep + " Change the plan accordingly, and give it to exit_plan_mode again." + edited, false},
		{"edit to too much", []tool.Answer{edit(strings.Repeat("p", tool.PlanLimit+1))}, nil,
			"Error: exit_plan_mode failed: the edited plan is 50001 characters long, at most 50000 are shown; make it shorter", true},
		{"mode changed by other means", []tool.Answer{edit("1. theirs")}, tool.ErrModeChanged,
			"While the plan was shown the user switched to plan mode themselves, so it is not asked about any more. Carry it out as far as that mode allows." + edited, false},
		{"the mode cannot change", nil, errors.New("change the mode: the policy allows only plan"),
			"Error: exit_plan_mode failed: leave plan mode: change the mode: the policy allows only plan", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &person{mode: tool.ModePlan, answers: tt.answers, err: tt.err}
			got, isError := call(t, p, "exit_plan_mode", `{"plan":"1. ours\n"}`)
			if got != tt.want || isError != tt.isError {
				t.Errorf("got  %q (error: %v)\nwant %q", got, isError, tt.want)
			}
		})
	}
}

func TestEditedPlanIsShownAgain(t *testing.T) {
	p := &person{mode: tool.ModePlan, answers: []tool.Answer{{Choice: tool.AnswerEditPlan, Text: "1. theirs"}, {Choice: tool.AnswerBuild}}}
	call(t, p, "exit_plan_mode", `{"plan":"1. ours"}`)
	want := []*tool.Question{
		{Kind: tool.QuestionPlan, CallID: "c1", Tool: "exit_plan_mode", Title: "Carry out this plan?", Preview: "1. ours"},
		{Kind: tool.QuestionPlan, CallID: "c1", Tool: "exit_plan_mode", Title: "Carry out this plan, as you edited it?", Preview: "1. theirs"},
	}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
}

func TestEditsEnd(t *testing.T) {
	p := &person{mode: tool.ModePlan, answers: make([]tool.Answer, maxEdits+5)}
	for i := range p.answers {
		p.answers[i] = tool.Answer{Choice: tool.AnswerEditPlan, Text: fmt.Sprint("plan ", i)}
	}
	got, isError := call(t, p, "exit_plan_mode", `{"plan":"1. ours"}`)
	if want := "Error: exit_plan_mode failed: the plan was edited 50 times without a decision; plan mode stays"; got != want || !isError {
		t.Errorf("got %q (error: %v), want %q", got, isError, want)
	}
}

func TestInterruptedPlan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &stopping{person: person{mode: tool.ModePlan}, stop: cancel}
	out, err := exitPlanMode{}.Run(ctx, &tool.Call{ID: "c1", Env: &tool.Env{Consult: p}, Plan: &tool.Plan{Input: &exitInput{Plan: "1. x"}}})
	want := "Error: exit_plan_mode failed: it was interrupted before the user decided; plan mode stays."
	if err == nil || out == nil || out.Text != want || !out.IsError {
		t.Errorf("got %+v, %v; want %q", out, err, want)
	}
}

// stopping is a person who stops the turn instead of answering.
type stopping struct {
	person
	stop func()
}

func (s *stopping) ApprovePlan(ctx context.Context, _ *tool.Question) (tool.Answer, error) {
	s.stop()
	return tool.Answer{}, ctx.Err()
}
