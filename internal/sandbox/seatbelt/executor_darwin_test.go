package seatbelt_test

import (
	"context"
	"path/filepath"
	"testing"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/seatbelt"
	"garuda/internal/sandbox/wrapped"
)

func TestContract(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Setup: func(t testing.TB) func() sandbox.Executor {
			sup, err := proc.New(proc.Options{Report: func(err error) { t.Errorf("reported: %v", err) }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := sup.Close(context.Background()); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			return func() sandbox.Executor { return seatbelt.New(wrapped.Options{Supervisor: sup, View: folderOnly}) }
		},
		Folder: func(t testing.TB) string {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return dir
		},
	})
}

// folderOnly is a view of the command's folder, and of programs.
func folderOnly(_ context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
	return &sandbox.View{Root: cmd.Dir, Entries: []sandbox.Entry{
		{Path: cmd.Dir, Access: sandbox.Writable, Why: "the test's folder"},
		{Path: "/opt/homebrew", Access: sandbox.ReadOnly, Why: "programs"},
		{Path: "/usr/local", Access: sandbox.ReadOnly, Why: "programs"},
	}}, nil
}
