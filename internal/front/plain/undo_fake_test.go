package plain_test

import (
	"context"

	"garuda/internal/front/plain"
	"garuda/internal/snapshot"
)

// undone is what a fake host was told to take back.
type undone struct{ files, conversation, redo bool }

// fakeUndo is the Undoer of a fake host.
type fakeUndo struct {
	plan *plain.Undo
	err  error
	did  []undone
	diff []snapshot.FileDiff
	// asked are the arguments of Diff.
	last bool
	path string
}

func (f *fakeUndo) PlanUndo(_ context.Context, redo bool) (*plain.Undo, error) {
	if f.err != nil {
		return nil, f.err
	}
	plan := *f.plan
	plan.Redo = redo
	return &plan, nil
}

func (f *fakeUndo) Undo(_ context.Context, u *plain.Undo, files, conversation bool) (*snapshot.Result, error) {
	f.did = append(f.did, undone{files, conversation, u.Redo})
	if !files {
		return nil, nil
	}
	return &snapshot.Result{Done: len(u.Files.Changes), Failed: []snapshot.Failure{{Path: "b", Err: context.Canceled}}}, nil
}

func (f *fakeUndo) Diff(_ context.Context, last bool, path string) ([]snapshot.FileDiff, error) {
	f.last, f.path = last, path
	return f.diff, f.err
}
