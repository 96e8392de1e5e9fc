package core

// Todo is one step of the list that a model keeps of its work.
type Todo struct {
	// Content and Note are one line each.
	Content string     `json:"content"`
	Status  TodoStatus `json:"status"`
	// Note says more, such as what a blocked step waits for; may be empty.
	Note string `json:"note,omitempty"`
}

// TodoStatus is how a step stands.
type TodoStatus string

// The states of a step.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
	TodoBlocked    TodoStatus = "blocked"
)

// Mark is the state as it stands before the step in a list. One that nobody knows
// counts as pending.
func (s TodoStatus) Mark() string {
	switch s {
	case TodoInProgress:
		return "[>]"
	case TodoCompleted:
		return "[x]"
	case TodoBlocked:
		return "[!]"
	case TodoPending:
	}
	return "[ ]"
}

// String is the step on a line of its own.
func (t Todo) String() string {
	text := t.Status.Mark() + " " + t.Content
	if t.Note != "" {
		text += " (" + t.Note + ")"
	}
	return text
}
