package wire

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A start remembers that the sandbox works, and one that keeps nothing does not.
func TestTheSandboxIsRememberedBetweenStarts(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GARUDA_HOME", home)
	file := filepath.Join(home, "sandbox.json")
	start := func(inMemory bool) bool {
		t.Helper()
		s, err := Open(t.Context(), &Options{CWD: t.TempDir(), InMemory: inMemory, UseModel: fakeModel{spec: "a/m"}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !s.isolated() {
			t.Skip("this machine has no sandbox")
		}
		return len(s.found.Failures) == 0
	}
	start(true)
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a start that keeps nothing left %s: %v", file, err)
	}
	if !start(false) {
		t.Skip("the best sandbox does not work on this machine")
	}
	first, err := os.Stat(file)
	if err != nil || first.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", first, err)
	}
	start(false)
	if again, err := os.Stat(file); err != nil || !os.SameFile(first, again) {
		t.Errorf("the second start tried the sandbox once more: %v", err)
	}
}
