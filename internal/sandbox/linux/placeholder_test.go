//go:build linux

package linux_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

// What a command left beside a placeholder's place has no part in how the next one
// is made: neither a pipe that nobody reads nor a link to a file of the user's.
func TestAPlaceholderWithATextIsMadeUnderNoOtherName(t *testing.T) {
	root := executortest.Project(t)
	e := executor(t, linux.Options{Records: t.TempDir(), View: executortest.With(root,
		sandbox.Entry{Path: "a/commondir", Access: sandbox.Locked, Missing: true, Text: ".\n"},
	)})
	trap := filepath.Join(root, "a/commondir.garuda-placeholder")
	for _, lay := range []func() error{
		func() error { return syscall.Mkfifo(trap, 0o600) },
		func() error { return os.Link(filepath.Join(root, "a/secret"), trap) },
	} {
		if err := lay(); err != nil {
			t.Fatal(err)
		}
		res, err := e.Run(t.Context(), executortest.Shell(root, `cat a/commondir; { echo .. > a/commondir; } 2>/dev/null || echo no; ls a`))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(res.Stdout.Head), ".\nno\nb\ncommondir\ncommondir.garuda-placeholder\nsecret\n"; got != want {
			t.Errorf("printed %q, want %q", got, want)
		}
		if _, err := os.Lstat(filepath.Join(root, "a/commondir")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the placeholder is left: %v", err)
		}
		if err := os.Remove(trap); err != nil {
			t.Error(err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(root, "a/secret")); err != nil || string(b) != "SECRET\n" {
		t.Errorf("afterwards the file reads %q, %v", b, err)
	}
}
