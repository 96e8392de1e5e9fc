package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Newline is the newline style of a text.
type Newline uint8

const (
	NoNewline Newline = iota
	LF
	CRLF
	MixedNewlines
)

// Style is everything about a text file that is not its text.
type Style struct {
	Encoding Encoding
	BOM      bool
	Newline  Newline
	// Mostly is the newline that a mixed file has more of: LF or CRLF.
	Mostly Newline
}

// Plain reports whether the file is what everybody expects: UTF-8 without a
// mark, with LF.
func (s Style) Plain() bool {
	return s.Encoding == UTF8 && !s.BOM && (s.Newline == LF || s.Newline == NoNewline)
}

// String names the style in words: "UTF-16 LE with a byte order mark, CRLF newlines".
func (s Style) String() string {
	out := s.Encoding.String()
	if s.BOM {
		out += " with a byte order mark"
	}
	switch s.Newline {
	case CRLF:
		out += ", CRLF newlines"
	case MixedNewlines:
		out += ", mixed LF and CRLF newlines"
	}
	return out
}

// Text is a decoded file. The model sees and matches LF, and what it changes is
// spliced into the bytes that were read, so all others stay as they were.
type Text struct {
	Style
	// LF is the text with every CRLF as LF. Bytes that encode nothing are U+FFFD.
	LF string
	// Broken says that there are such bytes. They are kept.
	Broken bool

	raw      []byte
	start    int      // first byte after the mark
	plain    bool     // offsets into LF and raw are the same
	declared Encoding // the legacy charset that .editorconfig gives, else UTF8
}

// Decode reads a file's bytes as text. It accepts anything; IsBinary tells
// whether that makes sense. The charset is told from the bytes alone; where the
// file's place may say it, Contents.Text is to be used. The bytes must not be
// changed afterwards.
func Decode(raw []byte) *Text { return decodeAs(raw, UTF8) }

func decodeAs(raw []byte, declared Encoding) *Text {
	t := &Text{raw: raw, declared: declared}
	t.Encoding, t.start = MarkOf(raw)
	t.BOM = t.start > 0
	valid := t.Encoding == UTF8 && utf8.Valid(raw[t.start:])
	if !t.BOM {
		t.Encoding = charsetOf(raw, valid, declared)
	}
	t.decode(valid)
	return t
}

// decode reads the bytes in the text's charset; valid says that they are UTF-8.
func (t *Text) decode(valid bool) {
	raw := t.raw
	if t.Encoding == UTF8 && valid && bytes.IndexByte(raw, '\r') < 0 {
		t.LF = alias(raw[t.start:])
		t.plain = t.start == 0
		t.Mostly = LF
		if strings.IndexByte(t.LF, '\n') >= 0 {
			t.Newline = LF
		}
		return
	}
	var out strings.Builder
	out.Grow(len(raw))
	var lf, crlf int
	for u := range t.units() {
		switch {
		case u.bad:
			t.Broken = true
		case u.r == '\n' && u.crlf:
			crlf++
		case u.r == '\n':
			lf++
		}
		out.WriteRune(u.r)
	}
	t.LF = out.String()
	switch {
	case lf > 0 && crlf > 0:
		t.Newline = MixedNewlines
	case crlf > 0:
		t.Newline = CRLF
	case lf > 0:
		t.Newline = LF
	}
	if t.Mostly = LF; crlf > lf {
		t.Mostly = CRLF
	}
}

// alias is b as a string, without a copy: the bytes of a file that was read do
// not change any more, and a large one is not to be held twice.
func alias(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(&b[0], len(b)) //nolint:gosec // b is never written to again
}

// unit is one character of the text and where its bytes are.
type unit struct {
	r       rune
	at, end int  // in raw
	crlf    bool // r is LF and stands for CR LF
	bad     bool // the bytes encode nothing; r is U+FFFD
}

