package bwrap

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/proc"
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

func supervisor(t testing.TB) *proc.Supervisor {
	t.Helper()
	sup, err := proc.New(proc.Options{
		RunningDir: filepath.Join(t.TempDir(), "running"),
		Report:     func(err error) { t.Errorf("reported: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sup.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return sup
}

// executor makes one that ends with the test.
func executor(t testing.TB, opt wrapped.Options) *linux.Executor {
	t.Helper()
	if opt.Supervisor == nil {
		opt.Supervisor = supervisor(t)
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

// view shows the system and one folder that can be written.
func view(root string) *sandbox.View {
	v := &sandbox.View{Root: root}
	for _, dir := range []string{"/bin", "/etc/alternatives", "/lib", "/lib64", "/sbin", "/usr"} {
		if target, err := os.Readlink(dir); err == nil {
			v.Links = append(v.Links, sandbox.Link{Path: dir, Target: target})
		} else if _, err := os.Lstat(dir); err == nil {
			v.Entries = append(v.Entries, sandbox.Entry{Path: dir})
		}
	}
	v.Entries = append(v.Entries, sandbox.Entry{Path: root, Access: sandbox.Writable})
	return v
}

func TestContract(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Brief: true,
		Setup: func(t testing.TB) func() sandbox.Executor {
			sup := supervisor(t)
			return func() sandbox.Executor {
				return executor(t, wrapped.Options{
					Supervisor: sup,
					View:       func(_ context.Context, cmd *sandbox.Command) (*sandbox.View, error) { return view(cmd.Dir), nil },
				})
			}
		},
		Folder: func(t testing.TB) string { return t.TempDir() },
	})
}
