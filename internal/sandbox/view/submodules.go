package view

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"garuda/internal/userfile"
	"garuda/internal/workspace"
)

// submodules locks which repositories the submodules are that .gitmodules or the
// project's index names. Git outside looks into each of them for its status, and runs
// what their settings say, so none may be replaced by one that a command made.
func (l *locker) submodules(top string) error {
	paths, err := namedSubmodules(top)
	if err != nil {
		return err
	}
	if top == l.b.opt.Root {
		paths = append(paths, l.b.linkedSubmodules()...)
	}
	slices.Sort(paths)
	for _, rel := range slices.Compact(paths) {
		if err := l.submodule(top, rel); err != nil {
			return err
		}
	}
	return nil
}

// namedSubmodules are those that .gitmodules names.
func namedSubmodules(top string) ([]string, error) {
	file := filepath.Join(top, ".gitmodules")
	if there, err := plain(top, file); err != nil || !there {
		if errors.Is(err, ErrLink) {
			return nil, nil // git does not follow it
		}
		return nil, err
	}
	data, err := userfile.Read(file, maxGitFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which submodules there are: %w", err)
	}
	paths := workspace.GitConfigValues(string(data), "submodule", "path")
	if len(paths) > maxModules {
		return nil, fmt.Errorf("%s: %w: it names more than %d submodules", file, ErrRepository, maxModules)
	}
	return inWorkTree(paths), nil
}

// linkedSubmodules are those that the project's index names, and theirs that are there.
// Where that cannot be told a command must still be able to mend the index; what it
// plants is looked for afterwards (package watched).
func (b *Builder) linkedSubmodules() []string {
	paths, err := b.shared.modules.Paths()
	if err != nil {
		b.leave(filepath.Join(b.opt.Root, gitFolder, "index"), err.Error())
		return nil
	}
	if len(paths) == 0 {
		return nil
	}
	found, err := b.shared.modules.Repositories()
	if err != nil {
		b.leave(filepath.Join(b.opt.Root, gitFolder, "index"), err.Error())
	}
	paths = slices.Clone(paths)
	for _, r := range found {
		paths = append(paths, r.Path)
	}
	return inWorkTree(paths)
}

// inWorkTree takes paths from the top of a work tree as the system writes them, and
// leaves out what lies elsewhere.
func inWorkTree(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, rel := range paths {
		rel = filepath.Clean(filepath.FromSlash(rel))
		if rel != "." && filepath.IsLocal(rel) && !inside(string(filepath.Separator)+gitFolder, string(filepath.Separator)+rel) {
			out = append(out, rel)
		}
	}
	return out
}

func (l *locker) submodule(top, rel string) error {
	sub := filepath.Join(top, rel)
	switch there, err := plain(top, sub); {
	case errors.Is(err, ErrLink):
		return nil // git takes nothing behind a link for a submodule
	case err != nil:
		return err
	case there && !isFolder(sub):
		return nil
	}
	if dot := filepath.Join(sub, gitFolder); isFolder(dot) && !l.b.mayBePlaceholder(dot, "") {
		return l.wholeRepository(dot, sub)
	}
	return l.lock(top, filepath.ToSlash(filepath.Join(rel, gitFolder)), true, true, "which repository this submodule is")
}
