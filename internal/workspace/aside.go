package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxAside is how many names are tried for what is set aside.
const maxAside = 1000

// SetAside gives an entry below the root, a folder too, another name in the same
// folder, and returns its new path. Nothing is lost, and no link is followed.
func (w *Workspace) SetAside(rel string) (string, error) {
	root, err := os.OpenRoot(w.Root())
	if err != nil {
		return "", fmt.Errorf("set %s aside: %w", rel, err)
	}
	defer root.Close()
	for i := range maxAside {
		to := rel + ".aside"
		if i > 0 {
			to += fmt.Sprintf("-%d", i+1)
		}
		_, err := root.Lstat(filepath.FromSlash(to))
		switch {
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("set %s aside: %w", rel, err)
		}
		if err := root.Rename(filepath.FromSlash(rel), filepath.FromSlash(to)); err != nil {
			return "", fmt.Errorf("set %s aside: %w", rel, err)
		}
		return to, nil
	}
	return "", fmt.Errorf("set %s aside: every other name is taken", rel)
}
