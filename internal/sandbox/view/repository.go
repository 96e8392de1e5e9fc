package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/userfile"
	"garuda/internal/workspace"
)

const (
	gitFolder = ".git"
	// maxGitFile is how much of a settings file of git is read.
	maxGitFile = 1 << 20
	// maxModules and maxModuleDepth bound the search for the repositories of
	// submodules, and maxWorktrees that for worktrees.
	maxModules, maxModuleDepth, maxWorktrees = 2000, 20, 2000
)

// thisFolder is what a repository's commondir says while commands run: that its
// settings lie where they do without it. Git takes them from wherever that file says,
// so a command that could make it would choose what git runs.
const thisFolder = ".\n"

// ErrRepository is in the error of a repository that cannot be locked.
var ErrRepository = errors.New("the repository's own settings cannot be locked")

// repository locks what decides, in the repository of a folder, which programs git
// runs. The repository itself stays writable, so that git works.
func (l *locker) repository(top string, placeholders bool) error {
	dot := filepath.Join(top, gitFolder)
	there, err := plain(top, dot)
	if err != nil {
		return err
	}
	switch {
	case !there || l.b.mayBePlaceholder(dot, ""):
		if isGitFolder(top) { // a bare one
			return l.gitFolder(top, top)
		}
		return l.lock(top, gitFolder, true, placeholders, "no repository is made")
	case isFolder(dot):
		return l.wholeRepository(dot, top)
	}
	l.add(sandbox.Entry{Path: dot, Access: sandbox.Locked, Why: "which repository this is"})
	own, common, err := linked(top, dot)
	if err != nil {
		l.b.leave(dot, err.Error())
		return nil // git finds no repository inside; nothing is opened for it
	}
	return l.linkedRepository(top, own, common)
}

// readOnlyRepository shows the repository of a worktree or submodule in plan mode.
func (l *locker) readOnlyRepository(top string) {
	dot := filepath.Join(top, gitFolder)
	if info, err := os.Lstat(dot); err != nil || !info.Mode().IsRegular() {
		return
	}
	_, common, err := linked(top, dot)
	if err == nil {
		err = l.b.rules.check(common, common)
	}
	if err != nil {
		l.b.leave(dot, err.Error())
		return
	}
	l.add(sandbox.Entry{Path: common, Access: sandbox.ReadOnly, Why: "the repository of " + filepath.Base(top)})
}

// linkedRepository opens and locks the repository of a worktree or submodule, which
// lies outside of its folder: own is this one's part and common what all share.
func (l *locker) linkedRepository(top, own, common string) error {
	if !inside(l.root, common) {
		if err := l.b.rules.check(common, common); err != nil {
			l.b.leave(common, err.Error())
			return nil
		}
		l.add(sandbox.Entry{Path: common, Access: sandbox.Writable, Why: "the repository of " + filepath.Base(top)})
	}
	for _, name := range []string{"commondir", "gitdir"} {
		if err := l.lock(own, name, false, false, "which repository this is"); err != nil {
			return err
		}
	}
	if own != common {
		if err := l.lock(own, "config.worktree", false, true, "settings of git"); err != nil {
			return err
		}
	}
	return l.wholeRepository(common, top)
}

func (l *locker) wholeRepository(dir, top string) error {
	if err := l.gitFolder(dir, top); err != nil {
		return err
	}
	if err := l.modules(filepath.Join(dir, "modules"), 0, new(int)); err != nil {
		return err
	}
	return l.worktrees(dir)
}

// gitFolder locks one repository's hooks, settings and info, and what the settings
// name in the project: another folder of hooks, included files.
func (l *locker) gitFolder(dir, top string) error {
	for _, part := range []struct {
		name   string
		folder bool
		why    string
	}{{"hooks", true, "hooks of git"}, {"config", false, "settings of git"}, {"config.worktree", false, "settings of git"}} {
		if err := l.lock(dir, part.name, part.folder, true, part.why); err != nil {
			return err
		}
	}
	if err := l.lockAs(dir, sandbox.Entry{Path: "commondir", Text: thisFolder, Why: "where git's settings lie"}, true); err != nil {
		return err
	}
	info := filepath.Join(dir, "info")
	there, err := plain(dir, info)
	if err != nil {
		return err
	}
	l.info = append(l.info, gitInfo{path: info, missing: !there || l.b.mayBePlaceholder(info, ""), top: top})
	return l.named(dir, top)
}

