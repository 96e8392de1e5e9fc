package tool

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/audit"
)

// kept is an audit log in memory.
type kept struct{ lines []audit.Line }

func (k *kept) Append(l audit.Line) error { k.lines = append(k.lines, l); return nil }
func (*kept) Mandatory() bool             { return false }

// noting is a decider that notes what it was asked.
type noting struct {
	decider
	got *DecisionRequest
}

func (n *noting) Decide(req *DecisionRequest) *Decision {
	n.got = req
	return n.decider.Decide(req)
}

// TestCheckHost: a host is decided about as the tool network, under the call's id.
func TestCheckHost(t *testing.T) {
	for _, c := range []struct {
		name    string
		d       *Decision
		answer  Choice
		allowed bool
		line    string
	}{
		{"a rule allows it", &Decision{Outcome: Allow, By: "rule", Rule: "network(a.example)", Source: "user", Reason: "the rule allows it"}, "", true,
			"network_allow a.example:443 the rule allows it [network(a.example), user] "},
		{"a rule refuses it", &Decision{Outcome: Deny, By: "rule", Reason: "no"}, "", false, "network_deny a.example:443 no "},
		{"the user allows it", &Decision{Outcome: Ask, Question: &Question{}}, AnswerOnce, true, "network_allow a.example:443  once"},
		{"the user refuses it", &Decision{Outcome: Ask, Question: &Question{}}, AnswerDeny, false, "network_deny a.example:443 no deny"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, log := &noting{decider: decider{answers: []*Decision{c.d}}}, &kept{}
			p := pipeline(t, d)
			p.Audit, p.Asker = log, answering(c.answer)
			err := p.CheckHost(t.Context(), "c1", "a.example", 443)
			if (err == nil) != c.allowed {
				t.Errorf("%v", err)
			}
			want := &DecisionRequest{CallID: "c1", Tool: "network", Class: ClassURL,
				Plan: &Plan{Target: "a.example", Preview: "a.example:443", Effects: Effects{Hosts: []string{"a.example"}}}}
			if diff := cmp.Diff(want, d.got); diff != "" {
				t.Error(diff)
			}
			if len(log.lines) != 1 {
				t.Fatalf("%d lines", len(log.lines))
			}
			l := log.lines[0]
			if got := strings.Join([]string{string(l.Decision), l.Target, l.Reason, l.UserChoice}, " "); got != c.line || l.ID != "c1" || l.Allowed != c.allowed {
				t.Errorf("%q %+v", got, l)
			}
		})
	}
	log := &kept{}
	p := pipeline(t, allow())
	p.Audit = log
	if err := p.AuditHost("c1", "a.example", 80, false, "the policy blocks it"); err != nil || log.lines[0].Decision != audit.NetworkDeny {
		t.Errorf("%v, %+v", err, log.lines)
	}
}

// answering answers every question so.
type answering Choice

func (a answering) Ask(context.Context, *Question) (Answer, error) {
	return Answer{Choice: Choice(a)}, nil
}
