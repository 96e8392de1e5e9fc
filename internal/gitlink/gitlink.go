// Package gitlink finds the repositories that git looks into by itself when it is run
// in a project: those that the project's index names as submodules, whether or not
// .gitmodules does, and those of their indexes. For its status git runs what the
// settings and hooks of each say, so a command that could put one there could have
// anything run by the next git status outside the sandbox.
//
// It only reads. It runs nothing, follows no link, decides nothing, and does not find
// repositories that no index names: git passes those over until somebody enters them.
package gitlink

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"garuda/internal/userfile"
)

// Limits of what is looked at.
const (
	maxRepositories = 2000
	maxHooks        = 1000
	maxSettings     = 1 << 20
)

// ErrTooMany is in the error for a project with more submodules than are looked into.
var ErrTooMany = fmt.Errorf("it has more than %d submodules", maxRepositories)

// Repository is a submodule that is there.
type Repository struct {
	// Path is its folder, from the project's root, with slashes.
	Path string
	// Why says what of it makes git run a program, or may; "" for one that is harmless.
	Why string
	// Sum differs where what Why speaks of was changed.
	Sum string
}

// Finder looks at one project. Its methods may be called at once.
type Finder struct {
	root string

	mu sync.Mutex
	// seen is what indexes held, so that one that was not changed is not read again.
	seen map[string]seenIndex
}

type seenIndex struct {
	info  fs.FileInfo
	links []string
}

// tick is longer than what a system's clock for files takes from one time to the next.
// A file that was changed less than that ago may be changed again and look the same.
const tick = time.Second

// of tells whether it is the same file, and as it was.
func (s *seenIndex) of(now fs.FileInfo) bool {
	return os.SameFile(s.info, now) && s.info.Size() == now.Size() && s.info.ModTime().Equal(now.ModTime()) && userfile.ChangedAt(s.info).Equal(userfile.ChangedAt(now))
}

// NewFinder makes the finder of a project, whose root is its real path.
func NewFinder(root string) *Finder { return &Finder{root: root, seen: map[string]seenIndex{}} }

// Paths are the submodules that the project's own index names, from the root, whether
// or not there is something.
func (f *Finder) Paths() ([]string, error) {
	gitDir, ok := folderOf(f.root)
	if !ok {
		return nil, nil
	}
	return f.links(gitDir)
}

// links are the submodules in an index, which may have been read before.
func (f *Finder) links(gitDir string) ([]string, error) {
	file := filepath.Join(gitDir, "index")
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at git's index: %w", err)
	}
	f.mu.Lock()
	have, ok := f.seen[file]
	f.mu.Unlock()
	if ok && have.of(info) {
		return have.links, nil
	}
	settings, err := userfile.Read(filepath.Join(gitDir, "config"), maxSettings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read git's settings in %s: %w", gitDir, err)
	}
	links, split, err := index(gitDir, usesSHA256(string(settings)))
	if err != nil {
		return nil, err
	}
	if !split && time.Since(userfile.ChangedAt(info)) > tick {
		f.mu.Lock()
		f.seen[file] = seenIndex{info, links}
		f.mu.Unlock()
	}
	return links, nil
}

// Repositories are the submodules that are there, and theirs, in the order in which
// git comes to them. An index that is not understood is an error, but for that of a
// submodule, which is no harmless one then.
func (f *Finder) Repositories() ([]Repository, error) {
	first, err := f.Paths()
	if err != nil {
		return nil, err
	}
	var out []Repository
	seen := map[string]bool{}
	for queue := first; len(queue) > 0; queue = queue[1:] {
		rel := path.Clean(queue[0])
		if seen[rel] || rel == "." || !filepath.IsLocal(filepath.FromSlash(rel)) || !f.plain(rel) {
			continue // git takes nothing behind a link for a submodule
		}
		if seen[rel] = true; len(seen) > maxRepositories {
			return nil, fmt.Errorf("look into the submodules of %s: %w", f.root, ErrTooMany)
		}
		r, more := f.look(rel)
		if r == nil {
			continue
		}
		out = append(out, *r)
		for _, name := range more {
			queue = append(queue, path.Join(rel, name))
		}
	}
	return out, nil
}