func (t *Text) units() func(yield func(unit) bool) {
	c := t.Encoding.codec()
	return func(yield func(unit) bool) {
		for at := t.start; at < len(t.raw); {
			r, n, ok := c.decode(t.raw[at:])
			u := unit{r: r, at: at, end: at + n, bad: !ok}
			if r == '\r' && ok && u.end < len(t.raw) {
				if next, m, _ := c.decode(t.raw[u.end:]); next == '\n' {
					u.r, u.end, u.crlf = '\n', u.end+m, true
				}
			}
			if !yield(u) {
				return
			}
			at = u.end
		}
	}
}

// Edit replaces LF[Start:End] by New, in which newlines are LF.
type Edit struct {
	Start, End int
	New        string
}

// ErrBrokenSpan: an edit touches bytes that encode nothing in the file's charset.
var ErrBrokenSpan = errors.New("the text to replace holds bytes that are not valid in the file's charset (shown as U+FFFD), which are kept as they are")

// UnencodableError is a character that the file's charset does not have.
type UnencodableError struct {
	Rune     rune
	Encoding Encoding
}

func (e *UnencodableError) Error() string {
	return fmt.Sprintf("the file's charset %s has no character %q (U+%04X); write it in another way, such as in ASCII or as an escape", e.Encoding, e.Rune, e.Rune)
}

// Splice applies edits, in order and apart, to the file's bytes and returns the
// new bytes with the new text. Newlines of inserted text are written as the
// file has them, in a mixed file as the place has them. Bytes outside the edits
// are not touched. Errors: ErrBrokenSpan, *UnencodableError.
func (t *Text) Splice(edits []Edit) (raw []byte, lf string, err error) {
	spans, err := t.locate(edits)
	if err != nil {
		return nil, "", err
	}
	size := len(t.raw)
	for _, e := range edits {
		size += len(e.New)
	}
	raw = make([]byte, 0, size)
	if t.plain {
		for i, at := 0, 0; ; i++ {
			if i == len(edits) {
				raw = append(raw, t.raw[at:]...)
				break
			}
			raw = append(append(raw, t.raw[at:edits[i].Start]...), edits[i].New...)
			at = edits[i].End
		}
		lf = alias(raw)
		return raw, lf, sameStyle(t, raw, lf)
	}
	var text strings.Builder
	text.Grow(len(t.LF))
	rawAt, textAt := 0, 0
	inserted := make([]string, len(edits))
	for i, e := range edits {
		raw = append(raw, t.raw[rawAt:spans[i].at]...)
		if raw, err = t.encode(raw, e.New, spans[i].newline); err != nil {
			return nil, "", err
		}
		text.WriteString(t.LF[textAt:e.Start])
		text.WriteString(e.New)
		inserted[i] = e.New
		rawAt, textAt = spans[i].end, e.End
	}
	raw = append(raw, t.raw[rawAt:]...)
	text.WriteString(t.LF[textAt:])
	lf = text.String()
	return raw, lf, sameStyle(t, raw, lf, inserted...)
}

// sameStyle fails unless raw is read as this text, in the style of t. inserted is
// the text that is new in it.
func sameStyle(t *Text, raw []byte, lf string, inserted ...string) error {
	back := &Text{raw: raw, Style: Style{Encoding: t.Encoding}}
	var mark Encoding
	if mark, back.start = MarkOf(raw); t.BOM != (back.start > 0) || t.BOM && mark != t.Encoding {
		return errors.New("the bytes at the beginning would be read as a byte order mark, or no longer as one")
	}
	if back.decode(t.Encoding == UTF8 && utf8.Valid(raw[back.start:])); back.LF != lf {
		return errors.New("the bytes around the edit would be read as other characters afterwards")
	}
	// Bytes in a legacy charset that were all told by themselves may not be any
	// more. That loses nothing, unless it hides what was just written.
	if t.BOM || !slices.ContainsFunc(inserted, func(s string) bool { return !isASCII(s) }) {
		return nil
	}
	if next := decodeAs(raw, t.declared); next.LF != lf {
		return &UntoldError{Encoding: t.Encoding}
	}
	return nil
}

// UntoldError is a text whose charset could not be told from its bytes once it
// is written.
type UntoldError struct{ Encoding Encoding }

