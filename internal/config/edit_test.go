package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"garuda/internal/config"
)

func TestEdit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "models.json")
	edit := func(want, text string, fails error) {
		t.Helper()
		err := config.Edit(path, func(before []byte) ([]byte, error) {
			if string(before) != want {
				t.Errorf("the text before is %q, want %q", before, want)
			}
			return []byte(text), fails
		})
		if !errors.Is(err, fails) {
			t.Errorf("error is %v, want %v", err, fails)
		}
	}
	edit("", "one", nil)
	edit("one", "two", errors.New("no"))
	edit("one", "two", nil)
	edit("two", "two", nil)
}

// TestEditThroughLink: people keep such files elsewhere, and link to them.
func TestEditThroughLink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "models.json")
	if err := os.WriteFile(real, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.json", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	err := config.Edit(link, func([]byte) ([]byte, error) { return []byte("two"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(real); err != nil || string(text) != "two" {
		t.Errorf("the file is %q, %v", text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone (%v)", err)
	}
}
