package userfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("ten"), []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path("ten"), path("link")); err != nil {
		t.Skip(err)
	}
	for _, tt := range []struct {
		name  string
		limit int
		want  string
		err   error
	}{
		{"ten", 10, "0123456789", nil},
		{"link", 10, "0123456789", nil},
		{"ten", 9, "", ErrTooLarge},
		{"none", 9, "", fs.ErrNotExist},
		{".", 9, "", ErrNotRegular},
		{"../" + filepath.Base(dir) + "/ten", 10, "0123456789", nil},
	} {
		got, err := Read(path(tt.name), tt.limit)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("Read(%s, %d) = %q, %v", tt.name, tt.limit, got, err)
		}
	}
	if _, err := Read(path("ten"), 3); !strings.Contains(err.Error(), "3 bytes") {
		t.Errorf("%v does not name the limit", err)
	}
}

// TestDangling: a link that leads nowhere, and what lies below one, is not missing.
func TestDangling(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	if err := errors.Join(os.Mkdir(path("folder"), 0o700), os.Symlink("folder", path("good"))); err != nil {
		t.Skip(err)
	}
	if err := errors.Join(os.Symlink("none", path("bad")), os.Symlink("bad", path("chain"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"bad": ErrDangling, "chain": ErrDangling, "bad/x": ErrDangling, "bad/x/y": ErrDangling,
		"good/x": fs.ErrNotExist, "good/x/y": fs.ErrNotExist, "folder/x": fs.ErrNotExist, "none": fs.ErrNotExist,
	} {
		if _, err := Read(path(name), 9); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
