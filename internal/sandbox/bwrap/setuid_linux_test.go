package bwrap

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
	"garuda/internal/sandbox/wrapped"
)

// setuidPath is where root's part of the test puts a setuid bwrap, for the part of the
// ordinary user.
const setuidPath = "/var/tmp/garuda-test-bwrap"

// Where user namespaces are refused altogether, distributions have bwrap setuid.
func TestASetuidBwrap(t *testing.T) {
	if os.Getuid() == 0 {
		text, err := os.ReadFile(Program)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Mkdir(setuidPath, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(setuidPath); err != nil {
				t.Error(err)
			}
		})
		at := filepath.Join(setuidPath, "bwrap")
		if err := os.WriteFile(at, text, 0o755); err != nil { // another user runs it
			t.Fatal(err)
		}
		if err := os.Chmod(at, 0o755|os.ModeSetuid); err != nil {
			t.Fatal(err)
		}
		executortest.AsOrdinaryUser(t)
		return
	}
	program := filepath.Join(setuidPath, "bwrap")
	if setuid, err := check(program); err != nil || !setuid {
		t.Skipf("only root can make one: %v", err)
	}
	root := project(t)
	e, err := newWith(program, wrapped.Options{
		Supervisor: executortest.Supervisor(t), Records: t.TempDir(), Path: os.Getenv("PATH"), View: locking(root),
		Report: func(err error) { t.Errorf("reported: %v", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, e)
	res, err := e.Run(t.Context(), executortest.Shell(root, `grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | cut -f2 | sort -u | tr '\n' ' '
		(: > secret; : > dir/config; mv dir x; : > /usr/x; : > /x; unshare -U true; su -c true; exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo held
		cat secret; cat dir/config; : > new && echo made; kill -9 1; ls /home /root /sys 2>/dev/null; readlink /proc/1/exe || echo hidden`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.Stdout.Head), "0000000000000000 1 2 SECRET\nmade\nhidden\n"; got != want {
		t.Errorf("printed %q, want %q; %s", got, want, res.Stderr.Head)
	}
	for name, want := range map[string]string{"secret": "SECRET\n", "dir/config": "SECRET\n", "new": ""} {
		if b, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

func end(t *testing.T, e *linux.Executor) {
	t.Helper()
	if err := e.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}
