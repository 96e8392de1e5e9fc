package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSetAside(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	ws, err := Open(root, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ws.Close)
	for _, want := range []string{"s/.git.aside", "s/.git.aside-2"} {
		if err := os.MkdirAll(filepath.Join(root, "s", ".git", "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := ws.SetAside("s/.git"); got != want || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		if _, err := os.Lstat(filepath.Join(root, want, "x")); err != nil {
			t.Error(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(root, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, rel := range []string{"none", "out/f", "../f"} {
		if got, err := ws.SetAside(rel); err == nil {
			t.Errorf("%s: %q", rel, got)
		}
	}
	if _, err := os.Lstat(filepath.Join(outside, "f")); err != nil {
		t.Error(err)
	}
}
