package watched

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"garuda/internal/userfile"
)

const (
	// maxFolders are looked into, those nearest the root first; maxEntries of each; and
	// maxNested files are watched in them.
	maxFolders = 2000
	maxEntries = 10_000
	maxNested  = 200
	// tick is longer than what a system's clock for files takes from one time to the
	// next: a folder that was changed less than that ago may change and look the same.
	tick = time.Second
)

// instructionNames are the files that tell agents how to work in a folder: they are
// read when something in it is.
func instructionNames() []string { return []string{"AGENTS.md", "CLAUDE.md", "GARUDA.md"} }

// passedOver are folders of packages and of what is built. They come with files of
// others that nobody works in, and change with each installation.
func passedOver() []string {
	return []string{
		".git", "node_modules", "bower_components", "jspm_packages", "vendor", ".venv", "venv", "site-packages", "__pycache__",
		".tox", ".nox", "target", "dist", "build", "out", ".next", ".nuxt", ".gradle", ".cache", ".terraform",
	}
}

// tree knows the folders of a project, so that looking for files of instructions costs
// a look at each folder, and not at all that is in it.
type tree struct {
	root  string
	names []string
	skip  []string

	mu    sync.Mutex
	known map[string]*folder
}

// folder is what was found in one, when it was as info says.
type folder struct {
	info fs.FileInfo
	// young is set where it was changed just before.
	young          bool
	files, folders []string
}

func newTree(root string) *tree {
	return &tree{root: root, names: instructionNames(), skip: passedOver(), known: map[string]*folder{}}
}

// files are the files of instructions below the root's own folder, as paths from the
// root with slashes, those nearest it first.
func (t *tree) files() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	seen := map[string]*folder{}
	for queue := []string{"."}; len(queue) > 0 && len(seen) < maxFolders && len(out) < maxNested; queue = queue[1:] {
		rel := queue[0]
		f := t.folder(rel)
		if f == nil {
			continue
		}
		seen[rel] = f
		if rel != "." {
			for _, name := range f.files {
				out = append(out, path.Join(rel, name))
			}
		}
		for _, name := range f.folders {
			queue = append(queue, path.Join(rel, name))
		}
	}
	t.known = seen
	return out[:min(len(out), maxNested)]
}

// folder is what is in one now; nil for none. Its time of change cannot be set, so a
// file that came or went is seen.
func (t *tree) folder(rel string) *folder {
	at := filepath.Join(t.root, filepath.FromSlash(rel))
	info, err := os.Lstat(at)
	if err != nil || !info.IsDir() {
		return nil
	}
	changed := userfile.ChangedAt(info)
	if f := t.known[rel]; f != nil && !f.young && os.SameFile(f.info, info) && userfile.ChangedAt(f.info).Equal(changed) {
		return f
	}
	f := &folder{info: info, young: time.Since(changed) < tick}
	dir, err := os.Open(at)
	if err != nil {
		return f
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxEntries) // what cannot be listed is not read either
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir() && !slices.Contains(t.skip, name):
			f.folders = append(f.folders, name)
		case slices.Contains(t.names, name):
			f.files = append(f.files, name)
		}
	}
	slices.Sort(f.folders)
	slices.Sort(f.files)
	return f
}
