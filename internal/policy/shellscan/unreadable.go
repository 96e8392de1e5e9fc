package shellscan

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxDoubleOpen = 1000

// unreadable says why a text must not be taken apart at all: it is too long, or
// holds characters that bash, the parser or the eye could take differently.
func unreadable(text string) string {
	if len(text) > MaxText {
		return fmt.Sprintf("it is longer than %d KiB", MaxText>>10)
	}
	// Each of these may begin arithmetic or two subshells, and is read twice.
	if strings.Count(text, "((") > maxDoubleOpen {
		return "it opens too many double brackets"
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return "it holds the control character " + CharName(rune(c))
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n <= 1 {
			return fmt.Sprintf("it is not valid UTF-8 (byte 0x%02X)", c)
		}
		if Hidden(r) && !partOfEmoji(text, i, r, n) {
			return "it holds the hidden character " + CharName(r)
		}
		i += n
	}
	return ""
}

// partOfEmoji tells the two invisible characters that make one picture out of
// several: a variation selector right after a symbol, a joiner between two.
func partOfEmoji(text string, i int, r rune, n int) bool {
	if r != 0xfe0f && r != 0x200d {
		return false
	}
	prev, _ := utf8.DecodeLastRuneInString(text[:i])
	symbol := unicode.Is(unicode.So, prev)
	if r == 0xfe0f {
		return symbol
	}
	next, _ := utf8.DecodeRuneInString(text[i+n:])
	skin := prev >= 0x1f3fb && prev <= 0x1f3ff
	return (symbol || skin || prev == 0xfe0f) && unicode.Is(unicode.So, next)
}

// Hidden tells characters that do not show, that change the order in which
// others show, or that look like a blank and are none.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0: // C0, DEL, C1
		return true
	case r < 0xa0:
		return false
	case unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Cf, unicode.Co, unicode.Cs):
		return true
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return true
	}
	switch r {
	case 0x2800, 0x3164, 0xffa0, 0x115f, 0x1160: // blanks that are letters or symbols by class
		return true
	}
	return false
}

// CharName is how a hidden character is shown to a person.
func CharName(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// Visible shows every hidden character of a text as what it is, and whether
// there was one. A carriage return that ends a line counts only when crlf is false.
func Visible(text string, crlf bool) (string, bool) {
	hidden := func(i int, r rune, n int) bool {
		switch {
		case r == utf8.RuneError && n <= 1:
			return true
		case r == '\r' && crlf && i+1 < len(text) && text[i+1] == '\n':
			return false
		}
		return Hidden(r) && !partOfEmoji(text, i, r, n)
	}
	first := -1
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if hidden(i, r, n) {
			first = i
			break
		}
		i += n
	}
	if first < 0 {
		return text, false
	}
	var b strings.Builder
	b.WriteString(text[:first])
	for i := first; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, "<0x%02X>", text[i])
		case hidden(i, r, n):
			b.WriteString(CharName(r))
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String(), true
}
