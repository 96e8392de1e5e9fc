package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// missingCache notes a cache in the home folder that is not there yet. What commands
// put there lies in the session's own home, and is moved to its place with the
// session's end: the user's home is left as it is until there is something to keep.
//
// Where that cannot be moved, or nothing stands for the home, the cache is made, and
// removed with the session's end if it is empty then.
func (b *Builder) missingCache(path string) {
	if b.rules.home == "" || !inside(b.rules.home, path) || exists(path) {
		return
	}
	real := realPath(path)
	if b.rules.check(path, real) != nil || !inside(b.rules.home, real) {
		return
	}
	if !b.opt.InPlace && b.session.homeAt == b.rules.home && sameDevice(b.session.dir, b.rules.home) {
		b.session.caches = append(b.session.caches, cache{rel: path[len(b.rules.home)+1:], to: real})
		return
	}
	made := missingAbove(real)
	if os.MkdirAll(real, 0o700) == nil { // without it the cache lasts for the session
		b.session.made = append(b.session.made, made...)
	}
}

// cache is a place in the session's own home that is to be moved to the user's.
type cache struct{ rel, to string }

// keep moves what commands left in a missing cache to its place. Nothing runs any
// more. No link is followed in the session's home, and nothing in the user's is
// replaced: another session may have been first.
func (s *session) keep() error {
	var err error
	for _, c := range s.caches {
		from := filepath.Join(s.home, c.rel)
		if there, perr := plain(s.home, from); perr != nil || !there || !isFolder(from) || isEmpty(from) || exists(c.to) {
			continue
		}
		made := missingAbove(filepath.Dir(c.to))
		merr := os.MkdirAll(filepath.Dir(c.to), 0o700)
		if merr == nil {
			merr = os.Rename(from, c.to)
		}
		if merr != nil {
			removeEmpty(made)
		}
		if merr != nil && !errors.Is(merr, fs.ErrExist) {
			err = errors.Join(err, fmt.Errorf("keep what commands left in %s: %w", c.to, merr))
		}
	}
	removeEmpty(s.made)
	return err
}

// missing are those of a tool's usual places that are not there.
func (b *Builder) missing(places []string) []string {
	var out []string
	for _, p := range places {
		if path := b.expand(p); path != "" {
			out = append(out, missingAbove(path)...)
		}
	}
	return out
}

// missingAbove are a folder and those above it that are not there.
func missingAbove(path string) []string {
	var out []string
	for ; !exists(path) && filepath.Dir(path) != path; path = filepath.Dir(path) {
		out = append(out, path)
	}
	return out
}

// removeEmpty removes folders in which there is nothing.
func removeEmpty(folders []string) {
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) }) // what lies in another first
	for _, dir := range folders {
		if isFolder(dir) {
			_ = os.Remove(dir) // it fails where there is something
		}
	}
}

func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(1)
	return len(names) == 0
}
