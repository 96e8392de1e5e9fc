package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func readBack(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// noneLeft fails when a temporary file remains anywhere below root.
func noneLeft(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("a temporary file remains: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		w := open(root)
		out, err := w.Create(mustResolve(t, w, "a/b/c/new"), []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(out.Folders, " "); got != "a a/b a/b/c" {
			t.Errorf("folders made: %s", got)
		}
		if got := readBack(t, filepath.Join(root, "a/b/c/new")); got != "text" {
			t.Errorf("content %q", got)
		}
		c, err := w.ReadFile(mustResolve(t, w, "a/b/c/new"))
		if err != nil || !c.Snapshot.Same(out.Snapshot) {
			t.Errorf("the snapshot of what was written is not that of the file: %v", err)
		}
		// A file that is there, or appeared since it was resolved, is left alone.
		p := mustResolve(t, w, "late")
		write(t, filepath.Join(root, "late"), "theirs")
		var changed *ChangedError
		if _, err := w.Create(p, []byte("ours")); !errors.As(err, &changed) {
			t.Errorf("creating what appeared: %v", err)
		}
		if got := readBack(t, filepath.Join(root, "late")); got != "theirs" {
			t.Errorf("it was overwritten with %q", got)
		}
		if _, err := w.Create(mustResolve(t, w, "."), nil); err == nil {
			t.Error("the root was created")
		}
		symlink(t, "target", filepath.Join(root, "dangling"))
		if _, err := w.Create(mustResolve(t, w, "dangling"), []byte("through")); err != nil {
			t.Errorf("through a dangling link: %v", err)
		} else if got := readBack(t, filepath.Join(root, "target")); got != "through" {
			t.Errorf("written through a link: %q", got)
		}
		noneLeft(t, root)
	})
}

func TestReplace(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		path := filepath.Join(root, "f")
		write(t, path, "old")
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		symlink(t, "f", filepath.Join(root, "link"))
		w := open(root)
		p := mustResolve(t, w, "link")
		out, err := w.Replace(p, p.Info, []byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Notes) > 0 {
			t.Errorf("notes: %v", out.Notes)
		}
		if fi, err := os.Lstat(filepath.Join(root, "link")); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link was replaced: %v", err)
		}
		fi, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
			t.Errorf("mode %v, %v", fi.Mode(), err)
		}
		if got := readBack(t, path); got != "new" {
			t.Errorf("content %q", got)
		}

		p = mustResolve(t, w, "f")
		write(t, path, "changed by someone")
		var changed *ChangedError
		if _, err := w.Replace(p, p.Info, []byte("ours")); !errors.As(err, &changed) {
			t.Errorf("replacing what changed: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Replace(p, p.Info, []byte("ours")); !errors.As(err, &changed) {
			t.Errorf("replacing what is gone: %v", err)
		}
		noneLeft(t, root)
	})
}

func TestReplaceHardLink(t *testing.T) {
	eachFolder(t, func(t *testing.T, open func(string) *Workspace) {
		root := t.TempDir()
		write(t, filepath.Join(root, "config"), "old")
		if err := os.Link(filepath.Join(root, "config"), filepath.Join(root, "other")); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
		w := open(root)
		p := mustResolve(t, w, "other")
		out, err := w.Replace(p, p.Info, []byte("new"))
		if err != nil {
			t.Fatal(err)
		}
		if got := readBack(t, filepath.Join(root, "config")); got != "old" {
			t.Errorf("the other name has %q", got)
		}
		if runtime.GOOS != "windows" && (len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "1 other name")) {
			t.Errorf("notes: %v", out.Notes)
		}
	})
}

var errDisk = errors.New("the disk is full")

func TestWriteFailuresLeaveNothing(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "f"), "old")
	w := openTest(t, root, Options{})
	real := w.mounts[0].dir
	for name, f := range map[string]*failingOps{"rename": {renameErr: errDisk}, "link": {linkErr: errDisk}} {
		f.folder = real
		w.mounts[0].dir = f
		p := mustResolve(t, w, "f")
		if _, err := w.Replace(p, p.Info, []byte("new")); (err == nil) != (name == "link") {
			t.Errorf("%s fails: Replace gives %v", name, err)
		}
		_, err := w.Create(mustResolve(t, w, "new-"+name), []byte("new"))
		if (err == nil) != (name == "rename") {
			t.Errorf("%s fails: Create gives %v", name, err)
		}
		w.mounts[0].dir = real
		noneLeft(t, root)
	}
	// A file system without hard links still gives all or nothing.
	w.mounts[0].dir = &failingOps{folder: real, linkErr: errors.ErrUnsupported}
	if _, err := w.Create(mustResolve(t, w, "nolinks"), []byte("text")); err != nil {
		t.Errorf("without hard links: %v", err)
	}
	if got := readBack(t, filepath.Join(root, "nolinks")); got != "text" {
		t.Errorf("content %q", got)
	}
	if _, err := w.Create(Path{Rel: "f", mount: w.mounts[0], rel: "f"}, []byte("x")); err == nil {
		t.Error("without hard links an existing file was overwritten")
	}
	w.mounts[0].dir = real
	noneLeft(t, root)
}

// failingOps is a folder in which some operations fail.
type failingOps struct {
	folder
	// renameErr and linkErr, when set, are what these operations return. With
	// linkErr the second create fails too, unless links are only unsupported.
	renameErr, linkErr error
	creates            int
}

func (f *failingOps) sub(rel string) (folder, error) {
	next, err := f.folder.sub(rel)
	if err != nil {
		return nil, err
	}
	return &failingOps{folder: next, renameErr: f.renameErr, linkErr: f.linkErr}, nil
}

func (f *failingOps) rename(from, to string) error {
	if f.renameErr != nil {
		return f.renameErr
	}
	return f.folder.rename(from, to)
}

func (f *failingOps) link(from, to string) error {
	if f.linkErr != nil {
		return f.linkErr
	}
	return f.folder.link(from, to)
}

func (f *failingOps) create(name string, perm fs.FileMode) (newFile, error) {
	if f.creates++; f.creates > 1 && errors.Is(f.linkErr, errDisk) {
		return nil, errDisk
	}
	return f.folder.create(name, perm)
}

// Two writers of one file: each write is whole, and none is lost unnoticed.
func TestConcurrentReplace(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "f"), "")
	w := openTest(t, root, Options{})
	var wg sync.WaitGroup
	const writers, each = 4, 10
	for range writers {
		wg.Go(func() {
			for range each {
				p := mustResolve(t, w, "f")
				unlock := w.Lock(p)
				c, err := w.ReadFile(p)
				if err == nil {
					_, err = w.Replace(p, c.Info, append(c.Raw, 'x'))
				}
				unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := readBack(t, filepath.Join(root, "f")); len(got) != writers*each {
		t.Errorf("%d of %d writes are there", len(got), writers*each)
	}
	if len(w.locks.held) != 0 {
		t.Errorf("%d locks remain", len(w.locks.held))
	}
}
