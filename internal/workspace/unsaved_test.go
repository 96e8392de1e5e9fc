package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/testkit"
)

// unsavedFolder is a folder on a disk that cannot save entries any more. With
// copies it also is one between which files can only be copied.
type unsavedFolder struct {
	folder
	copies bool
	left   *int // syncs that work
}

func (f unsavedFolder) sub(rel string) (folder, error) {
	sub, err := f.folder.sub(rel)
	if err != nil {
		return nil, err
	}
	return unsavedFolder{sub, f.copies, f.left}, nil
}

func (f unsavedFolder) sync() error {
	if *f.left--; *f.left < 0 {
		return testkit.ErrIO
	}
	return f.folder.sync()
}

func (f unsavedFolder) move(name string, to folder, toName string) error {
	if f.copies {
		return errCopy
	}
	other, _ := to.(unsavedFolder)
	return f.folder.move(name, other.folder, toName)
}

// A change that was made and not saved says so, and none loses the file.
func TestUnsaved(t *testing.T) {
	for _, tt := range []struct {
		name   string
		copies bool
		left   int
		change func(w *Workspace, a, b Path) error
		want   map[string]string
		made   bool
	}{
		{"create", false, 0, func(w *Workspace, _, b Path) error { _, err := w.Create(b, []byte("b")); return err }, map[string]string{"a": "a", "b": "b"}, true},
		{"replace", false, 0, func(w *Workspace, a, _ Path) error { _, err := w.Replace(a, a.Info, []byte("b")); return err }, map[string]string{"a": "b"}, true},
		{"remove", false, 0, func(w *Workspace, a, _ Path) error { return w.Remove(a, a.Info) }, map[string]string{}, true},
		{"move", false, 0, func(w *Workspace, a, b Path) error { _, err := w.Move(a, b, a.Info); return err }, map[string]string{"b": "a"}, true},
		{"copy that cannot be saved", true, 0, func(w *Workspace, a, b Path) error { _, err := w.Move(a, b, a.Info); return err }, map[string]string{"a": "a"}, false},
		{"copy whose original is gone", true, 1, func(w *Workspace, a, b Path) error { _, err := w.Move(a, b, a.Info); return err }, map[string]string{"b": "a"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
				if tt.name == "move" && strings.HasSuffix(t.Name(), "os.Root") {
					return // it can only copy, as the rows below do
				}
				root := t.TempDir()
				write(t, filepath.Join(root, "a"), "a")
				w := open(root)
				w.mounts[0].dir = unsavedFolder{w.mounts[0].dir, tt.copies, &tt.left}
				left := tt.left
				defer func() { tt.left = left }()
				err := tt.change(w, mustResolve(t, w, "a"), mustResolve(t, w, "b"))
				unsaved := (*UnsavedError)(nil)
				if !errors.Is(err, testkit.ErrIO) || errors.As(err, &unsaved) != tt.made {
					t.Errorf("%v", err)
				}
				got := map[string]string{}
				entries, err := os.ReadDir(root)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					raw, err := os.ReadFile(filepath.Join(root, e.Name()))
					if err != nil {
						t.Fatal(err)
					}
					got[e.Name()] = string(raw)
				}
				if len(got) != len(tt.want) || got["a"] != tt.want["a"] || got["b"] != tt.want["b"] {
					t.Errorf("the folder holds %v, want %v", got, tt.want)
				}
			})
		})
	}
}
