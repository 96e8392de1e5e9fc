package workspace

import (
	"os"
	"path/filepath"
	"strings"
)

// maxIgnoreFile is how many bytes of an ignore or git settings file are read.
const maxIgnoreFile = 1 << 20

// readPlain reads a small regular file outside the roots: git's own settings.
// Whatever is wrong with it counts as an empty file, as a search must not fail
// for it, and a pipe in its place must not make it wait.
func readPlain(path string) []byte {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if fi, err = f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	raw, err := readUpTo(f, fi.Size(), maxIgnoreFile)
	if err != nil {
		return nil
	}
	return raw
}

// gitTop finds the repository that holds dir: the nearest folder, from dir up,
// with a .git; "" without one.
func gitTop(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// gitCommonDir is where a repository keeps what its worktrees share: .git
// itself, or where a .git file and its commondir file point.
func gitCommonDir(top string) string {
	dir := filepath.Join(top, ".git")
	if fi, err := os.Stat(dir); err != nil || fi.IsDir() {
		return dir
	}
	target, ok := strings.CutPrefix(string(readPlain(dir)), "gitdir: ")
	if !ok {
		return dir
	}
	dir = joinOn(top, strings.TrimRight(target, "\r\n"))
	if common := strings.TrimRight(string(readPlain(filepath.Join(dir, "commondir"))), "\r\n"); common != "" {
		return joinOn(dir, common)
	}
	return dir
}

func joinOn(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// globalExcludes is the file of patterns that hold in all of a user's
// repositories: core.excludesFile of the repository's, the user's or the
// system's git settings, else git/ignore in the configuration folder.
func globalExcludes(opt Options, commonDir string) string {
	config := opt.ConfigHome
	if config == "" && opt.Home != "" {
		config = filepath.Join(opt.Home, ".config")
	}
	var files []string
	if commonDir != "" {
		files = append(files, filepath.Join(commonDir, "config"))
	}
	if opt.Home != "" {
		files = append(files, filepath.Join(opt.Home, ".gitconfig"))
	}
	if config != "" {
		files = append(files, filepath.Join(config, "git", "config"))
	}
	for _, file := range append(files, "/etc/gitconfig") {
		value, ok := gitConfigValue(string(readPlain(file)), "core", "excludesfile")
		if !ok {
			continue
		}
		if rest, ok := strings.CutPrefix(value, "~/"); ok && opt.Home != "" {
			value = filepath.Join(opt.Home, rest)
		}
		if !filepath.IsAbs(value) {
			return ""
		}
		return value
	}
	if config == "" {
		return ""
	}
	return filepath.Join(config, "git", "ignore")
}

// gitConfigValue reads the last value of a key in a section without subsection.
// Both names are given in lower case. Includes are not followed.
func gitConfigValue(text, section, key string) (value string, found bool) {
	eachConfigValue(text, func(sec, sub, name, v string) {
		if sub == "" && strings.EqualFold(sec, section) && strings.EqualFold(name, key) {
			value, found = v, true
		}
	})
	return value, found
}

// GitConfigValues reads all values of a key in a file of git's settings, in the
// sections of a name with whatever subsection. Both names are given in lower case.
// Includes are not followed.
func GitConfigValues(text, section, key string) (values []string) {
	eachConfigValue(text, func(sec, _, name, v string) {
		if strings.EqualFold(sec, section) && strings.EqualFold(name, key) {
			values = append(values, v)
		}
	})
	return values
}

func eachConfigValue(text string, visit func(section, subsection, name, value string)) {
	section, subsection := "", ""
	for text != "" {
		var line string
		line, text = cutConfigLine(text)
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, ok := strings.Cut(line[1:], "]")
			if !ok {
				section, subsection = "", ""
				continue
			}
			section, subsection, _ = strings.Cut(strings.TrimSpace(head), " ")
			if sec, sub, dotted := strings.Cut(section, "."); dotted {
				section, subsection = sec, sub
			}
			line = strings.TrimSpace(rest)
		}
		if name, raw, ok := strings.Cut(line, "="); ok {
			visit(section, subsection, strings.TrimSpace(name), unquoteConfig(raw))
		}
	}
}

// cutConfigLine takes one line, joined with those that a backslash continues.
func cutConfigLine(text string) (line, rest string) {
	var b strings.Builder
	for {
		part, rest, more := strings.Cut(text, "\n")
		part = strings.TrimSuffix(part, "\r")
		slashes := len(part) - len(strings.TrimRight(part, `\`))
		if slashes%2 == 0 || !more {
			b.WriteString(part)
			return b.String(), rest
		}
		b.WriteString(part[:len(part)-1])
		text = rest
	}
}

// unquoteConfig decodes a value: quotes, escapes, comments, blanks around it.
func unquoteConfig(raw string) string {
	var out []byte
	quoted, keep := false, 0 // keep: up to where blanks belong to the value
	raw = strings.TrimLeft(raw, " \t")
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '"':
			quoted = !quoted
			keep = len(out)
			continue
		case !quoted && (c == '#' || c == ';'):
			i = len(raw)
			continue
		case c == '\\' && i+1 < len(raw):
			i++
			switch c = raw[i]; c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			}
			out = append(out, c)
			keep = len(out)
			continue
		}
		out = append(out, c)
		if quoted || c != ' ' && c != '\t' {
			keep = len(out)
		}
	}
	return string(out[:keep])
}