// plain tells whether every part of a path is a folder.
func (f *Finder) plain(rel string) bool {
	at := f.root
	for part := range strings.SplitSeq(rel, "/") {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// look looks at what lies at a submodule's place; nil for no repository. more are the
// submodules in its index.
func (f *Finder) look(rel string) (r *Repository, more []string) {
	top := filepath.Join(f.root, filepath.FromSlash(rel))
	if _, err := os.Lstat(filepath.Join(top, ".git")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	r = &Repository{Path: rel}
	sum := sha256.New()
	gitDir, ok := folderOf(top)
	if !ok {
		r.Why = "its .git is neither a repository's folder nor a file that names one"
		return r, nil
	}
	r.Why = f.programs(gitDir, func(data []byte) { sum.Write(data); sum.Write([]byte{0}) })
	if r.Why != "" {
		r.Sum = hex.EncodeToString(sum.Sum(nil))
	}
	more, err := f.links(gitDir)
	if err != nil && r.Why == "" {
		r.Why = err.Error()
	}
	return r, more
}

// programs says what in a repository's folder has git run something. note gets what
// was looked at.
func (f *Finder) programs(gitDir string, note func([]byte)) string {
	settings, err := readPlain(filepath.Join(gitDir, "config"))
	if err != nil {
		return "its settings cannot be read: " + err.Error()
	}
	note(settings)
	if what := offending(string(settings)); what != "" {
		return "it has a setting that may run a program: " + what
	}
	shared, err := readPlain(filepath.Join(gitDir, "commondir"))
	if err != nil {
		return "where its settings lie cannot be read: " + err.Error()
	}
	// A placeholder of the sandbox says ".".
	if at := strings.TrimRight(string(shared), "\n"); at != "" && at != "." && !f.own(absolute(gitDir, at)) {
		return "it takes its settings from another repository: " + at
	}
	worktree, err := readPlain(filepath.Join(gitDir, "config.worktree"))
	if err != nil {
		return "its settings cannot be read: " + err.Error()
	}
	note(worktree)
	if what := offending(string(worktree)); what != "" {
		return "it has a setting that may run a program: " + what
	}
	return hooks(filepath.Join(gitDir, "hooks"), note)
}

// own tells whether a folder is the project's own repository, whose settings no
// command changes.
func (f *Finder) own(dir string) bool {
	own, ok := folderOf(f.root)
	if !ok {
		return false
	}
	if shared, err := readPlain(filepath.Join(own, "commondir")); err == nil && len(shared) > 0 {
		own = absolute(own, strings.TrimRight(string(shared), "\n"))
	}
	return same(own, dir)
}

func hooks(dir string, note func([]byte)) string {
	folder, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return "its hooks cannot be listed: " + err.Error()
	}
	defer folder.Close()
	entries, err := folder.ReadDir(maxHooks)
	if err != nil && len(entries) > 0 || len(entries) == maxHooks {
		return "its hooks cannot be listed"
	}
	why := ""
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		if info, err := e.Info(); err == nil {
			note(fmt.Appendf(nil, "%s %d %s", e.Name(), info.Size(), info.ModTime()))
		}
		why = "it has a hook: " + e.Name()
	}
	return why
}

// folderOf is the folder of a work tree's repository: .git, or what a file .git names.
func folderOf(top string) (string, bool) {
	dot := filepath.Join(top, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		return dot, true
	}
	text, err := readPlain(dot)
	target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if err != nil || !ok || target == "" {
		return "", false
	}
	return absolute(top, target), true
}

func absolute(base, at string) string {
	if filepath.IsAbs(at) {
		return at
	}
	return filepath.Join(base, at)
}

// readPlain reads a file of settings that is no link; nothing where there is none.
func readPlain(file string) ([]byte, error) {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", file, userfile.ErrNotRegular)
	}
	return userfile.Read(file, maxSettings)
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
