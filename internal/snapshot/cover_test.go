package snapshot_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/snapshot"
)

func paths(changes []snapshot.Change) []string {
	var out []string
	for _, c := range changes {
		out = append(out, string(rune(c.What))+c.Path)
	}
	return out
}

func leftPaths(left []snapshot.LeftOut) []string {
	var out []string
	for _, l := range left {
		out = append(out, string(rune(l.Reason))+l.Path)
	}
	return out
}

// TestLeftOut: what is left out is named, is not in the store, and stays as it is.
func TestLeftOut(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "*.o\n")
	p.write("a.o", "ignored")
	p.write(".env", "KEY=1")
	p.write("deploy/server.pem", "-----BEGIN")
	p.write("hidden.txt", "the policy hides me")
	p.write("large", strings.Repeat("x", snapshot.MaxFile+1))
	p.write("just", strings.Repeat("x", snapshot.MaxFile))
	p.opt.MayKeep = func(path string) bool { return filepath.Base(path) != "hidden.txt" }
	p.reopen()
	p.keep("point")
	for _, name := range []string{"a.o", ".env", "deploy/server.pem", "hidden.txt", "large"} {
		p.write(name, "changed")
	}
	p.write("just", "changed")
	plan := p.plan("point", "after")
	// The file that is not large any more was left out then, and is not touched.
	if diff := cmp.Diff([]string{"~just"}, paths(plan.Changes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"large"}, plan.Kept); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"s.env", "sdeploy/server.pem", "shidden.txt"}, leftPaths(plan.LeftOut)); diff != "" {
		t.Error(diff)
	}
	if plan.Ignored != 1 {
		t.Error(plan.Ignored, "ignored")
	}
}

// TestIgnoreRulesThatChange: files that were ignored when the turn began, and are not
// now, were not kept and must not be deleted; those that are ignored only now are
// still put back.
func TestIgnoreRulesThatChange(t *testing.T) {
	p := newProject(t)
	p.write(".gitignore", "dist/\n")
	p.write("dist/precious", "only here")
	p.write("src/code", "one")
	p.keep("point")
	p.write(".gitignore", "src/\n")
	p.write("dist/more", "new")
	p.write("src/code", "two")
	p.write("src/new", "made by the turn")
	plan := p.plan("point", "after")
	if diff := cmp.Diff([]string{"~.gitignore", "~src/code"}, paths(plan.Changes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"dist/", "dist/more", "dist/precious"}, plan.Kept); diff != "" {
		t.Error(diff)
	}
	result, err := p.store.Restore(context.Background(), plan)
	must(t, err)
	if len(result.Failed) > 0 {
		t.Error(result.Failed)
	}
	state := p.state()
	if state["dist/precious"] == "" || !strings.Contains(state["src/code"], "one") || !strings.Contains(state[".gitignore"], "dist") {
		t.Error(state)
	}
}

// TestChangedMeanwhile: what somebody changes between the question and the answer is
// left as it is, and said.
func TestChangedMeanwhile(t *testing.T) {
	p := newProject(t)
	p.write("a", "one")
	p.write("b", "one")
	p.write("gone", "one")
	p.keep("point")
	p.write("a", "two")
	p.write("b", "two")
	p.write("made", "two")
	p.remove("gone")
	plan := p.plan("point", "after")
	p.write("a", "the user's")
	p.write("made", "the user's too")
	p.write("gone", "again, by the user")
	result, err := p.store.Restore(context.Background(), plan)
	must(t, err)
	var failed []string
	for _, f := range result.Failed {
		failed = append(failed, f.Path)
	}
	if diff := cmp.Diff([]string{"a", "gone", "made"}, failed); diff != "" {
		t.Error(diff)
	}
	state := p.state()
	if !strings.Contains(state["a"], "the user's") || !strings.Contains(state["made"], "too") || !strings.Contains(state["gone"], "again") || !strings.Contains(state["b"], "one") {
		t.Error(state)
	}
}

// TestRepositories: submodules' and worktrees' files are covered, and no .git is
// touched or kept, whatever it is.
func TestRepositories(t *testing.T) {
	p := newProject(t)
	p.write(".git/HEAD", "ref: refs/heads/main")
	p.write("module/.git", "gitdir: ../.git/modules/module")
	p.write("module/code", "one")
	p.write("tree/.git", "gitdir: ../.git/worktrees/tree")
	p.write("tree/code", "one")
	p.keep("point")
	p.write(".git/HEAD", "ref: refs/heads/other")
	p.write("module/code", "two")
	p.remove("tree/code")
	p.remove("module/.git")
	p.back("point", "after")
	state := p.state()
	if !strings.Contains(state["module/code"], "one") || !strings.Contains(state["tree/code"], "one") {
		t.Error(state)
	}
	if !strings.Contains(state[".git/HEAD"], "other") || state["module/.git"] != "" {
		t.Error("undo touched what is git's", state)
	}
}

