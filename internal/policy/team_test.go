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
