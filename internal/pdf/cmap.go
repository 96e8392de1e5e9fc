package pdf

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

const (
	// maxMapped is how many codes of a font may be mapped to characters.
	maxMapped = 1 << 17
	// maxLigature is how many bytes one code may stand for.
	maxLigature = 256
)

// codeRange is codes of one length in bytes.
type codeRange struct {
	length    int
	low, high uint32
}

// charMap is what a CMap says: how long codes are, and which characters they mean.
type charMap struct {
	ranges []codeRange
	texts  map[uint32]string
}

// readCharMap reads an embedded CMap or a ToUnicode table.
func (d *Document) readCharMap(s *stream) *charMap {
	m := &charMap{texts: map[uint32]string{}}
	data, err := d.decode(s)
	if err != nil {
		return m
	}
	l := &lexer{data: data, b: &d.b}
	var operands []any
	for {
		switch v := l.borrow().(type) {
		case end:
			return m
		case keyword:
			switch v {
			case "endcodespacerange":
				m.addRanges(operands)
			case "endbfchar":
				m.addChars(d, operands)
			case "endbfrange":
				m.addSpans(d, operands)
			}
			clear(operands) // else they would be kept alive
			operands = operands[:0]
			l.release()
		default:
			if len(operands) < maxItems {
				operands = append(operands, v)
			}
		}
	}
}

func (m *charMap) addRanges(operands []any) {
	for i := 0; i+1 < len(operands) && len(m.ranges) < 64; i += 2 {
		low, ok1 := operands[i].(chars)
		high, ok2 := operands[i+1].(chars)
		if ok1 && ok2 && len(low) > 0 && len(low) <= 4 && len(low) == len(high) {
			m.ranges = append(m.ranges, codeRange{len(low), code(low), code(high)})
		}
	}
}

func (m *charMap) add(d *Document, c uint32, text string) {
	if len(m.texts) < maxMapped && len(text) <= maxLigature && d.b.hold(len(text)+sizeMapped) {
		m.texts[c] = text
	}
}

func (m *charMap) addChars(d *Document, operands []any) {
	for i := 0; i+1 < len(operands); i += 2 {
		from, ok1 := operands[i].(chars)
		to, ok2 := operands[i+1].(chars)
		if ok1 && ok2 {
			m.add(d, code(from), utf16Text(to))
		}
	}
}

// addSpans takes "low high first" and "low high [each …]".
func (m *charMap) addSpans(d *Document, operands []any) {
	for i := 0; i+2 < len(operands); i += 3 {
		from, ok1 := operands[i].(chars)
		to, ok2 := operands[i+1].(chars)
		if !ok1 || !ok2 {
			continue
		}
		low, high := code(from), code(to)
		switch first := operands[i+2].(type) {
		case array:
			for j, v := range first {
				if text, ok := v.(chars); ok && low+uint32(j) <= high {
					m.add(d, low+uint32(j), utf16Text(text))
				}
			}
		case chars:
			runes := []rune(utf16Text(first))
			if len(runes) == 0 {
				continue
			}
			for c := low; c <= high && c-low < 1<<16 && d.b.take(2); c++ {
				m.add(d, c, string(runes))
				runes[len(runes)-1]++
			}
		}
	}
}

// code is the number that bytes are.
func code(b chars) uint32 {
	var n uint32
	for i := range min(len(b), 4) {
		n = n<<8 | uint32(b[i])
	}
	return n
}

func utf16Text(b chars) string {
	if len(b) == 1 {
		return string(rune(b[0]))
	}
	units := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return string(utf16.Decode(units))
}

// next takes the code at the beginning of a string; zero ranges mean two bytes.
func (m *charMap) next(s chars) (c uint32, length int) {
	if m != nil {
		for n := 1; n <= min(4, len(s)); n++ {
			c = c<<8 | uint32(s[n-1])
			for _, r := range m.ranges {
				if r.length == n && inRange(c, r) {
					return c, n
				}
			}
		}
		if len(m.ranges) > 0 {
			n := min(len(s), m.ranges[0].length)
			return code(s[:n]), n
		}
	}
	n := min(2, len(s))
	return code(s[:n]), n
}

// inRange compares byte by byte, as code spaces are boxes.
func inRange(c uint32, r codeRange) bool {
	for shift := 0; shift < 8*r.length; shift += 8 {
		b := byte(c >> shift)
		if b < byte(r.low>>shift) || b > byte(r.high>>shift) {
			return false
		}
	}
	return true
}

// knownCharMap finds the encoding behind the name of a CMap that viewers know.
func knownCharMap(of string) (codec encoding.Encoding, isUTF16 bool) {
	switch base := strings.TrimSuffix(strings.TrimSuffix(of, "-H"), "-V"); {
	case strings.HasSuffix(base, "UTF16") || strings.HasSuffix(base, "UCS2"):
		return nil, true
	case strings.Contains(base, "RKSJ"):
		return japanese.ShiftJIS, false
	case base == "EUC":
		return japanese.EUCJP, false
	case base == "GBK-EUC", base == "GBKp-EUC", base == "GB-EUC", base == "GBK2K":
		return simplifiedchinese.GB18030, false
	}
	return nil, false
}

// firstCode decodes the character at the beginning of a string in a legacy charset.
func firstCode(codec encoding.Encoding, s chars) (text string, length int) {
	for n := 1; n <= min(4, len(s)); n++ {
		out, err := codec.NewDecoder().String(string(s[:n]))
		if err == nil && utf8.RuneCountInString(out) == 1 && out != "\ufffd" {
			return out, n
		}
	}
	return "\ufffd", 1
}
