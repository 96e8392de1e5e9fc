package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/audit"
	"garuda/internal/core"
)

// book keeps lines as short texts, and fails from line failAt on (counted from 1).
type book struct {
	lines     []string
	mandatory bool
	failAt    int
	err       error
}

func (b *book) Mandatory() bool { return b.mandatory }

func (b *book) Append(l audit.Line) error {
	text := fmt.Sprintf("%s %s %s %s %s %v %v", l.ID, l.Tool, l.Target, l.Decision, l.Risk, l.Allowed, l.IsError)
	if l.UserChoice != "" {
		text += " " + l.UserChoice
	}
	b.lines = append(b.lines, text)
	if b.failAt > 0 && len(b.lines) >= b.failAt {
		return b.err
	}
	return nil
}

type asker struct {
	answer Answer
	err    error
}

func (a asker) Ask(context.Context, *Question) (Answer, error) { return a.answer, a.err }

func TestAuditLines(t *testing.T) {
	fault := func(context.Context, *Call) (*Output, error) { return nil, errors.New("disk on fire") }
	boom := func(context.Context, *Call) (*Output, error) { panic("boom") }
	checking := func(ctx context.Context, c *Call) (*Output, error) {
		return &Output{Text: "x"}, c.Check(ctx, Effects{Hosts: []string{"h.example"}}, "h.example", "")
	}
	question := &Decision{Outcome: Ask, By: "user", Question: &Question{}}
	for name, tc := range map[string]struct {
		plan    Plan
		run     func(context.Context, *Call) (*Output, error)
		answers []*Decision
		asker   Asker
		want    []string
	}{
		"allowed": {Plan{Target: "a"}, ok("x"), []*Decision{{Outcome: Allow, By: "rule"}}, nil,
			[]string{"c1 good a allow_rule medium true false", "c1 good a executed low true false"}},
		"only a label": {Plan{Label: "a"}, ok("x"), []*Decision{{Outcome: Allow, By: "rule"}}, nil,
			[]string{"c1 good a allow_rule medium true false", "c1 good a executed low true false"}},
		"only a label, given up": {Plan{Label: "a"}, ok("x"), []*Decision{question}, asker{err: context.Canceled},
			[]string{"c1 good a deny_user high false false"}},
		"a failure": {Plan{Target: "a"}, fault, []*Decision{{Outcome: Allow, By: "yolo"}}, nil,
			[]string{"c1 good a allow_yolo high true false", "c1 good a error medium true true"}},
		"a panic": {Plan{Target: "a"}, boom, []*Decision{{Outcome: Allow, By: "rule"}}, nil,
			[]string{"c1 good a allow_rule medium true false", "c1 good a error medium true true"}},
		"denied": {Plan{Target: "a"}, ok("x"), []*Decision{{Outcome: Deny, By: "guard"}}, nil,
			[]string{"c1 good a deny_guard critical false false"}},
		"nobody to ask": {Plan{Target: "a"}, ok("x"), []*Decision{question}, nil,
			[]string{"c1 good a deny_user high false false"}},
		"a yes": {Plan{Target: "a", Destructive: true}, ok("x"), []*Decision{question}, asker{answer: Answer{Choice: AnswerSession}},
			[]string{"c1 good a allow_user high true false session", "c1 good a executed low true false"}},
		"a no": {Plan{Target: "a"}, ok("x"), []*Decision{question}, asker{answer: Answer{Choice: AnswerDeny}},
			[]string{"c1 good a deny_user high false false deny"}},
		"given up": {Plan{Target: "a"}, ok("x"), []*Decision{question}, asker{err: context.Canceled},
			[]string{"c1 good a deny_user high false false"}},
		"outside the sandbox": {Plan{Target: "a", Effects: Effects{OutsideSandbox: true}}, ok("x"), []*Decision{{Outcome: Allow, By: "rule"}}, nil,
			[]string{"c1 good a allow_rule high true false", "c1 good a executed low true false"}},
		"a check while it runs": {Plan{Target: "a"}, checking, []*Decision{{Outcome: Allow, By: "read_only"}, {Outcome: Deny, By: "rule"}}, nil,
			[]string{"c1 good a allow_readonly low true false", "c1 good h.example deny_rule high false false", "c1 good a error medium true true"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &book{}
			p := pipeline(t, &decider{answers: tc.answers}, stub("good", tc.plan, tc.run))
			p.Audit, p.Asker = b, tc.asker
			call(p, "good", `{}`)
			if diff := cmp.Diff(tc.want, b.lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// named keeps whose calls the lines are of.
type named struct {
	book
	who []string
}

func (n *named) Append(l audit.Line) error {
	n.who = append(n.who, l.SessionID+" "+l.Agent)
	return n.book.Append(l)
}

// TestLinesNameTheirAgent: the log tells a subagent's calls from its parent's.
func TestLinesNameTheirAgent(t *testing.T) {
	n := &named{}
	p := pipeline(t, allow(), stub("good", Plan{}, ok("x")))
	p.Audit, p.SessionID, p.Agent = n, "s1", "explore"
	call(p, "good", `{}`)
	if diff := cmp.Diff([]string{"s1 explore", "s1 explore"}, n.who); diff != "" {
		t.Error(diff)
	}
}

// TestAPlanThatFails: what could not be planned leaves a line too.
func TestAPlanThatFails(t *testing.T) {
	b := &book{}
	s := stub("good", Plan{}, ok(""))
	s.plan = func(json.RawMessage) (*Plan, error) { return nil, errors.New("outside the project") }
	p := pipeline(t, allow(), s)
	p.Audit = b
	call(p, "good", `{"path":"/etc/passwd"}`)
	if diff := cmp.Diff([]string{`c1 good {"path":"/etc/passwd"} error medium false true`}, b.lines); diff != "" {
		t.Error(diff)
	}
}

// TestALineThatIsNotWritten: nothing runs without its line where the log is
// mandatory; elsewhere the call goes on, and somebody is told.
func TestALineThatIsNotWritten(t *testing.T) {
	full, half := errors.New("disk full"), &audit.CheckpointError{Err: errors.New("disk full")}
	for _, tc := range []struct {
		name      string
		mandatory bool
		failAt    int
		err       error
		ran       bool
		want      string
		told      int
	}{
		{"optional", false, 1, full, true, "done", 2},
		{"mandatory, before", true, 1, full, false, "Error: good failed: it did not run, since no call runs without its line in the audit log: disk full", 0},
		{"mandatory, the checkpoint", true, 1, half, false, "Error: good failed: it did not run, since no call runs without its line in the audit log: the line was written, but its checkpoint could not be written: disk full", 0},
		{"mandatory, after", true, 2, full, true, "Error: good failed: it ran, but its line in the audit log could not be written: disk full", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ran, told := false, 0
			p := pipeline(t, allow(), stub("good", Plan{}, func(context.Context, *Call) (*Output, error) {
				ran = true
				return &Output{Text: "done"}, nil
			}))
			p.Audit, p.AuditFailed = &book{mandatory: tc.mandatory, failAt: tc.failAt, err: tc.err}, func(error) { told++ }
			r := call(p, "good", `{}`)
			if got := r.Result.Content[0].Text; got != tc.want || ran != tc.ran || told != tc.told {
				t.Errorf("%q, ran %v, told %d times", got, ran, told)
			}
			if tc.mandatory && !r.Result.IsError {
				t.Error("no error")
			}
			if tc.ran && !strings.Contains(r.Result.ResultText(), "done") {
				t.Error("what the call gave is gone")
			}
		})
	}
}

// TestTheLineComesBeforeTheRun: a decision is in the log before its call begins.
func TestTheLineComesBeforeTheRun(t *testing.T) {
	b := &book{}
	p := pipeline(t, allow(), stub("good", Plan{}, func(context.Context, *Call) (*Output, error) {
		if len(b.lines) != 1 {
			t.Errorf("%d lines when it ran", len(b.lines))
		}
		return &Output{}, nil
	}))
	p.Audit = b
	p.Run(context.Background(), p.Prepare(context.Background(), core.Block{Type: core.BlockToolUse, ID: "c", Name: "good", Input: `{}`}), 0, Observer{})
}
