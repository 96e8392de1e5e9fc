package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// swaps is how many rounds of each kind run against swapped folders: a few, or
// as GARUDA_SWAPS says.
func swaps(t *testing.T) int {
	text := os.Getenv("GARUDA_SWAPS")
	if text == "" {
		const quick = 100
		return quick
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("GARUDA_SWAPS is %q, want a number from 1 on", text)
	}
	return n
}

// quickDisk is a folder in memory where this system lets the test have one, so
// that thousands of writes need not wait for the disk.
func quickDisk(t *testing.T, size string) string {
	dir := t.TempDir()
	if os.Getuid() != 0 || syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0777,size="+size) != nil {
		return dir
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// treeOf is all that is in a folder, with when it was changed.
func treeOf(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(raw)
		}
		out[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// swapRound is what is done in one round to one swapped folder; dir is that
// folder and top the one that holds it, as paths of the workspace. It returns
// how many changes were made.
type swapRound struct {
	t    *testing.T
	w    *Workspace
	dir  string
	top  string
	done map[string]int
}

func (r *swapRound) did(what string, err error) bool {
	if err == nil {
		r.done[what]++
	}
	return err == nil
}

func (r *swapRound) read(name string) {
	p, err := r.w.Resolve(name)
	if err != nil || !p.Exists {
		return
	}
	if c, err := r.w.ReadFile(p); r.did("read", err) && strings.Contains(string(c.Raw), "OUTSIDE") {
		r.t.Fatalf("%s was read outside", name)
	}
}

func (r *swapRound) create(name string) {
	p, err := r.w.Resolve(name)
	if err != nil || p.Exists {
		return
	}
	_, err = r.w.Create(p, []byte("inside"))
	r.did("create", err)
}

func (r *swapRound) replace(name string) {
	if p, err := r.w.Resolve(name); err == nil && p.Exists {
		_, err = r.w.Replace(p, p.Info, []byte("inside"))
		r.did("replace", err)
	}
}

func (r *swapRound) move(from, to string) {
	f, err := r.w.ResolveEntry(from)
	if err != nil || !f.Exists {
		return
	}
	if p, err := r.w.Resolve(to); err == nil {
		_, err = r.w.Move(f, p, f.Info)
		r.did("move", err)
	}
}

func (r *swapRound) remove(name string) {
	if f, err := r.w.ResolveEntry(name); err == nil && f.Exists {
		r.did("remove", r.w.Remove(f, f.Info))
	}
}

func (r *swapRound) walk(depth int) {
	from, err := r.w.Resolve(r.top)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = r.w.Walk(context.Background(), from, WalkOptions{Depth: depth}, func(_ int, e *Entry) error {
		if strings.Contains(e.Name, "outside") {
			r.t.Errorf("the walk came across %s", e.Path().Rel)
		}
		if e.Kind != KindFile {
			return nil
		}
		f, err := e.Open()
		if err != nil {
			return nil
		}
		defer f.Close()
		head := make([]byte, 8)
		if n, _ := f.Read(head); strings.Contains(string(head[:n]), "OUTSIDE") {
			r.t.Errorf("the walk read %s outside", e.Path().Rel)
		}
		return nil
	})
	r.did("walk", err)
	if near := fmt.Sprint(r.w.NotFound(Path{Rel: "f", mount: from.mount, rel: joinRel(r.dirRel(from), "onlyoutside")}, func(string) bool { return true })); strings.Contains(near, "only-outside") {
		r.t.Errorf("a name outside was shown: %s", near)
	}
}

// dirRel is the swapped folder's path in its mount.
func (r *swapRound) dirRel(top Path) string {
	rel, _ := below(top.mount.real, filepath.Join(top.Real, "d"))
	return rel
}

func (r *swapRound) all(i int) {
	at := func(dir, name string) string { return dir + "/" + name }
	r.read(at(r.dir, "f"))
	r.read(at(r.dir, "sub/g"))
	r.replace(at(r.dir, "f"))
	r.create(at(r.dir, fmt.Sprintf("new%d/deep/h", i)))
	r.create(at(r.top, "c"))
	r.move(at(r.top, "c"), at(r.dir, fmt.Sprint("into", i)))
	r.move(at(r.dir, fmt.Sprint("into", i)), at(r.top, "out"))
	r.move(at(r.dir, "victim"), at(r.top, "out"))
	r.remove(at(r.top, "out"))
	r.remove(at(r.top, "c"))
	r.remove(at(r.dir, "only-outside"))
	r.remove(at(r.dir, fmt.Sprint("into", i)))
	r.remove(at(r.dir, fmt.Sprintf("new%d/deep/h", i)))
	const walks = 10 // one in so many rounds
	if i%walks == 0 {
		r.walk(i % (3 * walks) / walks)
	}
}

// TestSwappedFolders is the race that a check of a path and a later use of it
// lose. It runs everything that the workspace can do against folders
// that are exchanged for links to outside all the time, in the root and in an
// added folder. The folder outside has files of the same names; not one is read,
// named, changed, made or deleted.
func TestSwappedFolders(t *testing.T) {
	rounds := swaps(t)
	for _, impl := range []struct {
		name string
		open func(string) (folder, error)
	}{{"native", openFolder}, {"os.Root", openRootFolder}} {
		t.Run(impl.name, func(t *testing.T) {
			base := quickDisk(t, "256m")
			outside := filepath.Join(base, "outside")
			for _, name := range []string{"f", "sub/g", "only-outside", "victim", "new0/deep/h"} {
				write(t, filepath.Join(outside, name), "OUTSIDE")
			}
			root, added := filepath.Join(base, "root"), filepath.Join(base, "added")
			for _, top := range []string{root, added} {
				write(t, filepath.Join(top, "d", "f"), "inside")
				write(t, filepath.Join(top, "d", "sub", "g"), "inside")
			}
			before := treeOf(t, outside)
			w, err := Open(root, []string{added}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for _, m := range w.mounts {
				m.dir.close()
				if m.dir, err = impl.open(m.real); err != nil {
					t.Fatal(err)
				}
			}
			done := map[string]int{}
			for _, top := range []string{root, added} {
				r := swapRound{t: t, w: w, top: top, dir: filepath.Join(top, "d"), done: done}
				stop := swapper(t, top, outside)
				naive := 0
				for i := range rounds {
					r.all(i)
					// The control: the same by path does get out.
					if raw, err := os.ReadFile(filepath.Join(top, "d", "f")); err == nil && string(raw) == "OUTSIDE" {
						naive++
					}
				}
				stop()
				noneLeft(t, top)
				if naive == 0 {
					t.Errorf("in %s the race was not exercised", top)
				}
			}
			if diff := cmp.Diff(before, treeOf(t, outside)); diff != "" {
				t.Errorf("the folder outside was changed (-before +after):\n%s", diff)
			}
			t.Logf("%d rounds in each folder; done inside: %v", rounds, done)
			for _, what := range []string{"read", "create", "replace", "move", "remove", "walk"} {
				if done[what] == 0 {
					t.Errorf("no %s ever worked, so this test shows nothing of it", what)
				}
			}
		})
	}
}
