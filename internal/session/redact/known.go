package redact

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strings"
)

// pattern is one written form of a known value.
type pattern struct {
	text string
	// base64 marks a form inside base64 text: the characters at its edges also
	// carry bits of the value's first and last byte, and go with it.
	base64 bool
}

// appendForms adds a value as it is, and as URLs and base64 write it.
func appendForms(forms []pattern, v string) []pattern {
	seen := map[string]bool{}
	add := func(text string, b64 bool) {
		if len(text) >= minSecret && !seen[text] {
			seen[text] = true
			forms = append(forms, pattern{text: text, base64: b64})
		}
	}
	add(v, false)
	for _, e := range []string{url.QueryEscape(v), url.PathEscape(v)} {
		add(e, false)
		add(lowerPercent(e), false)
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			add(base64Core(enc, v, shift), true)
		}
	}
	return forms
}

// lowerPercent writes the hexadecimal digits of percent escapes in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// base64Core is the part of v's encoding that does not depend on what stands
// around v, when v begins shift bytes after a multiple of three.
func base64Core(enc *base64.Encoding, v string, shift int) string {
	const bits = 6
	e := enc.EncodeToString(append(make([]byte, shift), v...))
	first := (shift*8 + bits - 1) / bits
	last := (shift + len(v)) * 8 / bits
	return e[first:last]
}

// matcher finds many strings in one pass, after Wu and Manber: it looks at the
// two bytes that end a window of minSecret bytes and skips as far as no pattern
// can begin.
type matcher struct {
	shift    [1 << 16]uint8
	byPrefix map[uint64][]pattern
}

func newMatcher(patterns []pattern) *matcher {
	if len(patterns) == 0 {
		return nil
	}
	m := &matcher{byPrefix: make(map[uint64][]pattern, len(patterns))}
	for i := range m.shift {
		m.shift[i] = minSecret - 1
	}
	for _, p := range patterns {
		key := prefixKey(p.text)
		m.byPrefix[key] = append(m.byPrefix[key], p)
		for i := 0; i+1 < minSecret; i++ {
			at := &m.shift[uint16(p.text[i])|uint16(p.text[i+1])<<8]
			*at = min(*at, uint8(minSecret-2-i))
		}
	}
	return m
}

// prefixKey is the first minSecret bytes of s as one number.
func prefixKey(s string) uint64 {
	var b [minSecret]byte
	copy(b[:], s)
	return binary.LittleEndian.Uint64(b[:])
}

// find appends every occurrence, overlapping ones too.
func (m *matcher) find(s string, spans []span) []span {
	for end := minSecret; end <= len(s); {
		skip := m.shift[uint16(s[end-2])|uint16(s[end-1])<<8]
		if skip > 0 {
			end += int(skip)
			continue
		}
		start := end - minSecret
		for _, p := range m.byPrefix[prefixKey(s[start:end])] {
			if !strings.HasPrefix(s[start:], p.text) {
				continue
			}
			sp := span{start: start, end: start + len(p.text)}
			if p.base64 {
				sp = widenBase64(s, sp)
			}
			spans = append(spans, sp)
		}
		end++
	}
	return spans
}

// widenBase64 takes the one character on each side that shares bits with the value.
func widenBase64(s string, sp span) span {
	if sp.start > 0 && isBase64(s[sp.start-1]) {
		sp.start--
	}
	if sp.end < len(s) && isBase64(s[sp.end]) {
		sp.end++
	}
	return sp
}

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' }
