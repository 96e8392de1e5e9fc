// Package redact takes secrets out of text before it is stored: the values it
// was given, private keys in PEM form, the token shapes of well-known services,
// and what is assigned to a name such as password or api_key.
//
// Code and plain numbers stay as they are (docs/journal.md lists the rules),
// because a conversation that is resumed must still read as it did. It does no
// input or output, keeps no text, and is safe for concurrent use.
package redact

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Replacement stands where a secret stood.
const Replacement = "[REDACTED]"

// minSecret is the length in bytes from which a value counts as a secret;
// shorter ones stand in too much innocent text.
const minSecret = 8

// maxPasses bounds how often a text is searched again after a replacement. The
// second pass finds nothing but in texts made for it.
const maxPasses = 6

// Redactor finds secrets. The zero value and nil know shapes but no values.
type Redactor struct {
	known *matcher
	// escapes are the letters of plain JSON escapes that known values need, wide
	// is true when they need a numbered one of other than visible characters:
	// only texts with such escapes must be decoded.
	escapes string
	wide    bool
}

// New makes a redactor that knows the given secret values, whatever stands
// around them, and in base64 and URL encoding too. Values under 8 bytes, and
// parts of Replacement itself, are not searched for.
func New(values []string) *Redactor {
	r := &Redactor{}
	var forms []pattern
	for _, v := range values {
		if len(v) < minSecret || strings.Contains(Replacement, v) {
			continue
		}
		forms = appendForms(forms, v)
		r.learnEscapes(v)
	}
	r.known = newMatcher(forms)
	return r
}

func (r *Redactor) learnEscapes(v string) {
	const plain, letters = "\"\\/\n\t\r\b\f", `"\/ntrbf`
	for _, c := range v {
		if i := strings.IndexRune(plain, c); i >= 0 {
			r.escapes += letters[i : i+1]
		}
		r.wide = r.wide || c < ' ' || c >= utf8.RuneSelf
	}
}

// String returns s without its secrets, and whether there were any.
func (r *Redactor) String(s string) (string, bool) {
	changed := false
	for range maxPasses {
		spans := r.find(s)
		if len(spans) == 0 {
			break
		}
		s, changed = replace(s, spans), true
	}
	return s, changed
}

// Bytes is String for bytes. Without a secret it returns b itself, else a new slice.
func (r *Redactor) Bytes(b []byte) ([]byte, bool) {
	s, changed := r.String(string(b))
	if !changed {
		return b, false
	}
	return []byte(s), true
}

// span is a part of a text that has to go.
type span struct {
	start, end int
	// quote is put around the replacement: what was assigned had no quotes and
	// its name had, as a number in JSON.
	quote string
}

// find returns the secrets of s in order, without overlaps.
func (r *Redactor) find(s string) []span {
	if len(s) < minSecret {
		return nil
	}
	spans := r.search(s, nil)
	for view, depth := (view{text: s}), 0; depth < maxEscapeDepth && r.mayHide(view.text); depth++ {
		inner, ok := view.unescape()
		if !ok {
			break
		}
		for _, f := range r.search(inner.text, nil) {
			spans = append(spans, span{start: inner.source(f.start), end: inner.source(f.end)})
		}
		view = inner
	}
	if len(spans) == 0 {
		return nil
	}
	return merge(s, spans)
}

// search finds secrets in the text as it is.
func (r *Redactor) search(s string, spans []span) []span {
	if r != nil && r.known != nil {
		spans = r.known.find(s, spans)
	}
	return findShapes(s, spans)
}

// mayHide reports whether an escape in s could hide a secret: one of a visible
// ASCII character, or one that a known value needs.
func (r *Redactor) mayHide(s string) bool {
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return false
		}
		s = s[i+1:] // the next one may begin here: \\u0073 in JSON inside JSON
		switch {
		case s[0] == 'u' && (r != nil && r.wide || visibleEscape(s)):
			return true
		case r != nil && strings.IndexByte(r.escapes, s[0]) >= 0:
			return true
		}
	}
}

// visibleEscape reports whether s, behind its backslash, is \u0020 to \u007f.
func visibleEscape(s string) bool {
	const prefix = "u00"
	return strings.HasPrefix(s, prefix) && len(s) > len(prefix) && s[len(prefix)] >= '2' && s[len(prefix)] <= '7'
}

// merge sorts spans, joins those that touch, widens those that cut a former
// Replacement, and drops those that lie within one.
func merge(s string, spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return b.end - a.end
	})
	marks := markers(s)
	out := spans[:0]
	for _, sp := range spans {
		for len(marks) > 0 && marks[0]+len(Replacement) <= sp.start {
			marks = marks[1:]
		}
		inside := false
		for _, m := range marks {
			end := m + len(Replacement)
			if m >= sp.end {
				break
			}
			inside = inside || m <= sp.start && sp.end <= end
			sp.start, sp.end = min(sp.start, m), max(sp.end, end)
		}
		if inside {
			continue
		}
		if n := len(out); n > 0 && sp.start <= out[n-1].end {
			if sp.end > out[n-1].end {
				out[n-1].end, out[n-1].quote = sp.end, ""
			}
			continue
		}
		out = append(out, sp)
	}
	return out
}

// markers returns where Replacement stands in s.
func markers(s string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(s[from:], Replacement)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + len(Replacement)
	}
}

func replace(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	from := 0
	for _, sp := range spans {
		b.WriteString(s[from:sp.start])
		b.WriteString(sp.quote)
		b.WriteString(Replacement)
		b.WriteString(sp.quote)
		from = sp.end
	}
	b.WriteString(s[from:])
	return b.String()
}
