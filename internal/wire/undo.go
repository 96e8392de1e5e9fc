package wire

import (
	"context"
	"errors"
	"fmt"

	"garuda/internal/engine"
	"garuda/internal/front/plain"
	"garuda/internal/snapshot"
)

// openSnapshots prepares the snapshots of the sessions, unless they are not wanted. It
// touches no disk.
func (s *System) openSnapshots() error {
	if s.options.NoUndo || s.options.InMemory || !s.settings.Undo {
		return nil
	}
	s.turns = snapshot.NewTurns(snapshot.New(snapshot.Options{
		Home: s.places.garuda, Workspace: s.workspace, MayKeep: s.policy.MayReadReal, Clock: s.clock,
	}))
	return nil
}

// snapshots is what the engine gets: a nil interface where none are kept.
func (s *System) snapshots() engine.Snapshots {
	if s.turns == nil {
		return nil
	}
	return s.turns
}

// brokenOff says that an undo of this session was broken off.
func (s *System) brokenOff(sess *engine.Session) []string {
	turn, err := sess.LastTurn()
	if s.turns == nil || err != nil {
		return nil
	}
	found, err := s.turns.Store().Pending(context.Background(), turn.Point)
	if err != nil || !found {
		return nil // where the store cannot be read, the next snapshot says so
	}
	return []string{"an undo was broken off half way; /undo goes on with it"}
}

// errNothingToCompare is of a session in which no turn stands.
var errNothingToCompare = errors.New("there is nothing to compare with: no turn was taken, or each was taken back")

var errNoUndo = errors.New("undo is off (undo.enabled in the settings, --no-undo)")

// PlanUndo implements plain.Undoer.
func (h *Host) PlanUndo(ctx context.Context, redo bool) (*plain.Undo, error) {
	if h.sys.turns == nil {
		return nil, errNoUndo
	}
	last := h.s.LastTurn
	if redo {
		last = h.s.LastUndone
	}
	turn, err := last()
	if err != nil {
		return nil, err
	}
	u := &plain.Undo{Redo: redo, Turn: turn, WithoutFiles: "they were not touched by the undo"}
	point, after := turn.Point, turn.Point+".after"
	if redo {
		point, after = turn.After, turn.Point+".again"
	}
	if point == "" {
		return u, nil
	}
	if err := h.sys.turns.Wait(ctx); err != nil {
		return nil, err
	}
	u.Files, err = h.sys.turns.Store().Plan(ctx, point, after)
	if errors.Is(err, snapshot.ErrGone) {
		u.Files, u.WithoutFiles = nil, "how they were before that turn was not kept, or not for so long"
		return u, nil
	}
	return u, err
}

// Undo implements plain.Undoer.
func (h *Host) Undo(ctx context.Context, u *plain.Undo, files, conversation bool) (*snapshot.Result, error) {
	var result *snapshot.Result
	var restore func() error
	if files && u.Files != nil {
		restore = func() (err error) {
			result, err = h.sys.turns.Store().Restore(ctx, u.Files)
			return err
		}
	}
	var err error
	switch {
	case u.Redo:
		err = h.s.Redo(u.Turn.Point, restore)
	case restore == nil:
		err = h.s.Undo(u.Turn.Point, conversation, nil)
	default:
		err = h.s.Undo(u.Turn.Point, conversation, func() (string, error) { return u.Files.After, restore() })
	}
	return result, err
}

// Diff implements plain.Undoer.
func (h *Host) Diff(ctx context.Context, last bool, path string) ([]snapshot.FileDiff, error) {
	if h.sys.turns == nil {
		return nil, errNoUndo
	}
	point := h.s.FirstPoint()
	if last {
		point = h.s.LastPoint()
	}
	if point == "" {
		return nil, errNothingToCompare
	}
	if path != "" {
		p, err := h.sys.workspace.ResolveEntry(path)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", path, err)
		}
		path = p.Rel
	}
	if err := h.sys.turns.Wait(ctx); err != nil {
		return nil, err
	}
	return h.sys.turns.Store().Diff(ctx, point, path)
}
