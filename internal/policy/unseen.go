package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"garuda/internal/policy/shellscan"
)

// maxWalk is how many names are looked at to tell whether a folder holds what
// the team's policy hides. A folder of more counts as one that does.
const maxWalk = 20_000

// notReadOnly says why a command does not count as one that certainly just reads:
// what the shell analysis has against it, or that it would show what the team's
// policy hides without naming it. "" when nothing stands against it.
func (s *situation) notReadOnly(script *shellscan.Script, c *shellscan.Command) string {
	if why := script.ReadOnly(c); why != "" || len(s.e.team.paths) == 0 || s.isolated {
		return why
	}
	for _, w := range script.Walks(c) {
		if w.Commits {
			return "git may show what the team policy hides"
		}
		for _, dir := range w.Paths {
			if s.e.mayHoldHidden(s.memo, dir, w.Deep) {
				return "it may show what the team policy hides"
			}
		}
	}
	return ""
}

// mayHoldHidden tells whether a hidden path lies in a folder, or, with deep, anywhere
// below it. What cannot be looked at might.
func (e *Engine) mayHoldHidden(m memo, dir string, deep bool) bool {
	real, err := e.follow(m, dir)
	if err != nil {
		return true
	}
	left := e.walkLimit
	err = filepath.WalkDir(real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		left--
		if left < 0 || e.hidden(m, path, entry.Type()&fs.ModeSymlink != 0) {
			return errHidden
		}
		if entry.IsDir() && path != real && (!deep || entry.Name() == ".git") {
			return fs.SkipDir
		}
		return nil
	})
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

var errHidden = errors.New("the team policy hides it")

// hidden tells whether the team's policy hides a path as it is written or, for a
// link, where it leads. The folder that it lies in is where it seems to be.
func (e *Engine) hidden(m memo, path string, link bool) bool {
	if e.team.hides(e.spell(path)) != nil {
		return true
	}
	if !link {
		return false
	}
	real, err := e.follow(m, path)
	return err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && e.team.hides(e.spell(real)) != nil
}
