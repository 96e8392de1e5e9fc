package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func mustEntry(t *testing.T, w *Workspace, path string) Path {
	t.Helper()
	p, err := w.ResolveEntry(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMove(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		w := open(root)
		write(t, filepath.Join(root, "old"), "text")
		if err := os.Chmod(filepath.Join(root, "old"), 0o750); err != nil {
			t.Fatal(err)
		}
		from := mustEntry(t, w, "old")
		out, err := w.Move(from, mustEntry(t, w, "new"), from.Info)
		if err != nil {
			t.Fatal(err)
		}
		c, err := w.ReadFile(mustResolve(t, w, "new"))
		if err != nil || string(c.Raw) != "text" || c.Info.Mode.Perm() != 0o750 || !out.Info.sameFile(c.Info) {
			t.Errorf("the moved file: %+v, %v", c, err)
		}
		if mustEntry(t, w, "old").Exists {
			t.Error("the old name remains")
		}
		from = mustEntry(t, w, "new")
		if out, err = w.Move(from, mustResolve(t, w, "a/b/c"), from.Info); err != nil || len(out.Folders) != 2 {
			t.Errorf("into new folders: %+v, %v", out, err)
		}
		noneLeft(t, root)
	})
}

func TestMoveAndRemoveRefuse(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		w := open(root)
		for _, name := range []string{"a", "b", "dir/c"} {
			write(t, filepath.Join(root, name), name)
		}
		a, b := mustEntry(t, w, "a"), mustEntry(t, w, "b")
		var changed *ChangedError
		if _, err := w.Move(a, b, a.Info); !errors.As(err, &changed) {
			t.Errorf("over another file: %v", err)
		}
		var folder *FolderError
		dir := mustEntry(t, w, "dir")
		if _, err := w.Move(dir, mustEntry(t, w, "d2"), dir.Info); !errors.As(err, &folder) {
			t.Errorf("a folder was moved: %v", err)
		}
		if err := w.Remove(dir, dir.Info); !errors.As(err, &folder) {
			t.Errorf("a folder was removed: %v", err)
		}
		top := mustEntry(t, w, ".")
		if err := w.Remove(top, top.Info); !errors.As(err, &folder) {
			t.Errorf("the root was removed: %v", err)
		}
		write(t, filepath.Join(root, "a"), "longer than it was")
		if err := w.Remove(a, a.Info); !errors.As(err, &changed) {
			t.Errorf("a changed file was removed: %v", err)
		}
		if _, err := w.Move(a, mustEntry(t, w, "new"), a.Info); !errors.As(err, &changed) {
			t.Errorf("a changed file was moved: %v", err)
		}
		if err := w.Remove(b, b.Info); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(root, "b")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("b remains: %v", err)
		}
	})
}

// A link is removed and moved itself; what it leads to stays.
func TestEntryOfALink(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root, outside := t.TempDir(), t.TempDir()
		w := open(root)
		write(t, filepath.Join(outside, "secret"), "theirs")
		write(t, filepath.Join(root, "real/file"), "text")
		symlink(t, filepath.Join(outside, "secret"), filepath.Join(root, "out"))
		symlink(t, "real", filepath.Join(root, "dir"))
		symlink(t, outside, filepath.Join(root, "outdir"))
		if p := mustEntry(t, w, "out"); !p.Exists || p.Info.Kind != KindLink {
			t.Errorf("%+v", p)
		} else if err := w.Remove(p, p.Info); err != nil {
			t.Error(err)
		}
		if got := readBack(t, filepath.Join(outside, "secret")); got != "theirs" {
			t.Errorf("what the link led to became %q", got)
		}
		p := mustEntry(t, w, "dir/file")
		if p.Real != filepath.Join(w.Root(), "real", "file") || p.Abs != filepath.Join(w.Root(), "dir", "file") {
			t.Errorf("through a folder that is a link: %+v", p)
		}
		if err := w.Remove(p, p.Info); err != nil {
			t.Error(err)
		}
		var out *OutsideError
		if _, err := w.ResolveEntry("outdir/secret"); !errors.As(err, &out) {
			t.Errorf("through a link that leads out: %v", err)
		}
		for _, path := range []string{"../x", "/etc/passwd", "/proc/self/fd/1"} {
			if p, err := w.ResolveEntry(path); err == nil {
				t.Errorf("%s resolved to %+v", path, p)
			}
		}
	})
}
