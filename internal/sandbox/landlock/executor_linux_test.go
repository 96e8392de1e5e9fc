package landlock_test

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/landlock"
	"garuda/internal/sandbox/wrapped"
)

func TestMain(m *testing.M) {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func executor(t testing.TB, opt wrapped.Options) sandbox.Executor {
	t.Helper()
	if landlock.Version() < landlock.Least {
		t.Skipf("this kernel has version %d of Landlock", landlock.Version())
	}
	e, err := landlock.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// view shows the system and one folder that can be written.
func view(root string) *sandbox.View {
	v := &sandbox.View{Root: root}
	for _, dir := range []string{"/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr"} {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			v.Entries = append(v.Entries, sandbox.Entry{Path: dir})
		}
	}
	v.Entries = append(v.Entries, sandbox.Entry{Path: root, Access: sandbox.Writable})
	return v
}

// Landlock is for ordinary users above all, since root may make namespaces. With
// GARUDA_CONTRACT root runs it too.
func TestContract(t *testing.T) {
	if executortest.AsOrdinaryUser(t) && !executortest.Whole() {
		return
	}
	executortest.Run(t, executortest.Config{
		Setup: func(t testing.TB) func() sandbox.Executor {
			sup := executortest.Supervisor(t)
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
