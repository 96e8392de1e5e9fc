package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReplaceKeepsAttributes(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "f")
	write(t, path, "old")
	if err := unix.Setxattr(path, "user.garuda", []byte("kept"), 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	owner := os.Getuid()
	if owner == 0 {
		owner = 12345
		if err := os.Chown(path, owner, 54321); err != nil {
			t.Fatal(err)
		}
	}
	w := openTest(t, root, Options{})
	p := mustResolve(t, w, "f")
	out, err := w.Replace(p, p.Info, []byte("new"))
	if err != nil || len(out.Notes) > 0 {
		t.Fatalf("%v, notes %v", err, out)
	}
	buf := make([]byte, 16)
	if n, err := unix.Getxattr(path, "user.garuda", buf); err != nil || string(buf[:n]) != "kept" {
		t.Errorf("attribute %q, %v", buf[:max(n, 0)], err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || int(st.Uid) != owner {
		t.Errorf("owner %d, %v; want %d", st.Uid, err, owner)
	}
}

// A private file's new text must not be readable by others at any moment, so
// the temporary file has the mode from its creation.
func TestTempFileIsPrivate(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "key")
	write(t, path, "old")
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	w := openTest(t, root, Options{})
	p := mustResolve(t, w, "key")
	spy := &modeSpy{folder: w.mounts[0].dir}
	w.mounts[0].dir = spy
	if _, err := w.Replace(p, p.Info, []byte("new")); err != nil {
		t.Fatal(err)
	}
	w.mounts[0].dir = spy.folder
	if len(spy.seen) != 1 || spy.seen[0] != 0o600 {
		t.Errorf("temporary files were made with modes %v, want 0600", spy.seen)
	}
}

// modeSpy notes the modes that files are made with.
type modeSpy struct {
	folder
	up   *modeSpy
	seen []os.FileMode
}

func (f *modeSpy) sub(rel string) (folder, error) {
	next, err := f.folder.sub(rel)
	return &modeSpy{folder: next, up: f}, err
}

func (f *modeSpy) create(name string, perm os.FileMode) (newFile, error) {
	file, err := f.folder.create(name, perm)
	if err == nil {
		if fi, err := file.Stat(); err == nil {
			f.up.seen = append(f.up.seen, fi.Mode().Perm())
		}
	}
	return file, err
}
