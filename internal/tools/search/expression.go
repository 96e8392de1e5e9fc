package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// fileTime is how long the second engine may work on one file. It backtracks,
// and a hostile pattern or line can keep it busy for ever.
const fileTime = 2 * time.Second

// expression is a compiled search pattern. It is safe for concurrent use.
type expression struct {
	// re is the linear-time engine; nil for patterns that only back can take.
	re   *regexp.Regexp
	back *regexp2.Regexp
	// literal is set when the pattern is nothing but this text.
	literal []byte
	// needles: a match holds at least one of them. Empty when nothing is known.
	needles   []needle
	multiline bool
}

// compile reads a pattern in RE2 syntax, or one with look-around and the like.
func compile(text string, ignoreCase, multiline bool) (*expression, error) {
	if text == "" {
		return nil, errors.New("the pattern is empty; say what to search for, or list files with glob")
	}
	flags := syntax.Perl
	prefix := ""
	if ignoreCase {
		flags |= syntax.FoldCase
		prefix += "i"
	}
	if multiline {
		flags = flags&^syntax.OneLine | syntax.DotNL
		prefix += "ms"
	}
	if prefix != "" {
		prefix = "(?" + prefix + ")"
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		if needsBacktracking(text) {
			return compileBacktracking(text, prefix)
		}
		return nil, patternError(text, err)
	}
	re, err := regexp.Compile(prefix + text)
	if err != nil {
		return nil, patternError(text, err)
	}
	e := &expression{re: re, multiline: multiline}
	if tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase == 0 {
		e.literal = []byte(string(tree.Rune))
	}
	e.needles = requiredNeedles(tree)
	if !multiline && holdsNewline(e) {
		return nil, errors.New(`the pattern holds a line break; set multiline to search across lines`)
	}
	return e, nil
}

func holdsNewline(e *expression) bool {
	for _, n := range e.needles {
		if strings.Contains(string(n.text), "\n") {
			return true
		}
	}
	return false
}

// patternError says what is wrong with a pattern, and where.
func patternError(text string, err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return fmt.Errorf("the pattern %q is not valid: %w", text, err)
	}
	where, part := -1, bad.Expr
	switch {
	case bad.Code == syntax.ErrMissingParen: // of which the engine names the whole pattern
		where, part = openParen(text), "("
	case part != "" && part != text:
		where = strings.Index(text, part)
	}
	at := ""
	if where >= 0 {
		at = fmt.Sprintf(" at character %d, %q", utf8.RuneCountInString(text[:where])+1, part)
	}
	hint := ""
	switch bad.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		hint = `; a bracket to be found as such is written \( or \)`
	case syntax.ErrMissingBracket:
		hint = `; a bracket to be found as such is written \[`
	case syntax.ErrMissingRepeatArgument:
		hint = `; this is a regular expression: .* stands for anything, and glob chooses files by name`
	}
	return fmt.Errorf("the pattern %q is not valid: %s%s%s", text, bad.Code, at, hint)
}

// openParen is where the last bracket begins that nothing closes; -1 for none.
func openParen(text string) int {
	var open []int
	class := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if i+1 < len(text) && text[i+1] == '^' {
				i++
			}
			if i+1 < len(text) && text[i+1] == ']' {
				i++ // as the first of a class it is one of the characters
			}
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// needsBacktracking reports whether a pattern that RE2 refused holds something
// that only a backtracking engine can do.
func needsBacktracking(text string) bool {
	for _, mark := range []string{"(?=", "(?!", "(?<=", "(?<!", "(?>", `\k<`} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if '1' <= text[i+1] && text[i+1] <= '9' {
				return true
			}
			i++
		}
	}
	return false
}

func compileBacktracking(text, prefix string) (*expression, error) {
	// The stack of a match is bounded besides its time: 64 MB of integers.
	const maxStack = 8 << 20
	back, err := regexp2.Compile(prefix+text, regexp2.OptionMaxBacktrackingStackSize(maxStack))
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		why = strings.TrimSuffix(why, " in `"+prefix+text+"`")
		return nil, fmt.Errorf("the pattern %q is not valid: %s", text, why)
	}
	back.MatchTimeout = fileTime
	return &expression{back: back, multiline: strings.Contains(prefix, "m")}, nil
}

// find returns where the first match in a line begins; 0 without one, and when
// the second engine cannot say in time.
func (e *expression) find(line []byte) int {
	if e.re != nil {
		if loc := e.re.FindIndex(line); loc != nil {
			return loc[0]
		}
		return 0
	}
	if locs, err := e.back.FindAllStringIndex(string(line), 1); err == nil && len(locs) > 0 {
		return locs[0][0]
	}
	return 0
}

// findAll returns the places of at most n matches in a whole text.
func (e *expression) findAll(text string, n int) ([][]int, error) {
	if e.re != nil {
		return e.re.FindAllStringIndex(text, n), nil
	}
	return e.back.FindAllStringIndex(text, n)
}
