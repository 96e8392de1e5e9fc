package workspace

import (
	"path/filepath"
	"strings"

	"garuda/internal/workspace/ignore"
)

// What is ignored, in the order in which it is asked; the first list that has
// any pattern for a path decides:
//
//	.garudaignore of the nearest folder first, up to the root
//	.gitignore the same way, and on up to the top of the repository
//	.git/info/exclude, then git's global excludes
//	node_modules
//
// .git is always ignored. What lies in an ignored folder is ignored.
const (
	gitIgnore    = ".gitignore"
	garudaIgnore = ".garudaignore"
	nodeModules  = "node_modules"
)

// rules are the lists in force in one folder.
type rules struct {
	up     *rules // of the folder above, or nil at the root
	base   *baseRules
	at     string // the folder, with a slash at its end; empty at the root
	git    *ignore.List
	garuda *ignore.List
}

// baseRules are those from outside the root.
type baseRules struct {
	above  []outerList // .gitignore files above the root, the nearest first
	common []outerList // info/exclude and the global excludes
}

// outerList is a list that belongs to a folder above the root, or to the root.
type outerList struct {
	list *ignore.List
	at   string // the root as that folder sees it, with a slash, or empty
}

// baseRulesOf reads the lists from outside one of the workspace's folders. They
// are few small files, read again for every walk, so that no cache can be stale.
func (w *Workspace) baseRulesOf(m *mount) *baseRules {
	b := &baseRules{}
	top := gitTop(m.real)
	common, inTop := "", ""
	if top != "" {
		common = gitCommonDir(top)
		if rel, ok := below(top, m.real); ok && rel != "." {
			inTop = rel + "/"
		}
		for dir, at := m.real, ""; dir != top; {
			at = filepath.Base(dir) + "/" + at
			dir = filepath.Dir(dir)
			b.above = appendList(b.above, filepath.Join(dir, gitIgnore), at)
		}
		b.common = appendList(b.common, filepath.Join(common, "info", "exclude"), inTop)
	}
	if file := globalExcludes(w.opt, common); file != "" {
		b.common = appendList(b.common, file, inTop)
	}
	return b
}

func appendList(to []outerList, file, at string) []outerList {
	if list := ignore.Parse(readPlain(file), foldsCase); !list.Empty() {
		to = append(to, outerList{list, at})
	}
	return to
}

func (l outerList) match(rel string, isDir bool) ignore.Verdict {
	if l.list.LooksAtPaths() && l.at != "" {
		rel = l.at + rel
	}
	return l.list.Match(rel, isDir)
}

// in returns the rules inside a folder, given which ignore files it holds.
func (r *rules) in(m *mount, dir string, hasGit, hasGaruda bool) *rules {
	if !hasGit && !hasGaruda {
		return r
	}
	next := &rules{up: r, base: r.base}
	if dir != "." {
		next.at = dir + "/"
	}
	if hasGit {
		next.git = readList(m, next.at+gitIgnore)
	}
	if hasGaruda {
		next.garuda = readList(m, next.at+garudaIgnore)
	}
	return next
}

func readList(m *mount, rel string) *ignore.List {
	f, info, err := m.dir.open(rel)
	if err != nil {
		return nil
	}
	defer f.Close()
	raw, err := readUpTo(f, info.Size, maxIgnoreFile)
	if err != nil {
		return nil
	}
	return ignore.Parse(raw, foldsCase)
}

// ignored gives the verdict on one path below the root whose folder is not ignored.
func (r *rules) ignored(rel, name string, isDir bool) bool {
	if name == ".git" {
		return true
	}
	for l := r; l != nil; l = l.up {
		if l.garuda != nil {
			if v := l.garuda.Match(rel[len(l.at):], isDir); v != ignore.None {
				return v == ignore.Ignore
			}
		}
	}
	for l := r; l != nil; l = l.up {
		if l.git != nil {
			if v := l.git.Match(rel[len(l.at):], isDir); v != ignore.None {
				return v == ignore.Ignore
			}
		}
	}
	for _, lists := range [...][]outerList{r.base.above, r.base.common} {
		for _, l := range lists {
			if v := l.match(rel, isDir); v != ignore.None {
				return v == ignore.Ignore
			}
		}
	}
	return isDir && name == nodeModules
}

// Ignored reports whether a path is ignored, by itself or by a folder above it.
func (w *Workspace) Ignored(p Path) bool {
	if p.rel == "." {
		return false
	}
	r := &rules{base: w.baseRulesOf(p.mount)}
	dir := "."
	names := strings.Split(p.rel, "/")
	for i, name := range names {
		r = r.in(p.mount, dir, true, true)
		rel := strings.Join(names[:i+1], "/")
		isDir := i+1 < len(names) || p.Exists && p.Info.Kind == KindFolder
		if r.ignored(rel, name, isDir) {
			return true
		}
		dir = rel
	}
	return false
}
