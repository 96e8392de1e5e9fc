package core

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible shows text from outside as what it is: control characters, invisible
// and bidirectional ones become [U+…] (ESC and CR their own signs), bytes that
// are no UTF-8 become [0x…]. Newlines and tabs stay.
func Visible(s string) string {
	if !hides(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r':
			b.WriteRune('␍')
		case r == 0x1b:
			b.WriteRune('␛')
		case r == utf8.RuneError && isBadByte(s[i:]):
			fmt.Fprintf(&b, "[0x%02X]", s[i])
		case Hidden(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Hidden reports whether a terminal would not show r as a character of its own:
// controls, formatting and bidirectional marks, unusual spaces, tags, and
// characters nobody has assigned.
func Hidden(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) ||
		r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x17b4 || r == 0x17b5 || r == 0x3164 || r == 0xffa0 ||
		r >= 0xfe00 && r <= 0xfe0f && r != 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

func hides(s string) bool {
	for i, r := range s {
		if r == '\n' || r == '\t' || r >= ' ' && r < 0x7f {
			continue
		}
		if Hidden(r) || r == utf8.RuneError && isBadByte(s[i:]) {
			return true
		}
	}
	return false
}

func isBadByte(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}

// Cut is the text, and of a longer one than this many characters its beginning and
// an ellipsis.
func Cut(s string, most int) string {
	n := 0
	for at := range s {
		if n == most {
			return s[:at] + "…"
		}
		n++
	}
	return s
}

// WholeAtEnd drops a character that was cut at the end of b.
func WholeAtEnd(b []byte) []byte {
	for i := len(b) - 1; i >= max(len(b)-utf8.UTFMax, 0); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
