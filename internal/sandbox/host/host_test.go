//go:build unix

package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/host"
)

func TestMain(m *testing.M) {
	if err := becomeUndumpable(); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

func TestContract(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Setup: func(t testing.TB) func() sandbox.Executor {
			sup := executortest.Supervisor(t)
			return func() sandbox.Executor {
				return host.New(host.Options{Supervisor: sup, Path: os.Getenv("PATH")})
			}
		},
		Folder: func(t testing.TB) string { return t.TempDir() },
	})
}

func TestIsNoSandbox(t *testing.T) {
	e := host.New(host.Options{Supervisor: executortest.Supervisor(t)})
	if e.Name() != "host" || e.Isolation() != sandbox.IsolationNone {
		t.Errorf("got %s %s", e.Name(), e.Isolation())
	}
}

func TestBashNeverComesFromTheProject(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err == nil {
		// The usual place wins; what follows is only reached without it.
		e := host.New(host.Options{Supervisor: executortest.Supervisor(t), Path: "/nowhere"})
		if got, err := e.Bash(); err != nil || got != "/bin/bash" {
			t.Errorf("got %q, %v", got, err)
		}
		return
	}
	root := t.TempDir()
	bin := filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "bash"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := host.New(host.Options{Supervisor: executortest.Supervisor(t), Path: bin, Root: root})
	_, err := e.Run(t.Context(), &sandbox.Command{Argv: []string{"bash", "-c", "true"}, Dir: root})
	if !errors.Is(err, host.ErrNoBash) || !strings.Contains(err.Error(), "install") {
		t.Errorf("got %v", err)
	}
}
