package policy

import (
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/tool"
)

func TestTeamHidesFromSearches(t *testing.T) {
	e := newEngine(t, configure(allowing("read_file(secret/plans.txt)"), forTeam))
	for name, want := range map[string]bool{"a.txt": true, "secret/plans.txt": false, "secret/deep/x": false, "secrets/x": true, "secret": false} {
		if got := e.MayRead(filepath.Join(e.root.given, filepath.FromSlash(name))); got != want {
			t.Errorf("%s may be read: %v", name, got)
		}
	}
}

// TestAskedEachTime: an answer to a call that is asked for each time covers no
// other, whatever the answer says.
func TestAskedEachTime(t *testing.T) {
	for _, each := range []bool{true, false} {
		e := newEngine(t, nil)
		req := inputCall(e, "remember", `{"text":"x"}`)
		req.Plan.Each = each
		d := e.Decide(req)
		if d.Outcome != tool.Ask || (d.Question.SessionRule == "") != each {
			t.Fatalf("each %v: %+v", each, d.Question)
		}
		if d := e.Resolve(req, d, tool.Answer{Choice: tool.AnswerSession}); d.Outcome != tool.Allow {
			t.Fatal(d.Reason)
		}
		if d := e.Decide(req); (d.Outcome == tool.Ask) != each {
			t.Errorf("each %v: the next call is decided with %s", each, d.Outcome)
		}
	}
}

func TestTeamThatCannotBeUsed(t *testing.T) {
	root := t.TempDir()
	for want, team := range map[string]Team{
		"f: the disallowed command": {Commands: []TeamEntry{{"a && b", "f"}}},
		"f: the denied path":        {Paths: []TeamEntry{{"../x", "f"}}},
		"f: the blocked host":       {Hosts: []TeamEntry{{"https://x", "f"}}},
	} {
		if _, err := New(Config{Root: root, Team: team}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestHunks: an answer for some hunks allows these, once, and nothing that was not
// there to choose from.
func TestHunks(t *testing.T) {
	for _, c := range []struct {
		answer tool.Answer
		want   tool.Outcome
		reason string
	}{
		{tool.Answer{Choice: tool.AnswerOnce}, tool.Allow, ""},
		{tool.Answer{Choice: tool.AnswerOnce, Hunks: []int{1, 3}}, tool.Allow, ""},
		{tool.Answer{Choice: tool.AnswerOnce, Hunks: []int{}}, tool.Deny, "no part of the change"},
		{tool.Answer{Choice: tool.AnswerOnce, Hunks: []int{4}}, tool.Deny, "names hunk 4"},
		{tool.Answer{Choice: tool.AnswerOnce, Hunks: []int{0}}, tool.Deny, "names hunk 0"},
		{tool.Answer{Choice: tool.AnswerSession, Hunks: []int{1}}, tool.Deny, "counts once"},
		{tool.Answer{Choice: tool.AnswerDeny, Hunks: []int{1}}, tool.Deny, "the user said no"},
	} {
		e := newEngine(t, nil)
		req := fileCall(e, "edit_file", "a.txt")
		req.Plan.Hunks = 3
		asked := e.Decide(req)
		if asked.Outcome != tool.Ask || asked.Question.Hunks != 3 {
			t.Fatalf("%+v", asked)
		}
		d := e.Resolve(req, asked, c.answer)
		if d.Outcome != c.want || !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%+v: %s, %s", c.answer, d.Outcome, d.Reason)
		}
		if d.Outcome == tool.Allow && len(d.Grant.ApprovedHunks()) != len(c.answer.Hunks) {
			t.Errorf("%+v: the grant is for %v", c.answer, d.Grant.ApprovedHunks())
		}
	}
}

// TestAPolicyTakesNothingBack: a pattern that would take something back is an error,
// and not the name of a file.
func TestAPolicyTakesNothingBack(t *testing.T) {
	root, home := project(t)
	_, err := New(Config{Root: root, Home: home, Team: Team{Paths: []TeamEntry{{Text: "!secret/", File: "policy.json"}}}})
	if err == nil || !strings.Contains(err.Error(), "policy.json: the denied path !secret/: no pattern takes anything back") {
		t.Error(err)
	}
}
