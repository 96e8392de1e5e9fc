package plain

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func choice(multiple bool, labels ...string) *tool.Question {
	q := &tool.Question{Kind: tool.QuestionChoice, Multiple: multiple}
	for _, l := range labels {
		q.Options = append(q.Options, tool.Option{Label: l})
	}
	return q
}

func TestParseChoice(t *testing.T) {
	one, several, free := choice(false, "SQLite", "Redis", "2"), choice(true, "unit", "fuzz", "skip"), choice(false)
	picked := func(n ...int) tool.Answer { return tool.Answer{Choice: tool.AnswerGiven, Picked: n} }
	words := func(s string) tool.Answer { return tool.Answer{Choice: tool.AnswerGiven, Text: s} }
	skip := tool.Answer{Choice: tool.AnswerSkip}
	for _, tt := range []struct {
		text string
		q    *tool.Question
		want tool.Answer
		err  string
	}{
		{"1", one, picked(0), ""},
		{" 2. ", one, picked(1), ""},
		{"2", one, picked(2), ""}, // a label before a number
		{"redis", one, picked(1), ""},
		{"1)", one, picked(0), ""},
		{"1 1", one, picked(0), ""},
		{"01", one, picked(0), ""},
		{"1,2", one, tool.Answer{}, "takes one option"},
		{"0", one, tool.Answer{}, "0 is no option, they are 1 to 3"},
		{"4", one, tool.Answer{}, `in quotes ("4")`},
		{"99999999999999999999", one, tool.Answer{}, "is no option"},
		{`"4"`, one, words("4"), ""},
		{`""`, one, skip, ""},
		{`"`, one, words(`"`), ""},
		{`"a" and "b"`, one, words(`a" and "b`), ""},
		{"-1", one, words("-1"), ""},
		{"2 weeks", one, words("2 weeks"), ""},
		{"1.5", one, words("1.5"), ""},
		{".", one, words("."), ""},
		{",", one, words(","), ""},
		{"", one, skip, ""},
		{" \t", one, skip, ""},
		{"Skip", one, skip, ""},
		{"skip", several, picked(2), ""},
		{"2, 1", several, picked(1, 0), ""},
		{"1 2,3", several, picked(0, 1, 2), ""},
		{"1, 9", several, tool.Answer{}, "is no option"},
		{"unit and fuzz", several, words("unit and fuzz"), ""},
		{"42", free, words("42"), ""},
		{"7", choice(false, "only"), tool.Answer{}, "there is only 1"},
		{"/mode plan", free, tool.Answer{}, "/mode does not run while a question waits"},
		{`"/mode plan"`, free, words("/mode plan"), ""},
		{"/etc/hosts", free, words("/etc/hosts"), ""},
		{"/nonsense", free, words("/nonsense"), ""},
		{strings.Repeat("é", tool.AnswerLimit), free, words(strings.Repeat("é", tool.AnswerLimit)), ""},
		{strings.Repeat("é", tool.AnswerLimit+1), free, tool.Answer{}, "10001 characters long"},
	} {
		got, err := parseChoice(tt.text, tt.q)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("parseChoice(%.40q): %+v, %v; want an error with %q", tt.text, got, err, tt.err)
			}
			continue
		}
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("parseChoice(%.40q) = %+v, %v; want %+v", tt.text, got, err, tt.want)
		}
	}
}

func TestParsePlanAnswer(t *testing.T) {
	for _, tt := range []struct {
		text    string
		choice  tool.Choice
		comment string
		ok      bool
	}{
		{"b", tool.AnswerBuild, "", true},
		{"Y", tool.AnswerBuild, "", true},
		{"b use make", tool.AnswerBuild, "use make", true},
		{"a", tool.AnswerAcceptEdits, "", true},
		{"k\nwrite tests\nfirst", tool.AnswerKeepPlanning, "write tests\nfirst", true},
		{"n no", tool.AnswerKeepPlanning, "no", true},
		{"e", tool.AnswerEditPlan, "", true},
		{"", "", "", false},
		{"build it", tool.AnswerBuild, "it", true},
		{"accept", "", "", false},
		{"always", "", "", false},
		{"ok", "", "", false},
		{"/build", "", "", false},
		{"k " + strings.Repeat("x", tool.AnswerLimit+1), "", "", false},
	} {
		got, err := parsePlanAnswer(tt.text)
		if (err == nil) != tt.ok || tt.ok && !cmp.Equal(got, tool.Answer{Choice: tt.choice, Comment: tt.comment}) {
			t.Errorf("parsePlanAnswer(%.40q) = %+v, %v; want %s %q, ok %v", tt.text, got, err, tt.choice, tt.comment, tt.ok)
		}
	}
}

