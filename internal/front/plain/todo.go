package plain

import (
	"context"

	"garuda/internal/core"
)

// runTodo shows the list of steps that the model keeps.
func runTodo(_ context.Context, c *chat, _ string) error {
	todos := c.session.Todos()
	if len(todos) == 0 {
		c.say("there is no list of steps")
		return nil
	}
	c.activity.Checklist(todos)
	return nil
}

// takeUpTodos shows the list that a resumed session goes on with, where something
// of it is open.
func (c *chat) takeUpTodos() {
	todos := c.session.Todos()
	for _, t := range todos {
		if t.Status != core.TodoCompleted {
			c.activity.Checklist(todos)
			return
		}
	}
}
