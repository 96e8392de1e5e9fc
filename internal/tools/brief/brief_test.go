package brief

import (
	"fmt"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/testkit/tooltest"
	"garuda/internal/tool"
)

type fixed tool.Brief

func (f *fixed) Brief() *tool.Brief { return (*tool.Brief)(f) }

func TestSpec(t *testing.T) { tooltest.CheckSpec[input](t, brief{}.Spec(), 240) }

func TestBrief(t *testing.T) {
	many := &fixed{Goal: "move files"}
	for i := range 60 {
		many.Files = append(many.Files, tool.ChangedFile{Path: fmt.Sprintf("f%d.go", i), Changes: 1})
	}
	for _, tc := range []struct {
		name string
		of   *fixed
		want string
	}{
		{"the first message", &fixed{Goal: "mend the test", Unfinished: true},
			"Goal: mend the test\nDone:\n- nothing\nOpen:\n- the message of this turn\n" +
				"Files changed by tools, the last one last (what commands changed is not among them):\n- nothing"},
		{"in the middle", &fixed{
			Goal: "mend the test", Now: "and the other", Answers: []string{"Mended."},
			Todos: []core.Todo{{Content: "look", Status: core.TodoCompleted}, {Content: "mend", Status: core.TodoBlocked, Note: "no key"}},
			Files: []tool.ChangedFile{{Path: "a.go", Changes: 1}, {Path: "b.go", Changes: 3}},
		}, "Goal: mend the test\nNow: and the other\nDone:\n- Mended.\n[x] look\nOpen:\n[!] mend (no key)\n" +
			"Files changed by tools, the last one last (what commands changed is not among them):\n- a.go\n- b.go (3 changes)"},
	} {
		if got := tooltest.Call(t, &tool.Env{Briefer: tc.of}, New(), "brief", "{}"); got != tc.want {
			t.Errorf("%s:\n%s", tc.name, got)
		}
	}
	if got := tooltest.Call(t, &tool.Env{Briefer: many}, New(), "brief", ""); !strings.HasSuffix(got, "- f59.go\n- and 10 changed before these") || strings.Contains(got, "f9.go") {
		t.Error(got)
	}
	if got := tooltest.Call(t, nil, New(), "brief", "{}"); got != "Error: brief failed: there is no session to tell of: a call by hand has none; call it in a chat" {
		t.Error(got)
	}
	if got := tooltest.Call(t, nil, New(), "brief", `{"focus":"x"}`); !strings.HasPrefix(got, `Error: brief failed: brief takes no fields`) {
		t.Error(got)
	}
}
