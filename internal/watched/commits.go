package watched

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/userfile"
)

// Limits of what is read of a repository. What lies beyond is not known, and a
// change that comes with it is asked about.
const (
	maxRefs    = 20_000
	maxRefFile = 8 << 20
)

// gitFolders are the folder of the work tree's own state (HEAD) and the one with
// the refs; they differ where the project is one of several work trees. Formats:
// gitrepository-layout(5).
func gitFolders(root string) (own, common string, ok bool) {
	own = filepath.Join(root, ".git")
	info, err := os.Lstat(own)
	if err != nil {
		return "", "", false
	}
	if !info.IsDir() {
		target, ok := strings.CutPrefix(firstLine(own), "gitdir: ")
		if !ok {
			return "", "", false
		}
		own = absolute(root, target)
	}
	common = own
	if dir := firstLine(filepath.Join(own, "commondir")); dir != "" {
		common = absolute(own, dir)
	}
	return own, common, true
}

func absolute(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// firstLine is a small file's first line, or "".
func firstLine(path string) string {
	data, err := userfile.Read(path, 4<<10)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// headCommit is the commit that is checked out, or "".
func headCommit(root string) string {
	own, common, ok := gitFolders(root)
	if !ok {
		return ""
	}
	head := firstLine(filepath.Join(own, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return commitID(head)
	}
	if !filepath.IsLocal(ref) {
		return ""
	}
	for _, dir := range []string{own, common} {
		if id := commitID(firstLine(filepath.Join(dir, filepath.FromSlash(ref)))); id != "" {
			return id
		}
	}
	packed, err := userfile.Read(filepath.Join(common, "packed-refs"), maxRefFile)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(packed)) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commitID(id)
		}
	}
	return ""
}

// commitID is the text if it is one, in either of git's two lengths.
func commitID(text string) string {
	if len(text) != 40 && len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}

// namedCommits are the commits that refs and their logs name.
func namedCommits(root string) map[string]bool {
	named := map[string]bool{}
	own, common, ok := gitFolders(root)
	if !ok {
		return named
	}
	add := func(text string) {
		if id := commitID(text); id != "" {
			named[id] = true
		}
	}
	add(headCommit(root))
	if packed, err := userfile.Read(filepath.Join(common, "packed-refs"), maxRefFile); err == nil {
		for line := range strings.Lines(string(packed)) {
			id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			add(strings.TrimPrefix(id, "^")) // what the tag before it leads to
		}
	}
	files := 0
	for _, dir := range []string{filepath.Join(common, "refs"), filepath.Join(common, "logs"), filepath.Join(own, "logs")} {
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read is not known
			case !e.Type().IsRegular():
				return nil
			}
			if files++; files > maxRefs {
				return fs.SkipAll
			}
			addLines(path, add)
			return nil
		})
	}
	return named
}

// addLines adds the ids at the beginning of a ref's or a log's lines.
func addLines(path string, add func(string)) {
	data, err := userfile.Read(path, maxRefFile)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		for i, word := range strings.Fields(line) {
			if i == 2 {
				break
			}
			add(word)
		}
	}
}
