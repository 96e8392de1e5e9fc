package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"garuda/internal/pathglob"
	"garuda/internal/sandbox"
	"garuda/internal/state"
)

// maxHidden is how many places may be hidden: each costs the command a mount.
const maxHidden = 1000

// ErrTooManyHidden is in the error of a command that does not run since its view would
// need too many masks.
var ErrTooManyHidden = fmt.Errorf("more than %d files and folders match what must be hidden (sandbox.denyRead and the team's denyPaths); "+
	"hide a folder as a whole (secrets/) instead of each file in it", maxHidden)

// hidden finds what the patterns of denyRead and denyPaths match: in the project, added
// folders, and what settings name, .git and node_modules too; and for patterns from the
// home folder or the top wherever the view shows something. Links are not followed; what
// a link with such a name leads to is hidden where it lies.
//
// It looks at the disk anew for each command, as files come and go.
func (b *Builder) hidden(ctx context.Context, entries []sandbox.Entry) ([]sandbox.Entry, error) {
	if len(b.deny) == 0 {
		return nil, nil
	}
	h := &hider{ctx: ctx, b: b, spare: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
	for _, top := range b.searched(entries) {
		h.look(top)
		h.folder(top)
	}
	h.walks.Wait()
	if h.err != nil {
		return nil, h.err
	}
	var out []sandbox.Entry
	slices.Sort(h.found)
	for _, path := range slices.Compact(h.found) {
		if inside(path, b.opt.Root) {
			return nil, fmt.Errorf("what must be hidden (sandbox.denyRead and the team's denyPaths) takes in the project itself: %s", path)
		}
		out = append(out, sandbox.Entry{Path: path, Access: sandbox.Masked, Folder: isFolder(path), Why: "hidden by a pattern"})
	}
	return out, nil
}

// searched are the folders and files to search, none in another one.
func (b *Builder) searched(entries []sandbox.Entry) []string {
	var tops []string
	tops = append(tops, b.opt.Root)
	tops = append(tops, b.opt.Added...)
	tops = append(tops, b.shared.writes...)
	for _, p := range b.opt.Read {
		tops = append(tops, realPath(p.Path))
	}
	for i := range b.more {
		tops = append(tops, b.more[i].Path)
	}
	for _, g := range b.deny {
		base := g.Base()
		if base == "" {
			continue
		}
		for _, base := range both(base, realPath(base)) {
			for i := range entries {
				e := &entries[i]
				switch {
				case e.Source != "" || e.Access == sandbox.Masked || e.Missing:
				case inside(base, e.Path):
					tops = append(tops, e.Path)
				case inside(e.Path, base):
					tops = append(tops, base)
				}
			}
		}
	}
	slices.Sort(tops)
	var out []string
	for _, top := range slices.Compact(tops) {
		if !slices.ContainsFunc(out, func(have string) bool { return inside(have, top) }) && exists(top) {
			out = append(out, top)
		}
	}
	return out
}

// hider is one search. spare bounds how many folders are listed at once.
type hider struct {
	ctx   context.Context
	b     *Builder
	spare chan struct{}
	walks sync.WaitGroup

	mu    sync.Mutex
	found []string
	err   error
}

// look tells whether a path is to be hidden, and notes it then.
func (h *hider) look(path string) bool {
	place := h.place(path)
	if !slices.ContainsFunc(h.b.deny, func(g *pathglob.Glob) bool { return g.Matches(place, true) }) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.found = append(h.found, path); len(h.found) > maxHidden && h.err == nil {
		h.err = ErrTooManyHidden
	}
	return true
}

func (h *hider) place(path string) pathglob.Place {
	p := pathglob.Place{Abs: filepath.ToSlash(path)}
	for i, top := range append([]string{h.b.opt.Root}, h.b.opt.Added...) {
		if path != top && inside(top, path) {
			p.Rel, p.FromRoot = filepath.ToSlash(path[len(top)+1:]), i == 0
			break
		}
	}
	return p
}

func (h *hider) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = err
	}
}

func (h *hider) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = h.ctx.Err()
	}
	return h.err != nil
}

func (h *hider) folder(dir string) {
	if h.over() {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		if !h.passable(dir, err) {
			h.fail(fmt.Errorf("look for what must be hidden: %w", err))
		}
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			h.link(path)
		case h.look(path) || !e.IsDir():
		default:
			select {
			case h.spare <- struct{}{}:
				h.walks.Go(func() {
					defer func() { <-h.spare }()
					h.folder(path)
				})
			default:
				h.folder(path)
			}
		}
	}
}

// link hides what a link with a hidden name leads to; the link itself shows no content.
func (h *hider) link(path string) {
	place := h.place(path)
	if !slices.ContainsFunc(h.b.deny, func(g *pathglob.Glob) bool { return g.Matches(place, true) }) {
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return // it leads nowhere
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.found = append(h.found, real)
}

// passable tells that a folder that cannot be listed is no way around a mask: it is
// gone, a file, or another user's, so that a command cannot look into it either.
func (h *hider) passable(dir string, err error) bool {
	info, statErr := os.Lstat(dir)
	if errors.Is(statErr, fs.ErrNotExist) || statErr == nil && !info.IsDir() {
		return true
	}
	if !errors.Is(err, fs.ErrPermission) || statErr != nil {
		return false
	}
	_, mine := state.Owner(info)
	return !mine
}
