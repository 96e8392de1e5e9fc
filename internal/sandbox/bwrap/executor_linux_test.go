package bwrap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/wrapped"
)

func TestMain(m *testing.M) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// executor makes one that ends with the test.
func executor(t testing.TB, opt wrapped.Options) *linux.Executor {
	t.Helper()
	if opt.Supervisor == nil {
		opt.Supervisor = executortest.Supervisor(t)
	}
	opt.Path, opt.Report = os.Getenv("PATH"), func(err error) { t.Errorf("reported: %v", err) }
	if opt.Records == "" {
		opt.Records = filepath.Join(t.TempDir(), "records")
	}
	e, err := New(opt)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown: %v", err)
		}
	})
	return e
}

func TestContract(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Brief: true,
		Setup: func(t testing.TB) func() sandbox.Executor {
			sup := executortest.Supervisor(t)
			return func() sandbox.Executor {
				return executor(t, wrapped.Options{
					Supervisor: sup,
					View: func(_ context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
						return executortest.SystemView(cmd.Dir), nil
					},
				})
			}
		},
		Folder: func(t testing.TB) string { return t.TempDir() },
	})
}
