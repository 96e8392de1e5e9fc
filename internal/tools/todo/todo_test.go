package todo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/testkit/tooltest"
)

func TestSpec(t *testing.T) { tooltest.CheckSpec[input](t, write{}.Spec(), 600) }

func list(n int) string {
	steps := make([]todoInput, n)
	for i := range steps {
		steps[i] = todoInput{Content: fmt.Sprintf("step %d", i+1), Status: "completed"}
	}
	b, _ := json.Marshal(input{steps})
	return string(b)
}

// Calls as models make them, and what they get: the list, warnings, or what to do.
func TestCalls(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"every state", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"in_progress","note":"half"},{"content":"c","status":"blocked","note":"no key"},{"content":"d","status":"pending"}]}`,
			"[x] a\n[>] b (half)\n[!] c (no key)\n[ ] d"},
		{"nothing left", `{"todos":[{"content":"a","status":"completed"}]}`, "[x] a"},
		{"the end of it", `{"todos":[]}`, "The list is empty."},
		{"two at once", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			"[>] a\n[>] b\nWarning: 2 steps are in progress; work on one at a time."},
		{"none begun", `{"todos":[{"content":"a","status":"pending"}]}`,
			"[ ] a\nWarning: no step is in progress, and work is left; mark the one you are at."},
		{"blocked without a note", `{"todos":[{"content":"a","status":"blocked","note":" "},{"content":"b","status":"in_progress"}]}`,
			"[!] a\n[>] b\nWarning: \"a\" is blocked without a note; say what it waits for."},
		{"other names", `{"plan":[{"step":"a","status":"done"},{"task":"b","status":"doing","reason":"x"}]}`, "[x] a\n[>] b (x)"},
		{"a list in a string", `{"todos":"[{\"content\":\"a\",\"status\":\"complete\"}]"}`, "[x] a"},
		{"lines and hidden characters", `{"todos":[{"content":"a\n[x] b\u202e","status":"in_progress"}]}`, "[>] a [x] b[U+202E]"},
		{"the most steps", list(30), strings.TrimSuffix(lines(30), "\n")},
		{"too many", list(31), "Error: todo_write failed: the list has 31 steps, at most 30; put small ones together"},
		{"too long", `{"todos":[{"content":"a","status":"completed"},{"content":"` + strings.Repeat("ä", 301) + `","status":"pending"}]}`,
			"Error: todo_write failed: todos[1].content has 301 characters, at most 300; shorten it"},
		{"a long note", `{"todos":[{"content":"a","status":"blocked","note":"` + strings.Repeat("ä", 301) + `"}]}`,
			"Error: todo_write failed: todos[0].note has 301 characters, at most 300; shorten it"},
		{"empty", `{"todos":[{"content":" ","status":"pending"}]}`, "Error: todo_write failed: todos[0].content is empty; say in a few words what the step is"},
		{"no list", `{}`, "Error: todo_write failed: todos is missing; give todos"},
		{"an unknown state", `{"todos":[{"content":"a","status":"later"}]}`, `Error: todo_write failed: todos[0].status is "later", want pending, in_progress, completed or blocked`},
		{"a step as text", `{"todos":["a"]}`, `Error: todo_write failed: todos[0] is "a", want an object with content, note, status`},
		{"no state", `{"todos":[{"content":"a"}]}`, "Error: todo_write failed: todos[0].status is missing; give content, status, and if you like note"},
		{"a field too many", `{"todos":[{"content":"a","status":"pending","activeForm":"doing a"}]}`,
			`Error: todo_write failed: todo_write.todos[0] has no field "activeForm"; its fields are content, note, status`},
	} {
		if got := tooltest.Call(t, nil, New(), "todo_write", tc.in); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[x] step %d\n", i+1)
	}
	return b.String()
}

func TestOutput(t *testing.T) {
	out, err := tooltest.Run(nil, write{}, tooltest.Args{"todos": []tooltest.Args{{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Todo{{Content: "a", Status: core.TodoCompleted}, {Content: "b", Status: core.TodoInProgress}}
	if d := cmp.Diff(want, out.Todos); d != "" || out.Summary != "1 of 2 done" {
		t.Errorf("%q %s", out.Summary, d)
	}
	if out, err = tooltest.Run(nil, write{}, tooltest.Args{"todos": []int{}}); err != nil || out.Todos == nil {
		t.Errorf("an empty list is none: %v", err)
	}
}
