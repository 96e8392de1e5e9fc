// Package workspace is the only way from a tool to the project's files: roots
// and how a path is resolved inside them, what is ignored, walking, the text
// codec, what a session has read, and writing in one step.
//
// A path is resolved to a real path once, and every later use of it starts at
// the root's directory handle and follows no link at all. What a decision was
// made about is therefore what is opened: a folder swapped for a link in
// between is an error and never a way out, not even to another file inside.
//
// It never decides a permission, never starts a process, never shows anything,
// and never keeps an index: each call looks at the disk.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Options are what a workspace must know about its surroundings.
type Options struct {
	// Home is the user's home folder, absolute; empty when there is none.
	Home string
	// GarudaHome is the folder of Garuda's own state, absolute; may not exist.
	GarudaHome string
	// ConfigHome is $XDG_CONFIG_HOME; empty means Home/.config.
	ConfigHome string
}

// Workspace is a root folder and the folders added to it. It is safe for
// concurrent use.
type Workspace struct {
	opt    Options
	mounts []*mount // the root first
	locks  pathLocks
	swept  sweptFolders
}

// mount is one folder that may be reached.
type mount struct {
	real  string // the real path, by which everything is named
	given string // as the user wrote it, made absolute
	dir   folder
}

// Open opens the root and the added folders. Each must be an existing folder
// that CheckRoot accepts; the error says which is not and why.
func Open(root string, added []string, opt Options) (*Workspace, error) {
	w := &Workspace{opt: opt}
	for i, path := range append([]string{root}, added...) {
		what := "root"
		if i > 0 {
			what = "added folder"
		}
		m, err := openMount(path, opt)
		if err != nil {
			w.Close()
			return nil, fmt.Errorf("open %s %s: %w", what, path, err)
		}
		w.mounts = append(w.mounts, m)
	}
	return w, nil
}

func openMount(path string, opt Options) (*mount, error) {
	given, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, plainCause(err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, plainCause(err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("it is not a folder")
	}
	if err := CheckRoot(real, opt); err != nil {
		return nil, err
	}
	dir, err := openFolder(real)
	if err != nil {
		return nil, plainCause(err)
	}
	return &mount{real: real, given: given, dir: dir}, nil
}

// Close gives the directory handles back. Nothing else may be used afterwards.
func (w *Workspace) Close() {
	for _, m := range w.mounts {
		m.dir.close()
	}
}

// Root is the real path of the root.
func (w *Workspace) Root() string { return w.mounts[0].real }

// Roots are the real paths of the root and, after it, of the added folders.
func (w *Workspace) Roots() []string {
	out := make([]string, len(w.mounts))
	for i, m := range w.mounts {
		out[i] = m.real
	}
	return out
}

// Rel is how an absolute path is shown: relative to the root with slashes, or
// absolute when it lies elsewhere.
func (w *Workspace) Rel(abs string) string {
	rel, ok := below(w.Root(), abs)
	if !ok {
		return filepath.ToSlash(abs)
	}
	return rel
}

// foldsCase is whether file names that differ only in case are usually the same
// file on this system.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// below returns the slash path of abs relative to dir ("." for dir itself), and
// whether abs lies in it. Both are clean and absolute.
func below(dir, abs string) (string, bool) {
	n := len(dir)
	if len(abs) < n || !samePath(abs[:n], dir) {
		return "", false
	}
	rest := abs[n:]
	switch {
	case rest == "":
		return ".", true
	case os.IsPathSeparator(dir[n-1]):
		return filepath.ToSlash(rest), true
	case os.IsPathSeparator(rest[0]):
		return filepath.ToSlash(rest[1:]), true
	}
	return "", false
}

func samePath(a, b string) bool {
	return a == b || foldsCase && strings.EqualFold(a, b)
}

// pathLocks lets one writer at a time change a file, by its real path.
type pathLocks struct {
	mu   sync.Mutex
	held map[string]*pathLock
}

type pathLock struct {
	sync.Mutex
	users int
}

// Lock waits until no other call of this workspace is changing the file, and
// returns what ends the lock. It binds only those who ask for it.
func (w *Workspace) Lock(p Path) (unlock func()) {
	l := &w.locks
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*pathLock{}
	}
	pl := l.held[p.Real]
	if pl == nil {
		pl = &pathLock{}
		l.held[p.Real] = pl
	}
	pl.users++
	l.mu.Unlock()
	pl.Lock()
	return func() {
		pl.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if pl.users--; pl.users == 0 {
			delete(l.held, p.Real)
		}
	}
}
