package session

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

func calls(infos ...CallInfo) *ToolResults {
	return &ToolResults{Message: &core.Message{Role: core.RoleUser}, Calls: infos}
}

func TestOutline(t *testing.T) {
	steps := []core.Todo{{Content: "a", Status: core.TodoInProgress}, {Content: "b", Status: core.TodoPending, Note: "later"}}
	recs := []Record{
		&User{Message: &core.Message{Role: core.RoleUser, Blocks: []core.Block{
			core.Text("mend\nthe  test"), {Type: core.BlockText, Note: "plan", Text: "<garuda_note>"},
		}}},
		&Assistant{Message: &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{
			core.Text("I'll look."), {Type: core.BlockToolUse, ID: "c1", Name: "edit_file", Input: "{}"},
		}}},
		calls(CallInfo{ID: "c1", Name: "edit_file", Files: []string{"a.go"}}, CallInfo{ID: "c2", Name: "todo_write", Todos: steps}),
		calls(CallInfo{ID: "c3", Name: "apply_patch", Files: []string{"b.go", "c.go"}}),
		answer(core.Text("Mended.")),
		&End{StopReason: core.EndDone},
		&User{Message: core.UserText(strings.Repeat("ä", 700))},
		calls(CallInfo{ID: "c4", Name: "edit_file", Files: []string{"a.go"}}),
		answer(core.Text("half")),
		&End{StopReason: core.EndInterrupted},
	}
	want := Outline{
		First: "mend the test", Newest: strings.Repeat("ä", 600) + "…", Todos: steps, Answers: []string{"Mended."}, Unfinished: true, Answer: "half",
		Files: []FileChanges{{"b.go", 1}, {"c.go", 1}, {"a.go", 2}},
	}
	f := newFixture(t)
	f.write(t, testID, recs...)
	h, err := f.Load(testID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, h.Outline); d != "" {
		t.Error(d)
	}
	given := h.Outline
	h.Outline.Add(calls(CallInfo{Name: "edit_file", Files: []string{"b.go"}}, CallInfo{Name: "todo_write", Todos: []core.Todo{}}))
	h.Outline.Add(answer(core.Text("Now.")))
	h.Outline.Add(&End{StopReason: core.EndDone})
	if d := cmp.Diff(want, given); d != "" {
		t.Errorf("an outline that was given out changed: %s", d)
	}
	if h.Outline.Todos == nil || len(h.Outline.Todos) != 0 || len(h.Outline.Answers) != 2 || h.Outline.Files[2].Path != "b.go" {
		t.Errorf("%+v", h.Outline)
	}
}

// An empty list is kept, and a call without one says nothing of it.
func TestTodosInTheJournal(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, &User{Message: core.UserText("x")},
		calls(CallInfo{ID: "1", Name: "todo_write", Todos: []core.Todo{{Content: "the " + secret, Status: core.TodoPending}}}),
		calls(CallInfo{ID: "2", Name: "bash"}))
	h, err := f.Load(testID)
	if err != nil || len(h.Outline.Todos) != 1 || h.Outline.Todos[0].Content != "the [REDACTED]" {
		t.Errorf("%+v, %v", h, err)
	}
	f.write(t, "20260101-120000-eeee", &User{Message: core.UserText("x")},
		calls(CallInfo{ID: "1", Name: "todo_write", Todos: []core.Todo{{Content: "a"}}}),
		calls(CallInfo{ID: "2", Name: "todo_write", Todos: []core.Todo{}}))
	if h, err = f.Load("20260101-120000-eeee"); err != nil || h.Outline.Todos == nil || len(h.Outline.Todos) != 0 {
		t.Errorf("%+v, %v", h, err)
	}
}