// TestLinksInTheWay: a folder that became a link since leads no write out of the root,
// or to another file in it.
func TestLinksInTheWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege here")
	}
	for _, target := range []string{"../outside", "other"} {
		p := newProject(t)
		must(t, os.MkdirAll(filepath.Join(p.root, "../outside"), 0o755))
		must(t, os.WriteFile(filepath.Join(p.root, "../outside/f"), []byte("two"), 0o644))
		p.write("other/f", "two")
		p.write("dir/f", "one")
		p.keep("point")
		p.write("dir/f", "two")
		plan := p.plan("point", "after")
		p.remove("dir")
		must(t, os.Symlink(target, p.path("dir")))
		result, err := p.store.Restore(context.Background(), plan)
		must(t, err)
		if len(result.Failed) != 1 {
			t.Error(result.Failed)
		}
		for _, name := range []string{"../outside/f", "other/f"} {
			if data, err := os.ReadFile(p.path(name)); err != nil || string(data) != "two" {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
	}
}

// TestRacyStat: a change of as many bytes, right after the snapshot and with the old
// time, is seen.
func TestRacyStat(t *testing.T) {
	p := newProject(t)
	for range 20 {
		p.write("f", "one")
		info, err := os.Stat(p.path("f"))
		must(t, err)
		p.keep("point")
		p.write("f", "two")
		must(t, os.Chtimes(p.path("f"), info.ModTime(), info.ModTime()))
		if plan := p.plan("point", "after"); len(plan.Changes) != 1 {
			t.Fatal("the change was not seen")
		}
	}
}

// TestDamage: a store that was damaged is said, begun anew, and works.
func TestDamage(t *testing.T) {
	for _, glob := range []string{"points.json", "objects/pack/*.idx", "objects/pack/*.pack", "index"} {
		t.Run(filepath.Base(glob), func(t *testing.T) {
			p := newProject(t)
			p.write("f", "one")
			p.keep("point")
			p.reopen()
			found, err := filepath.Glob(filepath.Join(p.store.Path(), glob))
			if err != nil || len(found) == 0 {
				t.Fatal(err, "nothing to damage")
			}
			for _, name := range found {
				data, err := os.ReadFile(name)
				must(t, err)
				for i := 20; i < len(data)-1; i++ {
					data[i] ^= 0x55
				}
				must(t, os.WriteFile(name, data, 0o600))
			}
			p.write("f", "two")
			_, err = p.store.Plan(context.Background(), "point", "after")
			if glob != "index" {
				if said := p.store.Said(); !errors.Is(err, snapshot.ErrGone) || len(said) != 1 {
					t.Fatal(err, said)
				}
				p.keep("point")
				p.write("f", "three")
			} else {
				must(t, err)
			}
			p.back("point", "after2")
			if data, err := os.ReadFile(p.path("f")); err != nil || string(data) == "three" {
				t.Error(string(data), err)
			}
		})
	}
}

// TestPoints: the oldest points go, and what they needed goes with them.
func TestPoints(t *testing.T) {
	p := newProject(t)
	p.opt.MaxStore = 200 << 10
	p.reopen()
	noise := make([]byte, 40<<10)
	state := uint64(1)
	for i := range 30 {
		for j := range noise {
			state = state*6364136223846793005 + 1442695040888963407
			noise[j] = byte(state >> 56)
		}
		p.write("f", string(noise))
		if said := p.keep(string(rune('a' + i))); len(said) > 0 {
			t.Fatal(said)
		}
	}
	size := int64(0)
	must(t, filepath.Walk(p.store.Path(), func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return err
	}))
	if size > p.opt.MaxStore+64<<10 {
		t.Errorf("the store has %d bytes", size)
	}
	if _, err := p.store.Plan(context.Background(), "a", "x"); !errors.Is(err, snapshot.ErrGone) {
		t.Error("the oldest point is still there:", err)
	}
	if plan := p.plan(string(rune('a'+28)), "y"); len(plan.Changes) != 1 {
		t.Error(paths(plan.Changes))
	}
}

// TestTooLarge: files that do not fit the store are said, and nothing is left of the
// attempt.
func TestTooLarge(t *testing.T) {
	p := newProject(t)
	p.opt.MaxStore = 10
	p.reopen()
	p.write("f", "some text that has more bytes than the store may")
	said := p.keep("point")
	if len(said) != 1 || !strings.Contains(said[0], "undo is off") {
		t.Error(said)
	}
	if found, _ := filepath.Glob(filepath.Join(p.store.Path(), "objects/pack/*")); len(found) > 0 {
		t.Error(found)
	}
}
