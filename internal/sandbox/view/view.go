// Package view decides what a confined command sees and may write of the machine:
// from the settings, from what lies in the project, and from the places that the
// toolchains of the machine name. It also owns the private folders of a session,
// which commands see as their home and as /tmp.
//
// It isolates nothing itself, and never decides whether a command may run. What it
// cannot tell for certain is not shown, and what it cannot lock or hide for certain
// is an error, so that the command does not run.
package view

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"garuda/internal/core"
	"garuda/internal/gitlink"
	"garuda/internal/pathglob"
	"garuda/internal/sandbox"
)

// Options say what a view is made from. All paths are absolute.
type Options struct {
	// Root is the project and Added the folders added to it, both with their real
	// paths, as package workspace opened them.
	Root  string
	Added []string
	// Home is the user's home folder, "" when there is none; GarudaHome the folder of
	// Garuda's own state.
	Home, GarudaHome string
	// Parent is where the session's private folder is made: "" means the folder
	// sandbox below GarudaHome or, without one, the system's temporary folder.
	Parent string
	// WritePaths are what commands may write besides the project; ~/ is the home.
	WritePaths []string
	// Deny are the patterns of what no command may read, as rules write paths.
	Deny []string
	// Read are further places to read: folders of skills, of servers' programs.
	Read []Place
	// Lookup reads Garuda's own environment, for the variables that say where
	// toolchains keep their files.
	Lookup func(name string) (string, bool)
	// Path is the PATH of commands.
	Path string
	// Ask runs the toolchains' own programs to learn their places, with AskEnv as
	// their environment. Nil: none is asked, and only the usual places count.
	Ask    sandbox.Executor
	AskEnv []string
	Clock  core.Clock

	FullNetwork    bool
	UnixSockets    []string
	LocalhostPorts []int
	Limits         sandbox.Limits
	// FoldCase is set where file names that differ in case are one file.
	FoldCase bool
	// InPlace is set for a backend that mounts nothing: what lies in /etc then keeps
	// its own path, and no file stands for another.
	InPlace bool
}

// Place is a file or folder that commands may read, and what it is.
type Place struct{ Path, Why string }

// Builder makes the views of one session's commands. Its methods may be called at
// once.
type Builder struct {
	opt     Options
	rules   *placeRules
	session *session
	deny    []*pathglob.Glob
	// more are the places that With added.
	more []sandbox.Entry
	// busy tells whether the machine has too much to do for a slow tool to answer.
	busy func() bool

	shared *shared
}

// shared is what a builder and those made from it by With have in common.
type shared struct {
	// preparing is held while the fields up to err are found out.
	preparing sync.Mutex
	prepared  bool
	// fixed is what does not depend on the command; err says why it cannot be told.
	fixed []sandbox.Entry
	links []sandbox.Link
	// writes are the folders of WritePaths, in which names are locked as in the root.
	writes []string
	err    error

	mu   sync.Mutex
	left []Left
	// infos are the private copies of .git/info, by the folder they stand for.
	infos map[string]*privateInfo
	// modules finds the submodules that the project's index names.
	modules *gitlink.Finder
}

// Left is something that was asked for and is not in the view.
type Left struct{ Path, Why string }

// ErrPlace is in the error of a place that may not be shown.
var ErrPlace = errors.New("commands may not be given this place")

// Check makes nothing, and says what would keep NewBuilder from succeeding: a setting
// that cannot be followed, or a place where no private folder can be made.
func Check(opt Options) error {
	if _, err := compile(&opt); err != nil {
		return err
	}
	if err := checkParent(&opt); err != nil {
		return fmt.Errorf("make the session's private folder: %w", err)
	}
	return nil
}

// NewBuilder makes the session's private folder. Close removes it. The error says
// which setting cannot be followed.
func NewBuilder(opt Options) (*Builder, error) {
	deny, err := compile(&opt)
	if err != nil {
		return nil, err
	}
	if opt.Lookup == nil {
		opt.Lookup = func(string) (string, bool) { return "", false }
	}
	if opt.Clock == nil {
		opt.Clock = core.SystemClock
	}
	opt.Added, opt.Read = slices.Clone(opt.Added), slices.Clone(opt.Read)
	b := &Builder{opt: opt, rules: newPlaceRules(&opt), deny: deny, busy: machineIsBusy, shared: &shared{infos: map[string]*privateInfo{}, modules: gitlink.NewFinder(opt.Root)}}
	if b.session, err = newSession(&opt); err != nil {
		return nil, fmt.Errorf("make the session's private folder: %w", err)
	}
	return b, nil
}

// compile reads the patterns of what is hidden, and checks what can be told from the
// options alone.
func compile(opt *Options) (deny []*pathglob.Glob, err error) {
	if !filepath.IsAbs(opt.Root) {
		return nil, fmt.Errorf("build the sandbox's view: the root %q is not an absolute path", opt.Root)
	}
	if opt.Home != "" && inside(opt.Root, realPath(opt.Home)) {
		return nil, fmt.Errorf("build the sandbox's view: the project %s is or holds the home folder %s", opt.Root, opt.Home)
	}
	for _, pattern := range opt.Deny {
		g, err := pathglob.Compile(pattern, opt.Home, true, opt.FoldCase)
		if err != nil {
			return nil, fmt.Errorf("build the sandbox's view: hide %s: %w", pattern, err)
		}
		deny = append(deny, g)
	}
	return deny, nil
}

