package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"garuda/internal/core"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// Snapshots keep how the work tree was before each turn, so that it can go back.
type Snapshots interface {
	// Begin begins to keep the tree as it is under the name of a point, and does not
	// wait for the end. say tells the person, from any goroutine, what they should
	// know of it; it does not fail the turn.
	Begin(point string, say func(text string))
	// Await returns when a call may go on that is to write these files (absolute
	// paths), or, with commands, may change whatever it likes: they are kept, or it
	// was said that they are not.
	Await(ctx context.Context, files []string, commands bool)
}

// noteUndo marks the notes that tell the model what was taken back.
const noteUndo = "undo"

var (
	errNothingToUndo = errors.New("there is no turn to take back")
	errNothingToRedo = errors.New("there is nothing to take up again; a new message ends that")
	errBusyUndo      = errors.New("a turn is running; stop it or wait for its end")
	errOtherTurn     = errors.New("the session went on meanwhile; look at it again")
	errClosed        = errors.New("the session is closed")
	errCompacted     = errors.New("the turn's message is no part of the conversation any more, as that was compacted; only the files can go back")
)

// BackTurn is a turn that can be taken back, or taken up again.
type BackTurn struct {
	// Point names the work tree before the turn, After the one that was there when it
	// was taken back; After is "" where the files stayed.
	Point, After string
	// Message is what the user asked for.
	Message *core.Message
	// Conversation says whether the conversation can go with it.
	Conversation bool
}

// LastTurn is the newest turn that was not taken back.
func (s *Session) LastTurn() (BackTurn, error) {
	turn, err := BackTurn{}, errClosed
	s.do(func(a *actor) {
		points := a.back.Points
		switch {
		case a.cancelTurn != nil:
			err = errBusyUndo
		case len(points) == 0:
			err = errNothingToUndo
		default:
			last := points[len(points)-1]
			turn = BackTurn{Point: last.ID, Message: last.Message, Conversation: last.At(a.conv.messages) >= 0}
			err = nil
		}
	})
	return turn, err
}

// LastUndone is the turn that was taken back last.
func (s *Session) LastUndone() (BackTurn, error) {
	turn, err := BackTurn{}, errClosed
	s.do(func(a *actor) {
		undone := a.back.Undone
		switch {
		case a.cancelTurn != nil:
			err = errBusyUndo
		case len(undone) == 0:
			err = errNothingToRedo
		default:
			last := undone[len(undone)-1]
			turn = BackTurn{Point: last.Turn.ID, After: last.Undo.After, Message: last.Turn.Message, Conversation: len(last.Cut) > 0}
			err = nil
		}
	})
	return turn, err
}

// FirstPoint names the work tree before the session's oldest turn that is still
// known, LastPoint that before the newest one; "" where there is none.
func (s *Session) FirstPoint() string { return s.point(func([]session.TurnPoint) int { return 0 }) }

// LastPoint is beside FirstPoint.
func (s *Session) LastPoint() string {
	return s.point(func(p []session.TurnPoint) int { return len(p) - 1 })
}

func (s *Session) point(which func([]session.TurnPoint) int) string {
	id := ""
	s.do(func(a *actor) {
		if points := a.back.Points; len(points) > 0 {
			id = points[which(points)].ID
		}
	})
	return id
}

// Undo takes the newest turn back, which must have this point: its files with files,
// which is called while no turn can begin and gives the name of the tree before it,
// and the conversation from the turn's message on. Where files fails, nothing else
// happens; either may be left out.
func (s *Session) Undo(point string, conversation bool, files func() (after string, err error)) error {
	err := errClosed
	s.do(func(a *actor) { err = a.undo(session.Undo{Point: point, Conversation: conversation}, files) })
	return err
}

func (a *actor) undo(u session.Undo, files func() (string, error)) error {
	points := a.back.Points
	switch {
	case a.cancelTurn != nil:
		return errBusyUndo
	case len(points) == 0:
		return errNothingToUndo
	case points[len(points)-1].ID != u.Point:
		return errOtherTurn
	case u.Conversation && points[len(points)-1].At(a.conv.messages) < 0:
		return errCompacted
	}
	if files != nil {
		after, err := files()
		if err != nil {
			return err
		}
		u.Files, u.After = true, after
	}
	a.journal.append(&u)
	a.journal.flush()
	a.conv.replace(a.back.Undo(u, a.conv.messages, a.s.cfg.Model.Info().Spec))
	a.forgetShown(u.Conversation)
	a.noteUndone(u)
	return nil
}

// Redo takes the last undo back, which was of the turn with this point. files is
// called as Undo's is, and nil where the files had stayed.
func (s *Session) Redo(point string, files func() error) error {
	err := errClosed
	s.do(func(a *actor) { err = a.redo(session.Redo{Point: point}, files) })
	return err
}

func (a *actor) redo(r session.Redo, files func() error) error {
	undone := a.back.Undone
	switch {
	case a.cancelTurn != nil:
		return errBusyUndo
	case len(undone) == 0:
		return errNothingToRedo
	case undone[len(undone)-1].Turn.ID != r.Point:
		return errOtherTurn
	}
	if files != nil {
		if err := files(); err != nil {
			return err
		}
	}
	again := undone[len(undone)-1].Undo
	a.journal.append(&r)
	a.journal.flush()
	a.conv.replace(a.back.Redo(r, a.conv.messages, a.s.cfg.Model.Info().Spec))
	a.forgetShown(again.Conversation)
	a.notes.drop(noteUndo)
	if again.Files && !again.Conversation {
		a.noteUndo("The user took the last undo back: the files are again as they were before it. Read what you need of them again.")
	}
	return nil
}

// forgetShown makes files be read again that the conversation does not show any
// more, or that are not what it shows.
func (a *actor) forgetShown(all bool) {
	p := a.s.cfg.Pipeline
	switch {
	case p == nil || p.Env.Tracker == nil:
	case all:
		p.Env.Tracker.Forget()
	default:
		p.Env.Tracker.ClearShown()
	}
}

// noteUndone tells the model what it could not know.
func (a *actor) noteUndone(u session.Undo) {
	switch {
	case u.Files && !u.Conversation:
		a.noteUndo("The user took back what the last turn changed in the files, also what was changed since. Read what you need of them again, and do not make the changes again unless asked.")
	case u.Conversation && !u.Files:
		a.noteUndo("The user took a turn out of this conversation. What it changed in the files is still there.")
	}
}

func (a *actor) noteUndo(text string) {
	a.notes.put(core.Block{Type: core.BlockText, Note: noteUndo, Text: "<garuda_note>" + text + "</garuda_note>"})
}

// keepTree begins the snapshot of a turn that begins.
func (t *turnRun) keepTree() {
	if t.cfg.Snapshots == nil {
		return
	}
	point := newPoint()
	t.a.journal.append(&session.Snapshot{Point: point})
	t.a.back.Begin(point)
	t.cfg.Snapshots.Begin(point, func(text string) { t.publish(Notice{Text: text}) })
}

func newPoint() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// awaitTree is the pipeline's BeforeChange. A call that names no files and runs no
// command may do anything all the same.
func (a *actor) awaitTree(ctx context.Context, plan *tool.Plan) {
	files := plan.Effects.Writes
	a.s.cfg.Snapshots.Await(ctx, files, plan.RunsCommands || len(files) == 0)
}
