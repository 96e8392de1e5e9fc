//go:build linux

package linux_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/linux"
)

// What could not be removed at a command's end, since a link lay in its path at that
// moment, is removed by the next start.
func TestAPlaceholderThatCouldNotBeRemovedIsRemovedByTheNextStart(t *testing.T) {
	root, records := executortest.Project(t), t.TempDir()
	var reported []error
	e, err := linux.New(linux.Options{
		Supervisor: executortest.Supervisor(t), Path: os.Getenv("PATH"), Records: records, Report: func(err error) { reported = append(reported, err) },
		View: executortest.With(root, sandbox.Entry{Path: "a/fresh", Access: sandbox.Locked, Missing: true}),
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Start(t.Context(), executortest.Shell(root, "echo begun; read x"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdout().Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	at, aside := filepath.Join(root, "a"), filepath.Join(root, "aside")
	if err := errors.Join(os.Rename(at, aside), os.Symlink(aside, at), p.Stdin().Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if len(reported) != 1 {
		t.Errorf("reported: %v", reported)
	}
	if err := errors.Join(os.Remove(at), os.Rename(aside, at)); err != nil {
		t.Fatal(err)
	}
	executor(t, linux.Options{Records: records})
	if _, err := os.Lstat(filepath.Join(at, "fresh")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}
