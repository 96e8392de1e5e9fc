package session

import (
	"slices"

	"garuda/internal/core"
)

// Snapshot begins a turn that can be taken back: the work tree as it was is kept
// under the name of this point, where it could be kept, and the next user message
// is the turn's.
type Snapshot struct {
	Point string `json:"point"`
}

// Undo says that the newest turn that was not taken back yet was. With Files the
// work tree went back to its point, and what it was before stands under the name
// After; with Conversation everything from the turn's message on left the
// conversation.
type Undo struct {
	Point        string `json:"point"`
	Files        bool   `json:"files,omitempty"`
	After        string `json:"after,omitempty"`
	Conversation bool   `json:"conversation,omitempty"`
}

// Redo says that the undo which was the last to be done was taken back itself,
// with all that it took back.
type Redo struct {
	Point string `json:"point"`
}

func (*Snapshot) RecordType() string { return "snapshot" }
func (*Undo) RecordType() string     { return "undo" }
func (*Redo) RecordType() string     { return "redo" }

// newUndoRecord is newRecord for the types of this file.
func newUndoRecord(kind string) Record {
	switch kind {
	case "snapshot":
		return new(Snapshot)
	case "undo":
		return new(Undo)
	case "redo":
		return new(Redo)
	default:
		return nil
	}
}

// MaxPoints is how many turns can be taken back.
const MaxPoints = 50

// TurnPoint is a turn that can be taken back.
type TurnPoint struct {
	// ID names the work tree before the turn.
	ID string
	// Message is the turn's message of the user. Where it is not in the conversation
	// any more, as that was compacted, the conversation cannot go back.
	Message *core.Message
}

// UndoneTurn is a turn that was taken back and can come again.
type UndoneTurn struct {
	Turn TurnPoint
	Undo Undo
	// Cut are the messages that left the conversation, and Model is the one that they
	// were for.
	Cut   []*core.Message
	Model string
}

// Turns are the turns that can be taken back, and those that were. The zero value
// knows none.
type Turns struct {
	// Points has the oldest first, Undone what was taken back first.
	Points []TurnPoint
	Undone []UndoneTurn

	// next is the point whose message has not come yet.
	next string
}

// Begin notes that the next message's turn has this point.
func (t *Turns) Begin(point string) { t.next = point }

// Message notes a message of the user: what was taken back before it stays so.
func (t *Turns) Message(m *core.Message) {
	t.Undone = nil
	if t.next == "" {
		return
	}
	t.Points = append(slices.Clip(t.Points), TurnPoint{ID: t.next, Message: m})
	t.Points = t.Points[max(len(t.Points)-MaxPoints, 0):]
	t.next = ""
}

// At is where a turn begins in a conversation, or -1.
func (p TurnPoint) At(conversation []*core.Message) int {
	if p.Message == nil {
		return -1
	}
	return slices.Index(conversation, p.Message)
}

// Undo notes what was taken back of the newest turn, and returns what is left of the
// conversation. A record that names another turn is of a damaged journal, and is
// passed over.
func (t *Turns) Undo(u Undo, conversation []*core.Message, model string) []*core.Message {
	last := len(t.Points) - 1
	if last < 0 || t.Points[last].ID != u.Point {
		return conversation
	}
	undone := UndoneTurn{Turn: t.Points[last], Undo: u, Model: model}
	t.Points = t.Points[:last]
	if at := undone.Turn.At(conversation); u.Conversation && at >= 0 {
		undone.Cut = slices.Clone(conversation[at:])
		conversation = slices.Clone(conversation[:at])
	}
	t.Undone = append(slices.Clip(t.Undone), undone)
	return conversation
}

// Redo notes that the last undo was taken back, and returns the conversation with
// what it had cut, as the model that is in use may get it.
func (t *Turns) Redo(r Redo, conversation []*core.Message, model string) []*core.Message {
	last := len(t.Undone) - 1
	if last < 0 || t.Undone[last].Turn.ID != r.Point {
		return conversation
	}
	again := t.Undone[last]
	t.Undone = t.Undone[:last]
	t.Points = append(slices.Clip(t.Points), again.Turn)
	if again.Model != model {
		again.Cut = ForAnotherModel(again.Cut)
	}
	return slices.Concat(conversation, again.Cut)
}

// takeBack takes up the records of this file.
func (h *History) takeBack(rec Record) {
	switch r := rec.(type) {
	case *Snapshot:
		h.Back.Begin(r.Point)
	case *Undo:
		h.Messages = h.Back.Undo(*r, h.Messages, h.Model)
	case *Redo:
		h.Messages = h.Back.Redo(*r, h.Messages, h.Model)
	}
}
