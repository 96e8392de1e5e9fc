package shellscan

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxGitConfig bounds what is read of a repository's configuration.
const maxGitConfig = 1 << 20

// repositoryConfig says why git must not run silently in a folder: the
// repository there, which may not be the project's own, is configured with
// something that starts programs, or it cannot be told. No process is started.
func repositoryConfig(dir string) string {
	top, gitDir, err := findRepository(dir)
	if err != nil {
		return "the git repository cannot be examined: " + err.Error()
	}
	if gitDir == "" {
		return "" // git will only say that there is no repository
	}
	common := gitDir
	if data, err := readSmall(filepath.Join(gitDir, "commondir")); err == nil {
		common = strings.TrimSpace(string(data))
		if !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "the git repository cannot be examined: " + err.Error()
	}
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(gitDir, "config.worktree")} {
		data, err := readSmall(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "the configuration of the git repository cannot be read: " + err.Error()
		}
		if key := loadedKey(data); key != "" {
			return "the configuration of the git repository sets " + key + ", which may start a program"
		}
	}
	if top != "" {
		// A submodule is looked into with its own configuration when .gitmodules says so.
		if _, err := os.Lstat(filepath.Join(top, ".gitmodules")); !errors.Is(err, fs.ErrNotExist) {
			return "the git repository has submodules with configurations of their own"
		}
	}
	return ""
}

// findRepository goes up from a folder as git does. A folder that is itself a
// repository without a work tree counts as one that cannot be examined: nobody
// makes one inside a project but to have its configuration read.
func findRepository(dir string) (top, gitDir string, err error) {
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return "", "", err
	}
	for {
		dot := filepath.Join(dir, ".git")
		info, err := os.Lstat(dot)
		switch {
		case err == nil && info.IsDir():
			return dir, dot, nil
		case err == nil && info.Mode().IsRegular():
			data, err := readSmall(dot)
			if err != nil {
				return "", "", err
			}
			target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
			if !ok {
				return "", "", errors.New(dot + " is not understood")
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return dir, target, nil
		case err == nil:
			return "", "", errors.New(dot + " is neither a folder nor a file")
		case !errors.Is(err, fs.ErrNotExist):
			return "", "", err
		}
		if bareRepository(dir) {
			return "", "", errors.New(dir + " is a repository without a work tree")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", "", nil
		}
		dir = parent
	}
}

func bareRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxGitConfig {
		return nil, errors.New(path + " is not a small regular file")
	}
	return os.ReadFile(path)
}

// loadedKey is the first key of a git configuration that is not known to be
// harmless; "" when there is none. Includes count as not harmless.
func loadedKey(data []byte) string {
	section := ""
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		text := strings.TrimSpace(string(line))
		for strings.HasPrefix(text, "[") {
			end := sectionEnd(text)
			if end < 0 {
				return "something that cannot be parsed"
			}
			section, _, _ = strings.Cut(strings.ToLower(text[1:end]), " ")
			section, _, _ = strings.Cut(section, ".")
			section = strings.TrimSpace(section)
			text = strings.TrimSpace(text[end+1:])
		}
		if text == "" || text[0] == '#' || text[0] == ';' {
			continue
		}
		if strings.HasSuffix(text, `\`) {
			return "a value over several lines"
		}
		key, value, _ := strings.Cut(text, "=")
		key = section + "." + strings.ToLower(strings.TrimSpace(key))
		if !harmlessGitKey(key, strings.TrimSpace(value)) {
			return key
		}
	}
	return ""
}

// sectionEnd is where the header [name "sub]section"] ends.
func sectionEnd(text string) int {
	quoted := false
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ']' && !quoted:
			return i
		}
	}
	return -1
}

// harmlessGitKey lists what is known to start nothing. The subsection is left
// out: remote.origin.url is remote.url.
func harmlessGitKey(key, value string) bool {
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "user", "author", "committer", "init", "color", "advice", "rerere", "branch", "push", "pull", "gc", "pack",
		"feature", "index", "merge", "rebase", "fetch", "column", "help", "status", "tag", "i18n", "apply", "transfer":
		// A merge driver runs only on merges, which are not on the table.
		return name != "submodulesummary" // git status starts a script for it
	case "alias":
		_, own := gitTables[name]
		return !own
	case "core":
		switch name {
		case "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode",
			"symlinks", "autocrlf", "eol", "safecrlf", "quotepath", "abbrev", "compression", "trustctime",
			"checkstat", "untrackedcache", "splitindex", "commitgraph", "multipackindex", "preloadindex",
			"protecthfs", "protectntfs", "longpaths", "whitespace", "sharedrepository", "bigfilethreshold":
			return true
		case "fsmonitor", "usebuiltinfsmonitor":
			return value == "false"
		}
	case "remote":
		switch name {
		case "url", "fetch", "pushurl", "push", "tagopt", "prune", "mirror", "skipfetchall", "skipdefaultupdate":
			return true
		}
	case "extensions":
		switch name {
		case "objectformat", "worktreeconfig", "refstorage", "noop", "preciousobjects":
			return true
		}
	case "diff":
		switch name {
		case "renames", "renamelimit", "algorithm", "mnemonicprefix", "noprefix", "colormoved", "context",
			"interhunkcontext", "indentheuristic", "statgraphwidth", "relative", "wserrorhighlight":
			return true
		}
	case "log":
		switch name {
		case "date", "decorate", "abbrevcommit", "follow":
			return true
		}
	case "submodule":
		return name == "url" || name == "active"
	}
	return false
}
