package snapshot_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/snapshot"
)

// quickClock is the machine's, but its waits for a snapshot are over at once.
type quickClock struct{ core.Clock }

func (c quickClock) AfterFunc(_ time.Duration, f func()) func() bool {
	return c.Clock.AfterFunc(0, f)
}

// slow makes a store whose snapshot stands still at one file until it is released.
func slow(p *project) (turns *snapshot.Turns, release func()) {
	held := make(chan struct{})
	p.opt.Clock = quickClock{core.SystemClock}
	p.opt.MayKeep = func(path string) bool {
		if strings.HasSuffix(path, "/hold") {
			<-held
		}
		return true
	}
	p.reopen()
	return snapshot.NewTurns(p.store), sync.OnceFunc(func() { close(held) })
}

// TestSavedMeanwhile: what a file tool changes while the snapshot is still being taken
// is kept as it was before.
func TestSavedMeanwhile(t *testing.T) {
	p := newProject(t)
	for _, name := range []string{"hold", "edited", "dir/deleted", ".env"} {
		p.write(name, "one")
	}
	before := p.state()
	turns, release := slow(p)
	defer release()
	turns.Begin("point", func(s string) { t.Error(s) })
	for _, name := range []string{"edited", "dir/deleted", "made/by/a/tool", ".env", "../elsewhere"} {
		turns.Await(context.Background(), []string{p.path(name)}, false)
	}
	p.write("edited", "two")
	p.write("made/by/a/tool", "two")
	p.remove("dir/deleted")
	release()
	must(t, turns.Wait(context.Background()))
	must(t, turns.Close())
	p.back("point", "after")
	if got, want := p.state(), before; len(got) != len(want) || got["edited"] != want["edited"] || got["dir/deleted"] != want["dir/deleted"] {
		t.Errorf("undo gave %v, want %v", got, want)
	}
}

// TestLateCommand: a command that cannot wait any longer runs after a notice, and the
// turn has no point: what the snapshot caught is from before and after.
func TestLateCommand(t *testing.T) {
	p := newProject(t)
	p.write("hold", "one")
	turns, release := slow(p)
	defer release()
	var said []string
	turns.Begin("point", func(s string) { said = append(said, s) })
	turns.Await(context.Background(), nil, true)
	turns.Await(context.Background(), nil, true)
	release()
	must(t, turns.Wait(context.Background()))
	if len(said) != 1 || !strings.Contains(said[0], "undo starts late") {
		t.Error(said)
	}
	if _, err := p.store.Plan(context.Background(), "point", "after"); err == nil {
		t.Error("the turn can be taken back")
	}
	must(t, turns.Close())
}

// TestTwoProcesses: two stores of one project wait for each other and see each
// other's points.
func TestTwoProcesses(t *testing.T) {
	p := newProject(t)
	p.write("f", "one")
	other := snapshot.New(p.opt)
	defer other.Close()
	var all sync.WaitGroup
	for i, store := range []*snapshot.Store{p.store, other} {
		turns := snapshot.NewTurns(store)
		all.Go(func() {
			for n := range 5 {
				turns.Begin(string(rune('a'+i*5+n)), func(s string) { t.Error(s) })
			}
			must(t, turns.Wait(context.Background()))
		})
	}
	all.Wait()
	p.write("f", "two")
	for n := range 10 {
		if plan := p.plan(string(rune('a'+n)), "after"); len(plan.Changes) != 1 {
			t.Error(plan.Changes)
		}
	}
}
