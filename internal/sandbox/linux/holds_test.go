//go:build linux

package linux_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

func TestNamespaces(t *testing.T) {
	executortest.Namespaces{New: func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor {
		return executor(t, linux.Options{View: view, Network: network, Records: records})
	}}.Run(t)
}

// childVariable makes this test binary a Garuda that is killed in the middle.
const childVariable = "GARUDA_TEST_CHILD"

func TestKillOfGarudaEndsEverything(t *testing.T) {
	entry := sandbox.Entry{Path: ".agent", Access: sandbox.Locked, Missing: true, Folder: true}
	if root := os.Getenv(childVariable); root != "" {
		e := executor(t, linux.Options{View: executortest.With(root, entry), Records: filepath.Join(root, "records")})
		_, err := e.Run(t.Context(), executortest.Shell(root, "setsid sleep 31536001 & sleep 31536001 & echo > begun; wait"))
		t.Fatalf("it ended: %v", err)
	}
	root := executortest.Project(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestKillOfGarudaEndsEverything$")
	cmd.Env = append(os.Environ(), childVariable+"="+root, "TMPDIR="+t.TempDir()) // it removes nothing of its own
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	executortest.WaitFor(t, "the command", func() bool { _, err := os.Lstat(filepath.Join(root, "begun")); return err == nil })
	executortest.WaitFor(t, "all of it", func() bool { return executortest.Running(t, "sleep 31536001") == 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	executortest.WaitFor(t, "its end", func() bool { return executortest.Running(t, "sleep 31536001") == 0 })
	if _, err := os.Lstat(filepath.Join(root, ".agent")); err != nil {
		t.Errorf("nothing is left to be swept: %v", err)
	}
	executor(t, linux.Options{Records: filepath.Join(root, "records")})
	if _, err := os.Lstat(filepath.Join(root, ".agent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next start left the placeholder: %v", err)
	}
}

// The filter of calls forbids further namespaces too; this holds without it.
func TestThereIsNoFurtherUserNamespace(t *testing.T) {
	root := executortest.Project(t)
	res, err := executor(t, linux.Options{View: executortest.With(root)}).Run(t.Context(), executortest.Shell(root, "cat /proc/sys/user/max_user_namespaces"))
	if err != nil || string(res.Stdout.Head) != "0\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// An executor that runs nothing leaves nothing behind.
func TestNothingIsMadeBeforeTheFirstCommand(t *testing.T) {
	home := t.TempDir()
	executor(t, linux.Options{Records: filepath.Join(home, ".garuda", "placeholders")})
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