// With is a builder whose views show more to read: what a server of the user's
// needs. It shares the session with b, which alone is to be closed.
func (b *Builder) With(more ...Place) (*Builder, error) {
	c := *b
	c.more = slices.Clone(b.more)
	for _, p := range more {
		e, err := b.readable(p)
		if err != nil {
			return nil, err
		}
		c.more = append(c.more, e)
	}
	return &c, nil
}

// readable is the entry of a place that settings name.
func (b *Builder) readable(p Place) (sandbox.Entry, error) {
	real, err := b.rules.named(p.Path)
	if err != nil {
		return sandbox.Entry{}, err
	}
	return sandbox.Entry{Path: real, Access: sandbox.ReadOnly, Why: p.Why}, nil
}

// Prepare does what the first view would do, and is worth doing early: toolchains
// that are not known yet are asked.
func (b *Builder) Prepare(ctx context.Context) error {
	s := b.shared
	s.preparing.Lock()
	defer s.preparing.Unlock()
	if s.prepared {
		return s.err
	}
	err := b.prepare(ctx)
	if ctx.Err() != nil {
		return ctx.Err() // the next command begins anew
	}
	s.prepared, s.err = true, err
	return err
}

// View is what one command sees. In plan mode (ReadOnlyRoot) the project is
// read-only with all that lies in it, and nothing needs a lock.
func (b *Builder) View(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
	if err := b.Prepare(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root, err := b.project(cmd.ReadOnlyRoot, cmd.LockWatched)
	if err != nil {
		return nil, fmt.Errorf("tell what the command may see: %w", err)
	}
	entries := append(b.present(), root...)
	if cmd.ReadOnlyRoot {
		readOnlyBelow(entries, b.opt.Root)
	}
	entries = settle(entries, b.opt.Root)
	hidden, err := b.hidden(ctx, entries)
	if err != nil {
		return nil, fmt.Errorf("tell what the command may see: %w", err)
	}
	if hidden = append(hidden, b.rules.secretMasks(b.opt.Root, entries)...); len(hidden) > 0 {
		entries = settle(append(entries, hidden...), b.opt.Root)
	}
	if err := b.session.makeRoom(entries); err != nil {
		return nil, fmt.Errorf("prepare the session's private folders: %w", err)
	}
	return &sandbox.View{
		Root: b.opt.Root, Home: b.session.homeAt, Entries: entries, Links: b.shared.links,
		FullNetwork: b.opt.FullNetwork, UnixSockets: slices.DeleteFunc(slices.Clone(b.opt.UnixSockets), func(p string) bool { return !exists(p) }),
		LocalhostPorts: slices.Clone(b.opt.LocalhostPorts), Limits: b.opt.Limits,
	}, nil
}

// present is what does not depend on the command, without what is gone by now.
func (b *Builder) present() []sandbox.Entry {
	out := make([]sandbox.Entry, 0, len(b.shared.fixed)+64)
	for _, list := range [][]sandbox.Entry{b.shared.fixed, b.more} {
		for i := range list {
			if exists(list[i].Host()) {
				out = append(out, list[i])
			}
		}
	}
	return out
}

// readOnlyBelow takes the project and every path in it out of what may be written.
func readOnlyBelow(entries []sandbox.Entry, root string) {
	for i := range entries {
		if inside(root, entries[i].Path) && entries[i].Access == sandbox.Writable {
			entries[i].Access = sandbox.ReadOnly
		}
	}
}

// project is the root, its repository, and what is locked there and in the folders
// of WritePaths. It looks at the disk anew for each command. In plan mode the project
// needs no locks.
func (b *Builder) project(plan, watched bool) ([]sandbox.Entry, error) {
	l := &locker{b: b, root: b.opt.Root, plan: plan, hide: map[string][]string{}}
	l.add(sandbox.Entry{Path: b.opt.Root, Access: sandbox.Writable, Why: "the project"})
	if plan {
		l.readOnlyRepository(b.opt.Root)
	} else if err := l.folder(b.opt.Root, true); err != nil {
		return nil, err
	}
	if watched && !plan {
		if err := l.watched(b.opt.Root); err != nil {
			return nil, err
		}
	}
	for _, dir := range b.shared.writes {
		if inside(b.opt.Root, dir) || !isFolder(dir) {
			continue
		}
		if err := l.folder(dir, exists(filepath.Join(dir, gitFolder))); err != nil {
			return nil, err
		}
	}
	if err := l.infos(); err != nil {
		return nil, err
	}
	return l.entries, nil
}

// HostPath is where a path that a command names lies on the machine: what it calls
// /tmp/x lies in the session's private folder. Whoever reads there must follow no
// link, since commands may have left any.
func (b *Builder) HostPath(path string) string {
	path = filepath.Clean(path)
	for _, own := range b.opt.Added {
		if inside(own, path) {
			return path
		}
	}
	if inside(b.opt.Root, path) {
		return path
	}
	best := ""
	host := path
	for _, p := range b.session.private() {
		if inside(p.Path, path) && len(p.Path) > len(best) {
			best, host = p.Path, filepath.Join(p.Source, strings.TrimPrefix(path, p.Path))
		}
	}
	return host
}

// Close removes the session's private folder with all that commands left in it.
func (b *Builder) Close() error { return b.session.close() }

// inside tells whether path is dir or lies in it. Both are clean and absolute.
func inside(dir, path string) bool {
	if dir == string(filepath.Separator) {
		return filepath.IsAbs(path)
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}
