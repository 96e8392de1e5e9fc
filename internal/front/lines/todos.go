package lines

import (
	"slices"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// Checklist prints a list of steps.
func (a *Activity) Checklist(todos []core.Todo) {
	a.todos = todos
	for _, t := range todos {
		a.line(todoStyle(t.Status), "    "+t.String())
	}
}

// todosChanged prints the list that a call has set, where it is another one than
// was printed last.
func (a *Activity) todosChanged(r *tool.CallResult) {
	if a.Todos && r.Output != nil && r.Output.Todos != nil && !slices.Equal(a.todos, r.Output.Todos) {
		a.Checklist(r.Output.Todos)
	}
}

func todoStyle(s core.TodoStatus) Style {
	switch s {
	case core.TodoInProgress:
		return Bold
	case core.TodoCompleted:
		return Dim
	case core.TodoBlocked:
		return Warn
	case core.TodoPending:
	}
	return Normal
}
