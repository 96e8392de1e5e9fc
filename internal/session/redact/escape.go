package redact

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxEscapeDepth is how often text may be escaped inside escaped text and still
// be searched: a call's input holds JSON that may hold JSON.
const maxEscapeDepth = 4

// view is a text with its JSON escapes decoded, wherever in it they stand, and
// the way back to the text that it was decoded from.
type view struct {
	text string
	// from[i] is where in the first text the i-th byte came from; nil for the
	// first text itself.
	from []int
}

func (v view) source(i int) int {
	if v.from == nil {
		return i
	}
	return v.from[i]
}

// unescape decodes one level of escapes; false when there are none.
func (v view) unescape() (view, bool) {
	s := v.text
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return view{}, false
	}
	out := make([]byte, 0, len(s))
	from := make([]int, 0, len(s)+1)
	keep := func(a, b int) {
		out = append(out, s[a:b]...)
		for ; a < b; a++ {
			from = append(from, v.source(a))
		}
	}
	keep(0, i)
	for i < len(s) {
		if s[i] != '\\' {
			next := strings.IndexByte(s[i:], '\\')
			if next < 0 {
				next = len(s) - i
			}
			keep(i, i+next)
			i += next
			continue
		}
		r, size := decodeEscape(s[i:])
		if size == 0 { // a backslash that begins no escape
			keep(i, i+1)
			i++
			continue
		}
		before := len(out)
		out = utf8.AppendRune(out, r)
		for range len(out) - before {
			from = append(from, v.source(i))
		}
		i += size
	}
	from = append(from, v.source(len(s)))
	return view{text: string(out), from: from}, len(out) != len(s)
}

// decodeEscape decodes the JSON escape that s begins with; size 0 when it is none.
func decodeEscape(s string) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		return decodeUnicode(s)
	default:
		return 0, 0
	}
}

// decodeUnicode decodes \uXXXX, or two that make a surrogate pair.
func decodeUnicode(s string) (rune, int) {
	const one = 6
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(s[one:]); ok {
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				return both, 2 * one
			}
		}
	}
	return r, one
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
