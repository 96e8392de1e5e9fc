package stage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/bwrap"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/stage"
	"garuda/internal/sandbox/wrapped"
)

// Whichever step fails, the command does not run and the error names the step.
func TestEveryStepFailsClosed(t *testing.T) {
	t.Run("linux", func(t *testing.T) { failsClosed(t, linux.New, stage.StepNames()) })
	t.Run("bwrap", func(t *testing.T) {
		if _, err := os.Stat(bwrap.Program); err != nil {
			t.Skip(err)
		}
		failsClosed(t, bwrap.New, stage.InnerStepNames())
	})
}

func failsClosed(t *testing.T, make func(wrapped.Options) (*linux.Executor, error), steps []string) {
	sup, err := proc.New(proc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	root := t.TempDir()
	e, err := make(wrapped.Options{
		Supervisor: sup, Records: t.TempDir(),
		View: func(context.Context, *sandbox.Command) (*sandbox.View, error) {
			v, err := linux.SystemView()
			if err == nil {
				v.Entries = append(v.Entries, sandbox.Entry{Path: root, Access: sandbox.Writable})
			}
			return v, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(step string) (*sandbox.Result, error) {
		return e.Run(t.Context(), &sandbox.Command{
			Argv: []string{"/bin/sh", "-c", ": > ran"}, Dir: root, Env: []string{stage.Sabotage + "=" + step},
		})
	}
	mark := filepath.Join(root, "ran")
	for _, step := range steps {
		if step == "start" {
			continue // after it the command runs
		}
		_, err := run(step)
		var failed *linux.StepError
		if !errors.As(err, &failed) || failed.Step != step {
			t.Errorf("%s: got %v", step, err)
		}
		if _, err := os.Lstat(mark); err == nil {
			t.Fatalf("%s failed and the command ran", step)
		}
	}
	if res, err := run("none"); err != nil || res.ExitCode != 0 {
		t.Errorf("without sabotage: %+v, %v", res, err)
	}
	if _, err := os.Lstat(mark); err != nil {
		t.Error("nothing shows that the command runs at all")
	}
}
