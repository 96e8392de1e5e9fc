// Package ignore matches paths against lists of patterns as git does for its
// .gitignore files, byte for byte and quirk for quirk; a test compares it with
// the real `git check-ignore` over thousands of patterns and paths.
//
// It knows neither files nor folders: which lists are in force where, and that
// everything in an ignored folder is ignored, is the caller's part. Matching
// uses no regular expressions, allocates nothing, and takes time linear in the
// path for each pattern's star.
package ignore

import (
	"bytes"
	"strings"
)

// Verdict is what a list says about a path.
type Verdict uint8

const (
	// None: no pattern of the list matches.
	None Verdict = iota
	// Ignore: the last pattern that matches ignores the path.
	Ignore
	// Include: the last pattern that matches begins with "!".
	Include
)

// List holds the patterns of one file. It is immutable.
type List struct {
	patterns []pattern
	names    map[string][]int // patterns that are one plain name
	suffixes map[string][]int // patterns "*.ext", by ".ext"
	others   []int
	paths    bool // some pattern looks at more than the last name
	fold     bool
}

// Parse reads the text of an ignore file. With foldCase, letters are compared
// without case (ASCII only), as git does when core.ignoreCase is set. Every text
// is valid: a line that cannot match anything is kept as such.
func Parse(text []byte, foldCase bool) *List {
	l := &List{names: map[string][]int{}, suffixes: map[string][]int{}, fold: foldCase}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if end := bytes.IndexByte(line, 0); end >= 0 {
			line = line[:end]
		}
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if p, ok := compile(trimSpaces(string(line)), foldCase); ok {
			l.add(p)
		}
	}
	return l
}

// trimSpaces removes blanks at the end of a line; a backslash keeps the one
// after it.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; i == len(s) {
				return s
			}
			end = i + 1
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

func (l *List) add(p pattern) {
	i := len(l.patterns)
	l.patterns = append(l.patterns, p)
	switch ext := strings.TrimPrefix(p.literal, "."); {
	case p.form == formName:
		l.names[p.literal] = append(l.names[p.literal], i)
	case p.form == formSuffix && len(ext) < len(p.literal) && !strings.Contains(ext, "."):
		l.suffixes[p.literal] = append(l.suffixes[p.literal], i)
	default:
		l.others = append(l.others, i)
		l.paths = l.paths || p.form == formPath
	}
}

// Empty reports whether the list can match nothing.
func (l *List) Empty() bool { return l == nil || len(l.patterns) == 0 }

// LooksAtPaths reports whether the verdict depends on more than a path's last name.
func (l *List) LooksAtPaths() bool { return l != nil && l.paths }

// Match gives the verdict on one path, relative to the folder the list belongs
// to, with slashes and without a leading or trailing one.
func (l *List) Match(path string, isDir bool) Verdict {
	if l.Empty() {
		return None
	}
	if l.fold {
		path = lowerASCII(path)
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	best := l.last(l.names[name], -1, isDir)
	if len(l.suffixes) > 0 {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = l.last(l.suffixes[name[dot:]], best, isDir)
		}
	}
	for k := len(l.others) - 1; k >= 0 && l.others[k] > best; k-- {
		p := &l.patterns[l.others[k]]
		if (isDir || !p.dirOnly) && p.match(path, name) {
			best = l.others[k]
		}
	}
	switch {
	case best < 0:
		return None
	case l.patterns[best].negative:
		return Include
	}
	return Ignore
}

// last returns the last of the patterns that are known to match by name, if it
// comes after best.
func (l *List) last(candidates []int, best int, isDir bool) int {
	for k := len(candidates) - 1; k >= 0 && candidates[k] > best; k-- {
		if isDir || !l.patterns[candidates[k]].dirOnly {
			return candidates[k]
		}
	}
	return best
}

func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}
