// Package pathglob is the one way in which patterns of paths are read, in rules, in
// a team's policy and in what a sandbox hides.
//
// It only compares text: it looks at no disk and follows no link, so whoever asks
// gives it each spelling of a file.
package pathglob

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob is a compiled pattern.
type Glob struct {
	patterns []string
	absolute bool // from the top of the file system
	anywhere bool // at any depth
	last     string
	fold     bool
}

// Place is one way to write where a file lies, with slashes.
type Place struct {
	// Abs is the clean absolute path.
	Abs string
	// Rel is the path from the project's root or from a folder added to it, "" when
	// the file lies in none of them.
	Rel string
	// FromRoot is set when Rel is from the root itself.
	FromRoot bool
}

// Compile reads a pattern: from the root, without a slash at any depth, ~/ from the
// home folder, // from the top. With contents it also covers what lies below a
// folder it matches; with fold case makes no difference.
func Compile(pattern, home string, contents, fold bool) (*Glob, error) {
	g := &Glob{fold: fold}
	p := filepath.ToSlash(pattern)
	switch {
	case strings.HasPrefix(p, "//"):
		g.absolute, p = true, p[1:]
	case p == "~" || strings.HasPrefix(p, "~/"):
		if home == "" {
			return nil, errors.New("the home folder is not known")
		}
		g.absolute, p = true, Escape(filepath.ToSlash(home))+p[1:]
	default:
		p = strings.TrimPrefix(p, "./")
		g.anywhere = !strings.Contains(strings.TrimSuffix(p, "/"), "/")
		p = strings.TrimPrefix(p, "/")
	}
	for _, part := range strings.Split(p, "/") {
		if part == ".." {
			return nil, errors.New("a path pattern may not hold ..; write // before an absolute path")
		}
	}
	if folder, ok := strings.CutSuffix(p, "/"); ok {
		p, contents = folder+"/**", false
	}
	if p == "" || !doublestar.ValidatePattern(p) {
		return nil, fmt.Errorf("%q is not a valid path pattern", pattern)
	}
	if fold {
		p = strings.ToLower(p)
	}
	g.last = p[strings.LastIndexByte(p, '/')+1:]
	if g.anywhere && !strings.HasPrefix(p, "**") {
		p = "**/" + p
	}
	g.patterns = []string{p}
	if contents && !strings.HasSuffix(p, "/**") {
		g.patterns = append(g.patterns, p+"/**")
	}
	return g, nil
}

// Escape makes a path match itself only.
func Escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(path)
}

// Matches tells whether the pattern covers one spelling of a path. A refusing
// rule at any depth also reaches outside the root.
func (g *Glob) Matches(p Place, refusing bool) bool {
	path := p.Rel
	switch {
	case g.absolute:
		path = p.Abs
	case g.anywhere && refusing:
		path = strings.TrimPrefix(p.Abs, "/")
	case path == "" || !g.anywhere && !p.FromRoot:
		return false
	}
	if g.fold {
		path = strings.ToLower(path)
	}
	for _, pattern := range g.patterns {
		if doublestar.MatchUnvalidated(pattern, path) {
			return true
		}
	}
	return false
}

// Literal tells whether the pattern's last part has a literal character, in each of
// its alternatives: one that names files, and does not just take what is there.
func (g *Glob) Literal() bool { return literal(g.last) }

// literal looks for a character that stands for itself: outside of classes, and in
// braces in every alternative.
func literal(part string) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '*', '?':
		case '[':
			end := strings.IndexByte(part[i+1:], ']')
			if end < 0 {
				return false
			}
			i += end + 1
		case '{':
			// Alternatives may hold braces themselves; one that is cut short has no more
			// literal characters than it had whole.
			end := strings.LastIndexByte(part, '}')
			if end < i {
				return false
			}
			all := true
			for _, one := range strings.Split(part[i+1:end], ",") {
				all = all && literal(strings.Trim(one, "{}"))
			}
			if all {
				return true
			}
			i = end
		default:
			return true
		}
	}
	return false
}

// Names tells whether the pattern's last part has a literal character and matches
// the file's own name.
func (g *Glob) Names(p Place) bool {
	if !g.Literal() || !g.Matches(p, false) {
		return false
	}
	name := p.Abs[strings.LastIndexByte(p.Abs, '/')+1:]
	if g.fold {
		name = strings.ToLower(name)
	}
	return doublestar.MatchUnvalidated(g.last, name)
}

// Everything tells whether the pattern covers every file of the machine.
func (g *Glob) Everything() bool { return g.absolute && strings.Trim(g.patterns[0], "/*") == "" }

// Base is, for a pattern from the home folder or the top, the folder below which all
// that it can match lies, absolute with slashes; "" for a pattern from the root or at
// any depth.
func (g *Glob) Base() string {
	if !g.absolute {
		return ""
	}
	base, rest := doublestar.SplitPattern(g.patterns[0])
	if !strings.ContainsAny(rest, `*?[{\`) {
		base = strings.TrimSuffix(base, "/") + "/" + rest
	}
	return base
}
