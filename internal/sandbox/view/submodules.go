package view

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"garuda/internal/userfile"
	"garuda/internal/workspace"
)

// submodules locks which repositories the submodules that .gitmodules names are. Git
// outside looks into each of them for its status, and runs what their settings say,
// so none may be replaced by one that a command made.
func (l *locker) submodules(top string) error {
	file := filepath.Join(top, ".gitmodules")
	if there, err := plain(top, file); err != nil || !there {
		if errors.Is(err, ErrLink) {
			return nil // git does not follow it
		}
		return err
	}
	data, err := userfile.Read(file, maxGitFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read which submodules there are: %w", err)
	}
	paths := workspace.GitConfigValues(string(data), "submodule", "path")
	if len(paths) > maxModules {
		return fmt.Errorf("%s: %w: it names more than %d submodules", file, ErrRepository, maxModules)
	}
	for _, rel := range paths {
		rel = filepath.Clean(rel)
		if rel == "." || !filepath.IsLocal(rel) || inside(filepath.Join(top, gitFolder), filepath.Join(top, rel)) {
			continue
		}
		if err := l.submodule(top, rel); err != nil {
			return err
		}
	}
	return nil
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
