// Package search holds the tools that find things in the project: glob by file
// name, grep by contents.
//
// They walk and read through package workspace, start no process, and decide
// nothing: the folder is decided before they run, and each file in it is asked
// of Env.MayRead before it is opened or named.
package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// New returns the tools of this package.
func New() []tool.Tool { return []tool.Tool{globTool{}, grepTool{}} }

// decode reads a call's input, which has already passed the tool's schema.
func decode[T any](input json.RawMessage) (*T, error) {
	in := new(T)
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return in, nil
}

// pattern matches paths below the folder that is searched.
type pattern struct {
	text string
	// below matches the same at any depth; empty where text does so itself.
	below string
	// deep: the pattern has no slash and looks only at the last name.
	deep bool
	// folders: it ends in a slash and is meant for folders.
	folders bool
}

// newPattern checks a glob pattern.
func newPattern(text string) (pattern, error) {
	p := pattern{text: strings.TrimPrefix(text, "./")}
	switch {
	case p.text == "":
		return p, errors.New("the pattern is empty; **/* stands for every file")
	case strings.HasPrefix(p.text, "/") || len(p.text) > 2 && p.text[1] == ':' && (p.text[2] == '/' || p.text[2] == '\\'):
		return p, fmt.Errorf("the pattern %q is absolute; give the folder as path, and a pattern relative to it", text)
	case p.text == ".." || strings.HasPrefix(p.text, "../") || strings.Contains(p.text, "/../") || strings.HasSuffix(p.text, "/.."):
		return p, fmt.Errorf("the pattern %q goes up with ..; give the folder as path instead", text)
	case !doublestar.ValidatePattern(p.text):
		return p, fmt.Errorf("the pattern %q is not valid: a bracket or brace is not closed, or a backslash stands at the end", text)
	}
	if cut, ok := strings.CutSuffix(p.text, "/"); ok {
		p.text, p.folders = cut, true
	}
	if p.deep = !strings.Contains(p.text, "/"); !p.deep && !strings.HasPrefix(p.text, "**/") {
		p.below = "**/" + p.text
	}
	return p, nil
}

// match matches a slash path relative to the folder that is searched. A pattern
// with a slash that does not match may still match below a folder.
func (p pattern) match(rel string) (here, below bool) {
	if p.deep {
		return doublestar.MatchUnvalidated(p.text, path.Base(rel)), false
	}
	if doublestar.MatchUnvalidated(p.text, rel) {
		return true, false
	}
	return false, p.below != "" && doublestar.MatchUnvalidated(p.below, rel)
}

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// unseen says what a search did not look at, for an empty or partial result.
func unseen(report *workspace.WalkReport, includeIgnored bool) []string {
	var out []string
	if report.Ignored > 0 && !includeIgnored {
		s := counted(report.Ignored, "ignored entry", "ignored entries") + " left out"
		if report.NodeModules > 0 {
			s += " (node_modules among them)"
		}
		out = append(out, s+"; include_ignored searches them")
	}
	if report.UnreadableCount > 0 {
		out = append(out, counted(report.UnreadableCount, "folder", "folders")+" could not be read: "+strings.Join(report.Unreadable, ", "))
	}
	return out
}

// showPath keeps a name with line breaks, other control characters or bytes
// that are no UTF-8 from looking like several paths or none.
func showPath(p string) string {
	for _, r := range p {
		if r < ' ' || r == 0x7f || r == '\ufffd' || r >= 0x80 && r < 0xa0 {
			return fmt.Sprintf("%q", p)
		}
	}
	return p
}
