// Package todo holds todo_write, with which a model keeps a list of the steps of
// its work in front of itself and of the person.
//
// The tool keeps nothing: each call carries the whole list, and the session's
// journal has it. It decides nothing and touches no file.
package todo

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// The limits of a list, in steps and characters.
const (
	maxTodos = 30
	maxText  = 300
)

//go:embed todo_write.md
var description string

// New returns the tool.
func New() []tool.Tool { return []tool.Tool{write{}} }

type write struct{}

type input struct {
	Todos []todoInput `json:"todos"`
}

type todoInput struct {
	Content string `json:"content"`
	Status  string `json:"status"`
	Note    string `json:"note,omitempty"`
}

const schema = `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{` +
	`"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed","blocked"]},` +
	`"note":{"type":"string"}},"required":["content","status"],"additionalProperties":false}}},"required":["todos"],"additionalProperties":false}`

func (write) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "todo_write", Description: strings.TrimSpace(description),
		Class: tool.ClassSession, Set: "tasks", Schema: json.RawMessage(schema),
	}
}

func (write) Plan(_ context.Context, _ *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	in, err := tool.Decode[input](raw)
	if err != nil {
		return nil, err
	}
	if len(in.Todos) > maxTodos {
		return nil, fmt.Errorf("the list has %d steps, at most %d; put small ones together", len(in.Todos), maxTodos)
	}
	todos := make([]core.Todo, len(in.Todos))
	for i, t := range in.Todos {
		todos[i].Status = core.TodoStatus(t.Status)
		if todos[i].Content, err = text(fmt.Sprintf("todos[%d].content", i), t.Content); err != nil {
			return nil, err
		}
		if todos[i].Content == "" {
			return nil, fmt.Errorf("todos[%d].content is empty; say in a few words what the step is", i)
		}
		if todos[i].Note, err = text(fmt.Sprintf("todos[%d].note", i), t.Note); err != nil {
			return nil, err
		}
	}
	return &tool.Plan{Label: steps(len(todos)), Input: todos}, nil
}

// text is one line within the limit, with what is hidden made visible.
func text(field, s string) (string, error) {
	s = strings.Join(strings.Fields(s), " ")
	if n := utf8.RuneCountInString(s); n > maxText {
		return "", fmt.Errorf("%s has %d characters, at most %d; shorten it", field, n, maxText)
	}
	return core.Visible(s), nil
}

func (write) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	todos, ok := c.Plan.Input.([]core.Todo)
	if !ok {
		return nil, tool.ErrOtherPlan
	}
	var b strings.Builder
	for _, t := range todos {
		b.WriteString(t.String() + "\n")
	}
	if len(todos) == 0 {
		b.WriteString("The list is empty.\n")
	}
	for _, w := range warnings(todos) {
		b.WriteString("Warning: " + w + "\n")
	}
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: summary(todos), Todos: todos}, nil
}

// warnings say what is odd about a list; it is taken all the same.
func warnings(todos []core.Todo) []string {
	var out []string
	begun, left := 0, 0
	for _, t := range todos {
		switch t.Status {
		case core.TodoInProgress:
			begun++
		case core.TodoPending:
			left++
		case core.TodoBlocked:
			left++
			if t.Note == "" {
				out = append(out, fmt.Sprintf("%q is blocked without a note; say what it waits for.", t.Content))
			}
		case core.TodoCompleted:
		}
	}
	switch {
	case begun > 1:
		out = append(out, fmt.Sprintf("%d steps are in progress; work on one at a time.", begun))
	case begun == 0 && left > 0:
		out = append(out, "no step is in progress, and work is left; mark the one you are at.")
	}
	return out
}

// steps is how long a list is.
func steps(n int) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}

// summary is a list in a few words.
func summary(todos []core.Todo) string {
	done := 0
	for _, t := range todos {
		if t.Status == core.TodoCompleted {
			done++
		}
	}
	return fmt.Sprintf("%d of %d done", done, len(todos))
}
