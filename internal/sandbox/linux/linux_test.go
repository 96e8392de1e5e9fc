//go:build linux

package linux_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

func TestMain(m *testing.M) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestContract(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Setup: func(t testing.TB) func() sandbox.Executor {
			sup := executortest.Supervisor(t)
			return func() sandbox.Executor {
				e, err := linux.New(linux.Options{
					Supervisor: sup, Path: os.Getenv("PATH"), Records: filepath.Join(t.TempDir(), "records"),
					View: func(_ context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
						return executortest.SystemView(cmd.Dir), nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
		},
		Folder: func(t testing.TB) string { return t.TempDir() },
	})
}

// executor makes one that ends with the test.
func executor(t testing.TB, opt linux.Options) *linux.Executor {
	t.Helper()
	opt.Supervisor, opt.Path = executortest.Supervisor(t), os.Getenv("PATH")
	opt.Report = func(err error) { t.Errorf("reported: %v", err) }
	if opt.Records == "" {
		opt.Records = filepath.Join(t.TempDir(), "records")
	}
	e, err := linux.New(opt)
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

func TestProbe(t *testing.T) {
	if err := linux.Probe(t.Context(), executortest.Supervisor(t)); err != nil {
		t.Fatal(err)
	}
}
