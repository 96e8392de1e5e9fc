package snapshot_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/snapshot"
	"garuda/internal/workspace"
)

// project is a folder with a store.
type project struct {
	t          testing.TB
	root, home string
	ws         *workspace.Workspace
	store      *snapshot.Store
	opt        snapshot.Options
}

func newProject(t testing.TB) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return newProjectIn(t, filepath.Join(dir, "project"), filepath.Join(dir, "garuda"))
}

func newProjectIn(t testing.TB, root, home string) *project {
	t.Helper()
	p := &project{t: t, root: root, home: home}
	must(t, os.MkdirAll(p.root, 0o755))
	ws, err := workspace.Open(p.root, nil, workspace.Options{GarudaHome: p.home})
	must(t, err)
	t.Cleanup(ws.Close)
	p.ws = ws
	p.opt = snapshot.Options{Home: p.home, Workspace: ws, Clock: core.SystemClock}
	p.reopen()
	return p
}

// reopen goes on as another process would.
func (p *project) reopen() {
	p.t.Helper()
	if p.store != nil {
		must(p.t, p.store.Close())
	}
	store := snapshot.New(p.opt)
	p.t.Cleanup(func() { _ = store.Close() })
	p.store = store
}

// keep takes a snapshot under a name.
func (p *project) keep(point string) []string {
	p.t.Helper()
	var said []string
	turns := snapshot.NewTurns(p.store)
	turns.Begin(point, func(s string) { said = append(said, s) })
	must(p.t, turns.Wait(context.Background()))
	must(p.t, turns.Close())
	return said
}

func (p *project) plan(point, after string) *snapshot.Plan {
	p.t.Helper()
	plan, err := p.store.Plan(context.Background(), point, after)
	must(p.t, err)
	return plan
}

// back goes back to a point.
func (p *project) back(point, after string) *snapshot.Result {
	p.t.Helper()
	result, err := p.store.Restore(context.Background(), p.plan(point, after))
	must(p.t, err)
	return result
}

func (p *project) path(name string) string { return filepath.Join(p.root, filepath.FromSlash(name)) }

func (p *project) write(name, text string) {
	p.t.Helper()
	must(p.t, os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	must(p.t, os.WriteFile(p.path(name), []byte(text), 0o644))
}

func (p *project) remove(name string) {
	p.t.Helper()
	must(p.t, os.RemoveAll(p.path(name)))
}

// state is all that lies in the root, an entry a line.
func (p *project) state() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	must(p.t, filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == p.root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, p.root+string(filepath.Separator))
		switch {
		case d.IsDir():
			out[rel] = fmt.Sprintf("folder %v", info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			out[rel] = "link " + target
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = fmt.Sprintf("file %v %q", info.Mode().Perm(), data)
		default:
			out[rel] = "special"
		}
		return nil
	}))
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
