package shellscan

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeANSI decodes the inside of $'…'. It is not sure of forms in which
// versions of bash differ; the text is then the most likely value.
func decodeANSI(s string) (text string, sure bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b strings.Builder
	sure = true
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'b':
			b.WriteByte(8)
		case 'e', 'E':
			b.WriteByte(27)
		case 'f':
			b.WriteByte(12)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'v':
			b.WriteByte(11)
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, v := number(s[i:], 8, 3)
			if v&0xff == 0 {
				return b.String(), sure // a NUL ends the string
			}
			b.WriteByte(byte(v))
			i += n - 1
		case 'x', 'u', 'U':
			digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			n, v := number(s[i+1:], 16, digits)
			switch {
			case n == 0: // \x{41}, or nothing: kept as it is by most versions
				sure = false
				b.WriteByte('\\')
				b.WriteByte(c)
			case v == 0:
				return b.String(), sure
			case c == 'x':
				b.WriteByte(byte(v))
			case v > utf8.MaxRune:
				sure = false
			default:
				sure = sure && v < utf8.RuneSelf // else it depends on the locale
				b.WriteRune(rune(v))
			}
			i += n
		default: // \cX and unknown ones
			sure = false
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), sure
}

// number reads at most limit digits and returns how many there were.
func number(s string, base, limit int) (n int, v uint64) {
	for n < len(s) && n < limit {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	if n > 0 {
		// The digits were checked, and eight hexadecimal ones fit.
		v, _ = strconv.ParseUint(s[:n], base, 64)
	}
	return n, v
}
