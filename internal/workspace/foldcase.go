package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
)

// maxCaseNames is how many names of a folder are looked at to tell whether case counts.
const maxCaseNames = 100

// IgnoresCase tells whether names that differ only in case are one file in the root.
// On macOS and Windows they count as one wherever the root lies.
func (w *Workspace) IgnoresCase() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	root := w.Root()
	names := []string(nil)
	if dir, err := os.Open(root); err == nil {
		names, _ = dir.Readdirnames(maxCaseNames) // none tells nothing
		_ = dir.Close()
	}
	if told, ignores := ignoresCase(root, names, sameEntry); told {
		return ignores
	}
	_, ignores := ignoresCase(filepath.Dir(root), []string{filepath.Base(root)}, sameEntry)
	return ignores
}

// ignoresCase asks whether a name of a folder, written in the other case, is the same
// entry; told is false where no name has two cases.
func ignoresCase(dir string, names []string, same func(a, b string) bool) (told, ignores bool) {
	for _, name := range names {
		if other := swapCase(name); other != name {
			return true, same(filepath.Join(dir, name), filepath.Join(dir, other))
		}
	}
	return false, false
}

func sameEntry(a, b string) bool {
	one, err := os.Lstat(a)
	if err != nil {
		return false
	}
	two, err := os.Lstat(b)
	return err == nil && os.SameFile(one, two)
}

// swapCase turns the letters of ASCII around: other letters differ between systems.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r > unicode.MaxASCII:
			return r
		case unicode.IsUpper(r):
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, name)
}
