package watched

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant makes a submodule whose settings run a program, without .gitmodules.
const plant = `git init -q s && git -C s -c user.name=a -c user.email=a@b commit -q --allow-empty -m x &&
	git add s 2>/dev/null && git -C s config core.fsmonitor "touch $PWD/ran; false"; `

// TestPlanted: what a command plants is found, also by a later look, until it is
// allowed, changed again or set aside. Git outside then runs nothing.
func TestPlanted(t *testing.T) {
	p := newProject(t)
	ran := filepath.Join(p.root, "ran")
	w := New(p.ws, p.git)
	w.Begin()
	p.sh(t, "git init -q h && git -C h -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git add h")
	if got, err := w.Planted(); len(got) != 0 || err != nil {
		t.Fatalf("a harmless one: %v, %v", got, err)
	}
	p.sh(t, plant)
	for range 2 {
		got, err := w.Planted()
		if err != nil || len(got) != 1 || got[0].Rel() != "s/.git" || !strings.Contains(got[0].Why, "core.fsmonitor") {
			t.Fatalf("%+v, %v", got, err)
		}
		w.Begin()
	}
	p.sh(t, "rm -f ran; git status")
	if _, err := os.Lstat(ran); err != nil {
		t.Fatal("git does not run it, so this test tries nothing")
	}
	all, err := w.Planted()
	if err != nil {
		t.Fatal(err)
	}
	w.Allow(all)
	if got, err := w.Planted(); len(got) != 0 || err != nil {
		t.Errorf("after it was allowed: %v, %v", got, err)
	}
	p.sh(t, "git -C s config core.pager x")
	if got, err := w.Planted(); len(got) != 1 || err != nil {
		t.Errorf("after it was changed: %v, %v", got, err)
	}
	said := w.Disarm()
	if !strings.Contains(said, "s/.git is called s/.git.aside now") {
		t.Error(said)
	}
	p.sh(t, "rm -f ran; git status")
	if _, err := os.Lstat(ran); err == nil {
		t.Error("git ran it after it was set aside")
	}
	if got := w.Disarm(); got != "" {
		t.Error(got)
	}
	p.sh(t, ": > .git/index")
	if got := w.Disarm(); !strings.Contains(got, "cannot be told") {
		t.Error(got)
	}
	if got := (*Watcher)(nil).Disarm(); got != "" {
		t.Error(got)
	}
}

// TestStanding: what was there before the first command is the user's.
func TestStanding(t *testing.T) {
	p := newProject(t)
	p.sh(t, plant)
	w := New(p.ws, p.git)
	w.Begin()
	if got, err := w.Planted(); len(got) != 0 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
