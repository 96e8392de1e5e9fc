//go:build unix

package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/state"
)

// Where nothing can be written a copy of a session still goes on.
func TestUnwritableCopyGoesOnInMemory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	f := newFixture(t)
	f.write(t, testID, turn(1)...)
	for _, dir := range []string{filepath.Join(filepath.Dir(f.path(testID)), testID), filepath.Dir(f.path(testID))} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	}
	j, h, err := f.Fork(testID, "20260101-120000-copy", 0)
	if err != nil || !errors.Is(j.Err(), state.ErrReadOnly) || len(h.Messages) != 4 {
		t.Fatalf("%v, %v", err, h)
	}
	if err := j.Append(user("more")); !errors.Is(err, state.ErrReadOnly) {
		t.Errorf("append: %v", err)
	}
}