func (e *UntoldError) Error() string {
	return fmt.Sprintf("with this text it could no longer be told that the file's charset is %s; add \"charset = %s\" for it to .editorconfig first, or keep to ASCII",
		e.Encoding, e.Encoding.label())
}

type span struct {
	at, end int // in raw
	newline Newline
}

// locate finds the bytes of each edit and the newline style of the place.
func (t *Text) locate(edits []Edit) ([]span, error) {
	if err := t.checkOrder(edits); err != nil {
		return nil, err
	}
	spans := make([]span, len(edits))
	if t.plain {
		for i, e := range edits {
			spans[i] = span{e.Start, e.End, LF}
		}
		return spans, nil
	}
	bound := 0 // the next end of an edit to reach: 2i is the start of edit i, 2i+1 its end
	styled := 0
	last := t.Mostly
	lf := 0
	reach := func(at int) {
		for ; bound < 2*len(edits); bound++ {
			e, s := &edits[bound/2], &spans[bound/2]
			if bound%2 == 0 && e.Start == lf {
				s.at = at
			} else if bound%2 == 1 && e.End == lf {
				s.end = at
			} else {
				return
			}
		}
	}
	for u := range t.units() {
		reach(u.at)
		if u.bad && bound%2 == 1 {
			return nil, ErrBrokenSpan
		}
		if u.r == '\n' {
			if last = LF; u.crlf {
				last = CRLF
			}
			for ; styled < (bound+1)/2; styled++ {
				spans[styled].newline = last
			}
		}
		lf += utf8.RuneLen(u.r)
	}
	if reach(len(t.raw)); bound < 2*len(edits) {
		return nil, errors.New("an edit begins or ends inside a character")
	}
	for ; styled < len(edits); styled++ {
		spans[styled].newline = last
	}
	return spans, nil
}

func (t *Text) checkOrder(edits []Edit) error {
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(t.LF) {
			return fmt.Errorf("edit %d..%d of a text of %d bytes is out of order or out of range", e.Start, e.End, len(t.LF))
		}
		at = e.End
	}
	return nil
}

func (t *Text) encode(dst []byte, lf string, newline Newline) ([]byte, error) {
	return appendEncoded(dst, lf, t.Encoding, newline)
}

func appendEncoded(dst []byte, lf string, enc Encoding, newline Newline) ([]byte, error) {
	if enc == UTF8 && newline != CRLF {
		return append(dst, lf...), nil
	}
	c := enc.codec()
	for _, r := range lf {
		if r == '\n' && newline == CRLF {
			dst, _ = c.encode(dst, '\r')
		}
		var ok bool
		if dst, ok = c.encode(dst, r); !ok {
			return nil, &UnencodableError{r, enc}
		}
	}
	return dst, nil
}

// Rewrite is a whole new text, with LF newlines, in the file's charset, with its
// mark, and with these newlines. Errors: *UnencodableError, *UntoldError.
func (t *Text) Rewrite(lf string, newlines Newline) ([]byte, error) {
	style := t.Style
	style.Newline = newlines
	raw, err := style.Encode(lf)
	if err != nil {
		return nil, err
	}
	return raw, sameStyle(t, raw, ToLF(lf), lf)
}

// Encode writes a whole text in a style. A mixed style uses the newline the file
// had more of. The error is an *UnencodableError.
func (s Style) Encode(lf string) ([]byte, error) {
	newline := s.Newline
	if newline == MixedNewlines {
		newline = s.Mostly
	}
	var dst []byte
	if s.BOM {
		dst, _ = s.Encoding.codec().encode(dst, byteOrderMark)
	}
	return appendEncoded(dst, lf, s.Encoding, newline)
}

// ToLF turns CRLF into LF and leaves a lone CR alone.
func ToLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// CountLines is the number of lines of an LF text; a last line without a newline
// counts.
func CountLines(lf string) int {
	n := strings.Count(lf, "\n")
	if lf != "" && !strings.HasSuffix(lf, "\n") {
		n++
	}
	return n
}