// named locks the files in the project that a repository's settings name, and that
// git would take commands from.
func (l *locker) named(dir, top string) error {
	data, err := userfile.Read(filepath.Join(dir, "config"), maxGitFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read git's settings in %s: %w", dir, err)
	}
	text := string(data)
	type name struct{ path, from string }
	var names []name
	for _, p := range workspace.GitConfigValues(text, "core", "hookspath") {
		names = append(names, name{p, top})
	}
	for _, section := range []string{"include", "includeif"} {
		for _, p := range workspace.GitConfigValues(text, section, "path") {
			names = append(names, name{p, dir})
		}
	}
	for _, n := range names {
		path := n.path
		if path == "" || strings.HasPrefix(path, "~") {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(n.from, path)
		}
		path = filepath.Clean(path)
		if path == top || !inside(top, path) {
			continue
		}
		if err := l.lock(top, path[len(top)+1:], n.from == top, true, "named in git's settings"); err != nil {
			return err
		}
	}
	return nil
}

// isGitFolder tells whether git takes a folder for a repository.
func isGitFolder(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && isFolder(filepath.Join(dir, "objects")) && isFolder(filepath.Join(dir, "refs"))
}

// modules locks the repositories of submodules, whose names may have slashes.
func (l *locker) modules(dir string, depth int, found *int) error {
	if !isFolder(dir) {
		if exists(dir) {
			return fmt.Errorf("%s: %w: it is no folder", dir, ErrRepository)
		}
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the submodules: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: %w: put a folder of its own there, or run the command outside the sandbox", path, ErrLink)
		}
		if !e.IsDir() {
			continue
		}
		if *found++; *found > maxModules || depth > maxModuleDepth {
			return fmt.Errorf("%s: %w: there are more than %d folders, or more than %d levels", dir, ErrRepository, maxModules, maxModuleDepth)
		}
		next := path
		if exists(filepath.Join(path, "HEAD")) || exists(filepath.Join(path, "config")) {
			if err := l.gitFolder(path, path); err != nil {
				return err
			}
			next = filepath.Join(path, "modules")
		}
		if err := l.modules(next, depth+1, found); err != nil {
			return err
		}
	}
	return nil
}

// worktrees locks, of the worktrees outside the project, what says where their shared
// settings lie. Those inside are removed and moved by git as usual.
func (l *locker) worktrees(common string) error {
	dir := filepath.Join(common, "worktrees")
	if there, err := plain(common, dir); err != nil || !there {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list the worktrees: %w", err)
	}
	if len(entries) > maxWorktrees {
		return fmt.Errorf("%s: %w: there are more than %d", dir, ErrRepository, maxWorktrees)
	}
	for _, e := range entries {
		own := filepath.Join(dir, e.Name())
		if target, err := gitPath(filepath.Join(own, "gitdir"), own, ""); err == nil && inside(l.root, target) {
			continue
		}
		for _, name := range []string{"commondir", "gitdir", "config.worktree"} {
			if err := l.lock(own, name, false, false, "a worktree elsewhere"); err != nil {
				return err
			}
		}
	}
	return nil
}

// linked follows a .git file. The folder that it names must name this one in turn, as
// git writes it: else a project could have any folder of the machine opened.
func linked(top, dot string) (own, common string, err error) {
	own, err = gitPath(dot, top, "gitdir: ")
	if err != nil {
		return "", "", err
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return "", "", err
	}
	common = own
	if exists(filepath.Join(own, "commondir")) {
		if common, err = gitPath(filepath.Join(own, "commondir"), own, ""); err != nil {
			return "", "", err
		}
		if common, err = filepath.EvalSymlinks(common); err != nil {
			return "", "", err
		}
		back, err := gitPath(filepath.Join(own, "gitdir"), own, "")
		if err != nil || realPath(back) != dot || filepath.Dir(filepath.Dir(own)) != common {
			return "", "", fmt.Errorf("%s names %s, which is no worktree's folder that leads back to it", dot, own)
		}
	} else if !leadsBack(own, top) {
		return "", "", fmt.Errorf("%s names %s, whose settings do not lead back to it", dot, own)
	}
	if !isGitFolder(common) {
		return "", "", fmt.Errorf("%s names %s, which is no repository", dot, common)
	}
	return own, common, nil
}

// leadsBack tells whether a submodule's repository names its work tree.
func leadsBack(own, top string) bool {
	data, err := userfile.Read(filepath.Join(own, "config"), maxGitFile)
	if err != nil {
		return false
	}
	trees := workspace.GitConfigValues(string(data), "core", "worktree")
	if len(trees) == 0 {
		return false
	}
	tree := trees[len(trees)-1]
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(own, tree)
	}
	return realPath(tree) == top
}

// gitPath reads a file of git's that holds one path, relative to dir.
func gitPath(file, dir, prefix string) (string, error) {
	data, err := userfile.Read(file, maxGitFile)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	path, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), prefix)
	if !ok || path == "" {
		return "", fmt.Errorf("read %s: it names no path", file)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path), nil
}
