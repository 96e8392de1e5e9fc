package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// linkResolver follows links through the operating system. The root was followed
// once, when the engine was made, and is not walked again for every path in it.
type linkResolver struct{ root place }

// maxLinks is how many links one path may lead through, as in the kernel.
const maxLinks = 40

// Real follows a path part by part, since after a link ".." does not lead back.
func (r linkResolver) Real(path string) (string, error) {
	volume := filepath.VolumeName(path)
	sep := string(filepath.Separator)
	done, rest := volume+sep, path[len(volume):]
	for _, root := range []string{r.root.given, r.root.real} {
		if below, ok := strings.CutPrefix(path, root+sep); ok && root != "" {
			done, rest = r.root.real, below
			break
		}
	}
	todo := strings.Split(filepath.ToSlash(rest), "/")
	links, missing := 0, false
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if missing {
				return "", errors.New("the path goes up from a folder that does not exist")
			}
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		if missing {
			done = next
			continue
		}
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = true
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0 && ofProcess(done):
			return "", errOfProcess
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", errors.New("the path leads through too many links")
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", err
			}
			if filepath.IsAbs(target) {
				done = filepath.VolumeName(target) + sep
				target = target[len(filepath.VolumeName(target)):]
			}
			todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
			continue
		}
		done = next
	}
	return done, nil
}

// errOfProcess is about links that lead elsewhere for each process that follows them.
var errOfProcess = errors.New("it leads where the process that opens it stands, which cannot be told from here")

// ofProcess tells the folders in /proc whose links (cwd, root, exe, fd/N) are the
// looking process's own, or another process's.
func ofProcess(dir string) bool {
	rest, ok := strings.CutPrefix(dir, "/proc/")
	return ok && rest != ""
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// below gives the part of a path under a folder, with slashes.
func below(path, dir string, fold bool) (string, bool) {
	path, dir = filepath.ToSlash(path), strings.TrimSuffix(filepath.ToSlash(dir), "/")
	if len(path) < len(dir) || !sameName(path[:len(dir)], dir, fold) {
		return "", false
	}
	rest := path[len(dir):]
	if rest == "" {
		return ".", true
	}
	if rest[0] != '/' {
		return "", false
	}
	return rest[1:], true
}

func sameName(a, b string, fold bool) bool {
	if fold {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// memo remembers for one decision where paths lead: each is followed once, and all
// rows see the same.
type memo map[string]resolved

type resolved struct {
	real string
	err  error
}

func (e *Engine) follow(m memo, path string) (string, error) {
	r, ok := m[path]
	if !ok {
		r.real, r.err = e.cfg.Resolver.Real(path)
		m[path] = r
	}
	return r.real, r.err
}

// inside tells whether a path lies, on its real path, in the root or an added folder.
func (e *Engine) inside(m memo, path string) bool {
	real, err := e.follow(m, path)
	if err != nil {
		return false
	}
	for _, dir := range e.places {
		if _, ok := below(real, dir, e.cfg.FoldCase); ok {
			return true
		}
	}
	return false
}

// spelling is one way to write where a file lies.
type spelling struct {
	abs string
	// rel is the path from the root or an added folder, "" when it lies outside.
	rel string
	// fromRoot is set when rel is from the root itself.
	fromRoot bool
}

// target is a file that a call reads or writes, in all its spellings.
type target struct {
	shown     string
	spellings []spelling
	// unknown is set when the path cannot be told; nothing covers it.
	unknown bool
	// byTool is set for a file tool's own path, redirect for a redirection's.
	byTool, redirect bool
}

func (e *Engine) spell(abs string) spelling {
	s := spelling{abs: filepath.ToSlash(filepath.Clean(abs))}
	for i := range e.roots {
		for _, dir := range []string{e.roots[i], e.places[i]} {
			if rel, ok := below(s.abs, dir, e.cfg.FoldCase); ok {
				s.rel, s.fromRoot = rel, i == 0
				return s
			}
		}
	}
	return s
}

// target puts the spellings of a path together: as written and as it really is.
func (e *Engine) target(m memo, path, real string) target {
	t := target{shown: path}
	t.add(e.spell(path))
	if real == "" {
		var err error
		if real, err = e.follow(m, path); err != nil {
			t.unknown = true
			return t
		}
	}
	t.add(e.spell(real))
	if t.spellings[0].rel != "" {
		t.shown = t.spellings[0].rel
	}
	return t
}

func (t *target) add(s spelling) {
	for _, have := range t.spellings {
		if have.abs == s.abs {
			return
		}
	}
	t.spellings = append(t.spellings, s)
}

// insideRoot tells whether every spelling lies in the root itself.
func (t *target) insideRoot() bool {
	if t.unknown {
		return false
	}
	for _, s := range t.spellings {
		if s.rel == "" || !s.fromRoot {
			return false
		}
	}
	return true
}
