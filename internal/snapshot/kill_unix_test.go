//go:build unix

package snapshot_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/snapshot"
)

// killedRoot names the project in which a copy of this test program works until it is
// killed, and killedDoes what it does there.
const killedRoot, killedDoes = "GARUDA_TEST_SNAPSHOT_ROOT", "GARUDA_TEST_SNAPSHOT_DOES"

func kills(t *testing.T) int {
	text := os.Getenv("GARUDA_KILLS")
	if text == "" {
		const quick = 3
		return quick
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// TestKilledChild is no test of its own: see killedRoot.
func TestKilledChild(t *testing.T) {
	root := os.Getenv(killedRoot)
	if root == "" {
		t.Skip("it is started by TestKilled")
	}
	p := newProjectIn(t, root, root+"-home")
	fmt.Println("begins")
	switch os.Getenv(killedDoes) {
	case "keep":
		p.keep("next")
	case "undo":
		p.back("point", "after")
	}
}

// TestKilled: whenever a program is killed that takes a snapshot or puts files back,
// the next one goes back to the very tree.
func TestKilled(t *testing.T) {
	for _, does := range []string{"keep", "undo"} {
		t.Run(does, func(t *testing.T) {
			for n := range kills(t) {
				killOnce(t, does, n)
			}
		})
	}
}

func killOnce(t *testing.T, does string, n int) {
	root := filepath.Join(t.TempDir(), "project")
	p := newProjectIn(t, root, root+"-home")
	for i := range 120 {
		p.write(fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat("one ", i))
	}
	before := p.state()
	p.keep("point")
	for i := range 120 {
		switch i % 3 {
		case 0:
			p.remove(fmt.Sprintf("d%d/f%d", i%7, i))
		case 1:
			p.write(fmt.Sprintf("d%d/f%d", i%7, i), "two")
		default:
			p.write(fmt.Sprintf("new%d/f%d", i%5, i), "made")
		}
	}
	changed := p.state()
	must(t, p.store.Close())
	killChild(t, root, does, time.Duration(rand.Int64N(int64(40*time.Millisecond))))

	// What is left of it may be an undo that was broken off; it is gone on with.
	p.reopen()
	resumed, err := p.store.Pending(context.Background(), "point")
	must(t, err)
	result := p.back("point", "after")
	if len(result.Failed) > 0 {
		t.Fatalf("round %d, resumed %v: %v", n, resumed, result.Failed)
	}
	if diff := cmp.Diff(before, noTemps(p.state())); diff != "" {
		t.Fatalf("round %d, resumed %v: undo (-was +is):\n%s", n, resumed, diff)
	}
	if resumed {
		p.back("after", "again")
		if diff := cmp.Diff(changed, noTemps(p.state())); diff != "" {
			t.Fatalf("round %d: redo (-was +is):\n%s", n, diff)
		}
	}
	if said := p.store.Said(); len(said) > 0 {
		t.Fatal(said)
	}
}

// noTemps leaves out what no walk shows and what is swept later: a text on its way to
// its place.
func noTemps(state map[string]string) map[string]string {
	for path := range state {
		if base := filepath.Base(path); strings.HasPrefix(base, ".garuda-") && strings.HasSuffix(base, ".tmp") {
			delete(state, path)
		}
	}
	return state
}

func killChild(t *testing.T, root, does string, after time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$", "-test.v")
	cmd.Env = append(os.Environ(), killedRoot+"="+root, killedDoes+"="+does)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.Contains(lines.Text(), "begins"); {
		continue
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
}

// TestHomeThatCannotBe: without a place to keep anything the turn goes on, and it is
// said once.
func TestHomeThatCannotBe(t *testing.T) {
	p := newProject(t)
	must(t, os.WriteFile(p.home, nil, 0o600)) // a file where the folder would be
	p.write("f", "one")
	var said []string
	turns := snapshot.NewTurns(p.store)
	for _, point := range []string{"a", "b"} {
		turns.Begin(point, func(s string) { said = append(said, s) })
		turns.Await(context.Background(), nil, true)
		must(t, turns.Wait(context.Background()))
	}
	must(t, os.Remove(p.home))
	turns.Begin("c", func(s string) { said = append(said, s) })
	must(t, turns.Wait(context.Background()))
	must(t, turns.Close())
	if len(said) != 2 || !strings.Contains(said[0], "undo is off") || !strings.Contains(said[1], "undo works again") {
		t.Error(said)
	}
}

// TestStoreIsClosed: the store is its owner's alone, and no link leads it elsewhere.
func TestStoreIsClosed(t *testing.T) {
	p := newProject(t)
	p.write("f", "one")
	p.keep("point")
	must(t, filepath.Walk(filepath.Join(p.home, snapshot.FolderName), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	}))
	must(t, p.store.Close())
	elsewhere := filepath.Join(filepath.Dir(p.home), "elsewhere")
	must(t, os.Rename(p.store.Path(), elsewhere))
	must(t, os.Symlink(elsewhere, p.store.Path()))
	if said := p.keep("next"); len(said) != 1 || !strings.Contains(said[0], "link") {
		t.Error(said)
	}
}