// TestEditedPlanIsBounded: what is typed without an end is not taken for a plan.
func TestEditedPlanIsBounded(t *testing.T) {
	q := &question{q: &tool.Question{Kind: tool.QuestionPlan}}
	if _, complete, err := q.read("e 1. first"); complete || err != nil || !q.editing {
		t.Fatalf("e: complete %v, %v, editing %v", complete, err, q.editing)
	}
	for range 6 {
		if _, complete, err := q.read(strings.Repeat("x", 9_999)); complete || err != nil {
			t.Fatalf("a line: complete %v, %v", complete, err)
		}
	}
	if answer, complete, err := q.read("."); complete || err == nil || q.editing {
		t.Errorf("too long a plan gave %.40q, complete %v, %v; editing %v", answer.Text, complete, err, q.editing)
	}
	_, _, _ = q.read("e")
	_, _, _ = q.read("  1. second")
	answer, complete, err := q.read(".")
	if want := (tool.Answer{Choice: tool.AnswerEditPlan, Text: "1. second"}); err != nil || !complete || !cmp.Equal(answer, want) {
		t.Errorf("got %+v, complete %v, %v; want %+v", answer, complete, err, want)
	}
}

// FuzzReadAnswer: an answer, whatever is typed, is one that the question has, and
// none that leaves plan mode comes of other words than those that say so.
func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{"1", "1, 2", "3.", `"4"`, "skip", "b", "a\\\nb", "e\nx\n.", "k no", "/mode", "", "\x00", "yes\nno"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, multiple bool) {
		for _, q := range []*tool.Question{choice(multiple, "a", "b"), choice(multiple), {Kind: tool.QuestionPlan}} {
			standing := &question{q: q}
			for line := range strings.SplitSeq(text, "\n") {
				first := !standing.editing && len(standing.draft) == 0
				answer, complete, err := standing.read(line)
				if err != nil || !complete {
					continue
				}
				checkAnswer(t, q, &answer)
				if word, _ := cutWord(line); first && answer.Choice == tool.AnswerAcceptEdits && word != "a" && word != "A" {
					t.Fatalf("%q accepts edits", line)
				}
			}
		}
	})
}

func checkAnswer(t *testing.T, q *tool.Question, a *tool.Answer) {
	t.Helper()
	for _, n := range a.Picked {
		if n < 0 || n >= len(q.Options) {
			t.Fatalf("picked %d of %d", n, len(q.Options))
		}
	}
	fits := utf8.RuneCountInString(a.Text) <= tool.AnswerLimit && utf8.RuneCountInString(a.Comment) <= tool.AnswerLimit
	switch a.Choice {
	case tool.AnswerGiven:
		if q.Kind != tool.QuestionChoice || (len(a.Picked) == 0) == (a.Text == "") || len(a.Picked) > 1 && !q.Multiple || !fits {
			t.Fatalf("%+v is no answer", a)
		}
	case tool.AnswerSkip:
		if q.Kind != tool.QuestionChoice || len(a.Picked) > 0 || a.Text != "" {
			t.Fatalf("%+v skips", a)
		}
	case tool.AnswerEditPlan:
		if q.Kind != tool.QuestionPlan || a.Text == "" || utf8.RuneCountInString(a.Text) > tool.PlanLimit {
			t.Fatalf("%+v is no plan", a)
		}
	case tool.AnswerBuild, tool.AnswerAcceptEdits, tool.AnswerKeepPlanning:
		if q.Kind != tool.QuestionPlan || !fits {
			t.Fatalf("%+v is no answer to a plan", a)
		}
	default:
		t.Fatalf("%+v is an answer of no kind", a)
	}
}
