//go:build unix

package session

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// A journal that git or an archive brought along is not taken up, and can still
// be read.
func TestJournalsOfOthersAreRefused(t *testing.T) {
	other := os.Geteuid() + 1
	for _, tc := range []struct {
		name   string
		change func(path string) error
		fix    string
	}{
		{"as git unpacks", func(path string) error { return os.Chmod(path, 0o644) }, "chmod 600"},
		{"of the group", func(path string) error { return os.Chmod(path, 0o660) }, "chmod 600"},
		{"another user's", func(path string) error { return os.Chown(path, other, -1) }, "chown"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, testID, turn(1)...)
			if err := tc.change(f.path(testID)); errors.Is(err, os.ErrPermission) {
				t.Skip("only root can give files away")
			} else if err != nil {
				t.Fatal(err)
			}
			var foreign *ForeignError
			if j, _, err := f.Resume(testID); !errors.As(err, &foreign) || j != nil {
				t.Fatalf("taken up: %v", err)
			}
			if foreign.ID != testID || !strings.Contains(foreign.Fix, tc.fix) || !strings.Contains(foreign.Error(), f.path(testID)) {
				t.Errorf("the error is %v", foreign)
			}
			if _, _, err := f.Fork(testID, "20260101-120000-copy", 0); !errors.As(err, &foreign) {
				t.Errorf("copied: %v", err)
			}
			f.load(t, testID)
			if err := os.Chown(f.path(testID), os.Geteuid(), -1); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(f.path(testID), 0o600); err != nil {
				t.Fatal(err)
			}
			j, _, err := f.Resume(testID)
			if err != nil {
				t.Fatalf("after the fix: %v", err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
