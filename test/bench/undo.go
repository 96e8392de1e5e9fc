package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"garuda/internal/core"
	"garuda/internal/snapshot"
	"garuda/internal/workspace"
)

// undoFiles is the size of the tree that the bars of undo speak of, undone how many
// files are put back.
const undoFiles, undone = 50_000, 500

// undoTree makes files of 200 bytes to 8 KB in folders of 25.
func undoTree(dir string) error {
	for i := range undoFiles {
		folder := filepath.Join(dir, fmt.Sprintf("part%03d", i/500), fmt.Sprintf("unit%02d", i/25%20))
		if i%25 == 0 {
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		var text []byte
		for line := range 4 + i*7%160 {
			text = fmt.Appendf(text, "func f%d_%d() error { return nil } // %d\n", i, line, i*line)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file%02d.go", i%25)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// undoBench is a tree, its snapshots, and the same by git.
type undoBench struct {
	dir   string
	turns *snapshot.Turns
	n     int
}

// undo measures snapshots of a large tree against git's, and how long it takes to put
// files back.
func (b *bench) undo(ctx context.Context) (rows []row, err error) {
	u := &undoBench{dir: filepath.Join(b.dir, "undo")}
	if err := undoTree(u.dir); err != nil {
		return nil, err
	}
	if err := u.git(ctx, "init", "-q", "."); err != nil {
		return nil, err
	}
	ws, err := workspace.Open(u.dir, nil, workspace.Options{})
	if err != nil {
		return nil, err
	}
	defer ws.Close()
	u.turns = snapshot.NewTurns(snapshot.New(snapshot.Options{
		Home: filepath.Join(b.dir, "undo-home"), Workspace: ws, Clock: core.SystemClock,
	}))
	defer func() { err = errors.Join(err, u.turns.Close()) }()
	for _, bar := range []struct {
		name   string
		bar    time.Duration
		rounds int
		change bool
	}{
		{"first snapshot of 50,000 files", 5 * time.Second, 1, false},
		{"  nothing changed", 120 * time.Millisecond, max(5, b.runs/2), false},
		{"  one file changed", 150 * time.Millisecond, max(5, b.runs/2), true},
	} {
		var mine, git []time.Duration
		for range bar.rounds {
			m, g, err := u.round(ctx, bar.change)
			if err != nil {
				return nil, err
			}
			mine, git = append(mine, m), append(git, g)
		}
		rows = append(rows, row{bar.name, ms(median(mine)), ms(bar.bar), ms(median(git)) + " by git add -A, write-tree", median(mine) <= bar.bar})
	}
	back, err := u.back(ctx)
	const bar = time.Second
	return append(rows, row{"undo of 500 files", ms(back), ms(bar), "", back <= bar}), err
}

// round takes one snapshot and lets git take one.
func (u *undoBench) round(ctx context.Context, change bool) (mine, git time.Duration, err error) {
	u.n++
	if change {
		if err := os.WriteFile(filepath.Join(u.dir, "part001/unit01/file01.go"), fmt.Append(nil, u.n), 0o644); err != nil {
			return 0, 0, err
		}
	}
	start := time.Now()
	if err := u.keep(ctx, fmt.Sprint("point", u.n)); err != nil {
		return 0, 0, err
	}
	mine = time.Since(start)
	start = time.Now()
	err = errors.Join(u.git(ctx, "add", "-A"), u.git(ctx, "write-tree"))
	return mine, time.Since(start), err
}

func (u *undoBench) keep(ctx context.Context, point string) error {
	var said error
	u.turns.Begin(point, func(text string) { said = errors.New(text) })
	return errors.Join(u.turns.Wait(ctx), said)
}

func (u *undoBench) git(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = u.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}

// back changes files and measures how long they take to be put back.
func (u *undoBench) back(ctx context.Context) (time.Duration, error) {
	if err := u.keep(ctx, "before"); err != nil {
		return 0, err
	}
	for i := range undone {
		name := filepath.Join(u.dir, fmt.Sprintf("part%03d", i/500), fmt.Sprintf("unit%02d", i/25%20), fmt.Sprintf("file%02d.go", i%25))
		if err := os.WriteFile(name, []byte("changed"), 0o644); err != nil {
			return 0, err
		}
	}
	plan, err := u.turns.Store().Plan(ctx, "before", "after")
	if err != nil {
		return 0, err
	}
	start := time.Now()
	result, err := u.turns.Store().Restore(ctx, plan)
	took := time.Since(start)
	if err == nil && (result.Done != undone || len(result.Failed) > 0) {
		err = fmt.Errorf("put back %d of %d files: %v", result.Done, undone, result.Failed)
	}
	return took, err
}
