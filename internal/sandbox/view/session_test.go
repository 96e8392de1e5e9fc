package view

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/sandbox"
)

func TestPrivateFolder(t *testing.T) {
	d := newDecoy(t)
	b, err := NewBuilder(d.opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{b.session.dir, b.session.tmp, b.session.home} {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v", dir, info.Mode())
		}
	}
	if n, err := Sweep(t.Context(), core.SystemClock, d.garuda, ""); n != 0 || err != nil || !exists(b.session.tmp) {
		t.Errorf("a living session was swept: %d, %v", n, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("a second end: %v", err)
	}
	if exists(b.session.dir) {
		t.Error("the private folder is still there")
	}
}

// Check says what NewBuilder would, and makes nothing.
func TestCheckMakesNothing(t *testing.T) {
	d := newDecoy(t)
	d.opt.GarudaHome = filepath.Join(d.home, "not", "yet")
	if err := Check(d.opt); err != nil || exists(filepath.Join(d.home, "not")) {
		t.Errorf("%v, made: %v", err, exists(filepath.Join(d.home, "not")))
	}
	for name, change := range map[string]func(*Options){
		"a root that is not absolute": func(o *Options) { o.Root = "p" },
		"the home as the project":     func(o *Options) { o.Root = d.home },
		"a pattern":                   func(o *Options) { o.Deny = []string{"["} },
		"in the project":              func(o *Options) { o.Parent = filepath.Join(d.root, "x") },
		"below a file":                func(o *Options) { o.Parent = filepath.Join(d.home, ".netrc", "x") },
		"a file":                      func(o *Options) { o.Parent = filepath.Join(d.home, ".netrc") },
	} {
		opt := d.opt
		change(&opt)
		if _, err := NewBuilder(opt); err == nil {
			t.Errorf("%s: a builder was made", name)
		} else if got := Check(opt); got == nil {
			t.Errorf("%s: Check says nothing, and NewBuilder %v", name, err)
		}
	}
}

// A place that cannot be written is told beforehand, and which.
func TestCheckOfAPlaceThatCannotBeWritten(t *testing.T) {
	d := newDecoy(t)
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("every folder counts as one that may be written")
	}
	closed := filepath.Join(d.dir, "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	d.opt.GarudaHome = filepath.Join(closed, ".garuda")
	if err := Check(d.opt); err == nil || !strings.Contains(err.Error(), "write to "+closed+": permission denied") {
		t.Errorf("%v", err)
	}
}

// What a killed session leaves is removed by the next start, whatever is in it.
func TestSweep(t *testing.T) {
	d := newDecoy(t)
	b, err := NewBuilder(d.opt)
	if err != nil {
		t.Fatal(err)
	}
	keep := d.builder()
	d.hostile(b.session.tmp)
	d.hostile(b.session.home)
	if err := b.session.lock.Close(); err != nil { // as the system does for a killed process
		t.Fatal(err)
	}
	n, err := Sweep(t.Context(), core.SystemClock, d.garuda, "")
	if n != 1 || err != nil {
		t.Errorf("swept %d: %v", n, err)
	}
	if exists(b.session.dir) || !exists(keep.session.tmp) {
		t.Error("the wrong session was swept")
	}
	for _, path := range []string{filepath.Join(d.home, ".ssh", "id_ed25519"), filepath.Join(d.outside, "kept")} {
		if !exists(path) {
			t.Errorf("%s was removed through a link", path)
		}
	}
	if info, err := os.Stat(d.outside); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the mode of a link's target was changed: %v, %v", info, err)
	}
	if n, err := Sweep(t.Context(), core.SystemClock, filepath.Join(d.dir, "none"), ""); n != 0 || err != nil {
		t.Errorf("where there is nothing: %d, %v", n, err)
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	d := newDecoy(t)
	b, err := NewBuilder(d.opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.session.lock.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := Sweep(ctx, core.SystemClock, d.garuda, ""); n != 0 || err == nil || !exists(b.session.dir) {
		t.Errorf("swept %d: %v", n, err)
	}
	if n, err := Sweep(t.Context(), core.SystemClock, d.garuda, ""); n != 1 || err != nil {
		t.Errorf("swept %d: %v", n, err)
	}
}

// hostile fills a folder with what a command may leave to harm whoever removes it.
func (d *decoy) hostile(dir string) {
	d.t.Helper()
	d.file(filepath.Join(d.outside, "kept"), "")
	d.link(filepath.Join(d.home, ".ssh"), filepath.Join(dir, "keys"))
	d.link(d.outside, filepath.Join(dir, "a", "out"))
	d.link("..", filepath.Join(dir, "up"))
	d.link("loop", filepath.Join(dir, "loop"))
	d.file(filepath.Join(dir, "lifted-1", "x"), "")
	d.file(filepath.Join(dir, "many", "lifted-2"), "")
	for i := range 50 {
		d.file(filepath.Join(dir, "many", fmt.Sprint(i), "f"), "")
	}
	d.deep(dir, 3000)
	d.file(filepath.Join(dir, "shut", "in", "f"), "")
	for _, path := range []string{filepath.Join(dir, "shut", "in"), filepath.Join(dir, "shut"), dir} {
		if err := os.Chmod(path, 0); err != nil {
			d.t.Fatal(err)
		}
	}
}

// deep makes a tree whose path is longer than any system takes.
func (d *decoy) deep(dir string, levels int) {
	d.t.Helper()
	at, err := os.OpenRoot(dir)
	if err != nil {
		d.t.Fatal(err)
	}
	for range levels {
		if err := at.Mkdir("dd", 0o755); err != nil {
			d.t.Fatal(err)
		}
		next, err := at.OpenRoot("dd")
		at.Close()
		if err != nil {
			d.t.Fatal(err)
		}
		at = next
	}
	at.Close()
}

// A command may put anything where the next one's places are to lie.
func TestRoomIsMadeAnew(t *testing.T) {
	d := newDecoy(t)
	b := d.builder()
	v := viewOf(t, b, &sandbox.Command{})
	own := filepath.Join(b.session.home, "src")
	if !isFolder(filepath.Join(own, "p")) {
		t.Fatal("there is no place for the project in the private home")
	}
	for name, spoil := range map[string]func(){
		"a link": func() { d.link(d.outside, own) },
		"a file": func() { d.file(own, "") },
		"shut": func() {
			d.folder(filepath.Join(own, "p"))
			if err := os.Chmod(own, 0); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if err := os.RemoveAll(own); err != nil {
			t.Fatal(err)
		}
		spoil()
		if err := b.session.makeRoom(v.Entries); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !isFolder(own) || !isFolder(filepath.Join(own, "p")) || exists(filepath.Join(d.outside, "p")) {
			t.Errorf("%s: the place was not made anew", name)
		}
	}
}

// Nothing is made in a project, and no private folder lies in it.
func TestParentInTheProject(t *testing.T) {
	d := newDecoy(t)
	d.opt.Parent = filepath.Join(d.outside, "link")
	d.link(d.root, d.opt.Parent)
	if b, err := NewBuilder(d.opt); err == nil {
		t.Error("the private folder lies in the project")
		_ = b.Close()
	}
	err := filepath.WalkDir(d.root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != d.root {
			t.Errorf("%s was made", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
