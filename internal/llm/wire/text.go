package wire

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"
)

// Text is a JSON string whose bytes are kept even where they are not whole
// runes: some servers cut their deltas inside a UTF-8 sequence or a surrogate
// pair, and encoding/json would turn both halves into U+FFFD. Half a surrogate
// pair is kept as three bytes (WTF-8). Runes puts the halves together.
type Text string

var errNotString = errors.New("not a JSON string")

// UnmarshalJSON takes a string or null.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = ""
		return nil
	}
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return errNotString
	}
	b = b[1 : len(b)-1]
	plain := bytes.IndexByte(b, '\\')
	if plain < 0 {
		*t = Text(b)
		return nil
	}
	out := make([]byte, plain, len(b))
	copy(out, b)
	for i := plain; i < len(b); {
		if b[i] != '\\' {
			out = append(out, b[i])
			i++
			continue
		}
		if i+1 >= len(b) {
			return errNotString
		}
		if b[i+1] != 'u' {
			out = append(out, unescape(b[i+1]))
			i += 2
			continue
		}
		u := escapeAt(b, i)
		if u < 0 {
			return errNotString
		}
		i += 6
		if low := escapeAt(b, i); isHigh(u) && isLow(low) {
			u = combine(u, low)
			i += 6
		}
		out = appendWTF8(out, u)
	}
	*t = Text(out)
	return nil
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func isHigh(u int) bool         { return u >= 0xD800 && u < 0xDC00 }
func isLow(u int) bool          { return u >= 0xDC00 && u < 0xE000 }
func combine(high, low int) int { return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000 }
func surrogateAt(b []byte) int  { return 0xD000 | int(b[1]&0x3f)<<6 | int(b[2]&0x3f) }
func isSurrogate(b []byte) bool {
	return len(b) >= 3 && b[0] == 0xED && b[1] >= 0xA0 && b[1] < 0xC0 && b[2]&0xC0 == 0x80
}
func cutSurrogate(b []byte) bool {
	return len(b) < 3 && b[0] == 0xED && (len(b) < 2 || b[1] >= 0xA0 && b[1] < 0xC0)
}

func appendWTF8(dst []byte, u int) []byte {
	if isHigh(u) || isLow(u) {
		return append(dst, 0xE0|byte(u>>12), 0x80|byte(u>>6)&0xBF, 0x80|byte(u)&0xBF)
	}
	return utf8.AppendRune(dst, rune(u))
}

// Runes joins pieces of text that may have been cut anywhere and gives them back
// cut at rune borders. The zero value is ready.
type Runes struct {
	rest []byte
}

// Push takes the next piece and returns what is whole by now; the rest waits for
// the next piece.
func (r *Runes) Push(t Text) string {
	if len(r.rest) == 0 && utf8.ValidString(string(t)) {
		return string(t)
	}
	out, rest := split(append(r.rest, t...), false)
	r.rest = rest
	return out
}

// Flush returns what waits, as U+FFFD where it never became whole.
func (r *Runes) Flush() string {
	out, _ := split(r.rest, true)
	r.rest = nil
	return out
}

// split turns b into valid UTF-8. What could still become a rune, were more to
// follow, is the rest; at the end there is none.
func split(b []byte, end bool) (string, []byte) {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		tail := b[i:]
		switch {
		case isSurrogate(tail):
			high := surrogateAt(tail)
			if isHigh(high) && !end && len(tail) < 6 && (len(tail) == 3 || cutSurrogate(tail[3:])) {
				return string(out), append([]byte(nil), tail...)
			}
			if isHigh(high) && isSurrogate(tail[3:]) && isLow(surrogateAt(tail[3:])) {
				out = utf8.AppendRune(out, rune(combine(high, surrogateAt(tail[3:]))))
				i += 6
				continue
			}
			out = utf8.AppendRune(out, utf8.RuneError)
			i += 3
		case !end && (cutSurrogate(tail) || !utf8.FullRune(tail)):
			return string(out), append([]byte(nil), tail...)
		default:
			c, size := utf8.DecodeRune(tail)
			out = utf8.AppendRune(out, c)
			i += size
		}
	}
	return string(out), nil
}

// Number is a JSON number or a string that holds one; servers differ. It is for
// codes, so anything else is kept as its text.
type Number string

// UnmarshalJSON takes any JSON value.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if s, err := strconv.Unquote(string(b)); err == nil {
		b = []byte(s)
	}
	*n = Number(b)
	return nil
}
