package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

// Loaded tools are taken up again in their order, by a resume and by a copy; a
// journal without them loads none.
func TestLoadedTools(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID,
		user("go"), answer(call("c1")), &Tools{Added: []string{"repl", "brief"}, Why: ToolsSearched}, results("c1"),
		answer(call("c2")), &Tools{Added: []string{"a_tool"}, Why: ToolsSearched}, results("c2"),
		answer(core.Text("done")), &End{StopReason: core.EndDone, Steps: 3})
	if text := read(t, f.path(testID)); !strings.Contains(text, `"type":"tools"`) ||
		!strings.Contains(text, `"added":["repl","brief"],"why":"search"`) {
		t.Errorf("the journal is not as documented:\n%s", text)
	}
	want := []string{"repl", "brief", "a_tool"}
	if diff := cmp.Diff(want, f.load(t, testID).Tools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	fork, h, err := f.Fork(testID, "20260101-120000-beef", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	if diff := cmp.Diff(want, h.Tools); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}

	f.write(t, "20260101-120000-cafe", turn(1)...)
	if got := f.load(t, "20260101-120000-cafe"); len(got.Tools) > 0 || len(got.Notices) > 0 {
		t.Errorf("a journal without the record: tools %q, notices %q", got.Tools, got.Notices)
	}
}
