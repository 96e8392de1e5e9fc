//go:build linux

package linux_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

// project is a folder with something to lock.
func project(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/hooks", "open"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"a/b/config", "a/secret"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte("SECRET\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// with is view with entries below the root.
func with(root string, entries ...sandbox.Entry) func(context.Context, *sandbox.Command) (*sandbox.View, error) {
	return func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		v := view(root)
		for _, e := range entries {
			e.Path = filepath.Join(root, e.Path)
			v.Entries = append(v.Entries, e)
		}
		slices.SortFunc(v.Entries, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
		return v, nil
	}
}

func TestNamespaces(t *testing.T) {
	executortest.Namespaces{New: func(t testing.TB, view sandbox.Viewer, network sandbox.Network, records string) sandbox.Executor {
		return executor(t, linux.Options{View: view, Network: network, Records: records})
	}}.Run(t)
}

func sh(root, text string) *sandbox.Command {
	return &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: root, Limit: 30_000, Timeout: time.Minute, Env: []string{"PATH=/usr/bin:/bin", "LC_ALL=C"},
	}
}

// childVariable makes this test binary a Garuda that is killed in the middle.
const childVariable = "GARUDA_TEST_CHILD"

func TestKillOfGarudaEndsEverything(t *testing.T) {
	entry := sandbox.Entry{Path: ".agent", Access: sandbox.Locked, Missing: true, Folder: true}
	if root := os.Getenv(childVariable); root != "" {
		e := executor(t, linux.Options{View: with(root, entry), Records: filepath.Join(root, "records")})
		_, err := e.Run(t.Context(), sh(root, "setsid sleep 31536001 & sleep 31536001 & echo > begun; wait"))
		t.Fatalf("it ended: %v", err)
	}
	root := project(t)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestKillOfGarudaEndsEverything$")
	cmd.Env = append(os.Environ(), childVariable+"="+root, "TMPDIR="+t.TempDir()) // it removes nothing of its own
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the command", func() bool { _, err := os.Lstat(filepath.Join(root, "begun")); return err == nil })
	waitFor(t, "all of it", func() bool { return sleepers(t) == 2 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	waitFor(t, "its end", func() bool { return sleepers(t) == 0 })
	if _, err := os.Lstat(filepath.Join(root, ".agent")); err != nil {
		t.Errorf("nothing is left to be swept: %v", err)
	}
	executor(t, linux.Options{Records: filepath.Join(root, "records")})
	if _, err := os.Lstat(filepath.Join(root, ".agent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next start left the placeholder: %v", err)
	}
}

func sleepers(t *testing.T) int {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if line, err := os.ReadFile(f); err == nil && string(line) == "sleep\x0031536001\x00" {
			n++
		}
	}
	return n
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// The filter of calls forbids further namespaces too; this holds without it.
func TestThereIsNoFurtherUserNamespace(t *testing.T) {
	root := project(t)
	res, err := executor(t, linux.Options{View: with(root)}).Run(t.Context(), sh(root, "cat /proc/sys/user/max_user_namespaces"))
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
