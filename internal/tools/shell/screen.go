package shell

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/sandbox"
)

// maxLine is how many bytes of an unfinished line can still be written over.
// What a terminal would redraw is never longer; what is longer is data.
const maxLine = 8 << 10

// maxColumn is how far to the right a sequence can put the cursor; wider than any
// terminal, and too near to make much of a few bytes.
const maxColumn = 1000

// maxSequence is how long a terminal sequence may be. A longer one is none, and
// must not swallow the output that follows it.
const maxSequence = 4 << 10

// Screen reads one stream as a terminal would show it: a carriage return goes
// back to the beginning of the line and what follows writes over it, so that of
// a progress bar only its last state remains; sequences for colour, title and
// the like vanish. It keeps the beginning and the end, in bounded memory.
type Screen struct {
	kept sandbox.Keeper
	// lines gets what is settled too; may be nil.
	lines *splitter
	// line is the unfinished line while it only grew.
	line []byte
	// cells is the line once the cursor went back in it, at column col; nil before.
	cells []rune
	col   int
	// state is where in a sequence the stream is; sequence holds what came of it.
	state    state
	sequence []byte
	// part is the beginning of a character whose end has not come yet.
	part []byte
}

type state int

const (
	plain        state = iota
	escape             // after ESC
	control            // after ESC [
	text               // in ESC ] and the other strings
	textEscape         // after ESC in one
	intermediate       // after ESC and a byte such as "("
)

// NewScreen keeps this many bytes of what it reads, half of them from the beginning.
func NewScreen(limit int) *Screen { return &Screen{kept: sandbox.NewKeeper(limit)} }

// Write takes the stream's next bytes.
func (s *Screen) Write(b []byte) {
	// Most output has only carriage returns, if anything, and a search for one
	// byte runs at memory speed.
	next := func(b []byte) int { return bytes.IndexByte(b, '\r') }
	if bytes.IndexByte(b, '\x1b') >= 0 || bytes.IndexByte(b, '\b') >= 0 {
		next = func(b []byte) int { return bytes.IndexAny(b, "\r\b\x1b") }
	}
	for len(b) > 0 {
		if s.state != plain {
			b = s.inSequence(b)
			continue
		}
		n := next(b)
		switch {
		case n < 0:
			s.print(b)
			return
		case n > 0:
			s.print(b[:n])
		}
		switch b[n] {
		case '\x1b':
			s.state, s.sequence = escape, s.sequence[:0]
		case '\r':
			if n+1 == len(b) || b[n+1] != '\n' {
				s.move(0)
			}
		case '\b':
			s.move(max(s.column()-1, 0))
		}
		b = b[n+1:]
	}
}

// print takes bytes without any control that moves the cursor.
func (s *Screen) print(b []byte) {
	for len(b) > 0 && s.cells != nil {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			s.overwrite(b)
			return
		}
		s.overwrite(b[:end])
		s.flush()
		s.settle(newline)
		b = b[end+1:]
	}
	if end := bytes.LastIndexByte(b, '\n'); end >= 0 {
		s.flush()
		s.settle(b[:end+1])
		b = b[end+1:]
	}
	if len(s.line)+len(b) > maxLine {
		s.flush()
		s.settle(b)
		return
	}
	s.line = append(s.line, b...)
}

var newline = []byte{'\n'}

// overwrite puts characters at the cursor.
func (s *Screen) overwrite(b []byte) {
	b = append(s.part, b...)
	s.part = nil
	for len(b) > 0 {
		if !utf8.FullRune(b) {
			s.part = bytes.Clone(b)
			return
		}
		r, n := decodeCell(b)
		b = b[n:]
		for len(s.cells) < s.col {
			s.cells = append(s.cells, ' ')
		}
		if s.col < len(s.cells) {
			s.cells[s.col] = r
		} else {
			s.cells = append(s.cells, r)
		}
		s.col++
		if s.col > maxLine {
			s.flush()
			s.settle(b)
			return
		}
	}
}

// badByte and what follows it stand in cells for bytes that are no UTF-8, so that they
// come out as they came, as they do where the cursor never went back.
const badByte = utf8.MaxRune + 1

func decodeCell(b []byte) (r rune, n int) {
	if r, n = utf8.DecodeRune(b); r == utf8.RuneError && n == 1 {
		r = badByte + rune(b[0])
	}
	return r, n
}

func bytesOf(cells []rune) []byte {
	b := make([]byte, 0, len(cells))
	for _, r := range cells {
		if r >= badByte {
			b = append(b, byte(r-badByte))
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

func (s *Screen) column() int {
	if s.cells == nil {
		return utf8.RuneCount(s.line)
	}
	return s.col
}

// move puts the cursor into a column of the line.
func (s *Screen) move(col int) {
	if s.cells == nil {
		s.cells = make([]rune, 0, len(s.line))
		for rest := s.line; len(rest) > 0; {
			r, n := decodeCell(rest)
			s.cells, rest = append(s.cells, r), rest[n:]
		}
		s.line = s.line[:0]
	}
	s.col, s.part = min(col, max(maxColumn, len(s.cells))), nil
}

// settle keeps what will not change any more.
func (s *Screen) settle(b []byte) {
	s.kept.Add(b)
	if s.lines != nil {
		s.lines.write(b)
	}
}

// finish settles what stands on the stream's last line.
func (s *Screen) finish() {
	s.flush()
	if s.lines != nil {
		s.lines.finish()
	}
}

// flush ends what can be written over.
func (s *Screen) flush() {
	if s.cells != nil {
		s.settle(bytesOf(s.cells))
		s.cells, s.col, s.part = nil, 0, nil
	}
	s.settle(s.line)
	s.line = s.line[:0]
}

// inSequence takes bytes of a terminal sequence and returns what follows it.
func (s *Screen) inSequence(b []byte) []byte {
	for i, c := range b {
		if c == '\n' || len(s.sequence) > maxSequence {
			s.state = plain // broken: it does not reach over lines
			return b[i:]
		}
		s.sequence = append(s.sequence, c)
		switch s.state {
		case escape:
			s.state = afterEscape(c)
		case intermediate:
			if c < 0x20 || c > 0x2f {
				s.state = plain
			}
		case control:
			switch {
			case c == '\x1b':
				s.state, s.sequence = escape, s.sequence[:0]
			case c >= 0x40 && c <= 0x7e:
				s.state = plain
				s.do(s.sequence[1:len(s.sequence)-1], c)
			}
		case text:
			switch c {
			case '\x07':
				s.state = plain
			case '\x1b':
				s.state = textEscape
			}
		case textEscape:
			s.state = plain // ESC \ ends it; so does any other ESC
		}
		if s.state == plain {
			return b[i+1:]
		}
	}
	return nil
}

// afterEscape is the state that the byte after ESC leads to; see ECMA-48.
func afterEscape(c byte) state {
	switch {
	case c == '[':
		return control
	case strings.IndexByte("]PX^_", c) >= 0:
		return text
	case c >= 0x20 && c <= 0x2f:
		return intermediate
	case c == '\x1b':
		return escape
	}
	return plain
}

// do carries out the control sequences that change a line; others only change
// how it looks, or other lines, and are left out.
func (s *Screen) do(parameters []byte, final byte) {
	n := 0
	for _, c := range parameters {
		if c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), maxLine)
	}
	switch final {
	case 'K':
		s.erase(n)
	case 'G':
		s.move(max(n, 1) - 1)
	case 'D':
		s.move(max(s.column()-max(n, 1), 0))
	case 'C':
		s.move(s.column() + max(n, 1))
	}
}

// erase removes from the cursor to the end of the line (0), from its beginning
// to the cursor (1), or all of it (2).
func (s *Screen) erase(what int) {
	s.move(s.column())
	switch what {
	case 0:
		s.cells = s.cells[:min(s.col, len(s.cells))]
	case 1:
		for i := range min(s.col+1, len(s.cells)) {
			s.cells[i] = ' '
		}
	case 2:
		s.cells = s.cells[:0]
	}
}

// shown is the text that remains: head, and tail when more than the limit came,
// and then how many bytes lie between them. It ends the stream.
func (s *Screen) shown() (head, tail string, cut int64) {
	s.flush()
	got := s.kept.Captured()
	h, t := got.Head, got.Tail
	if got.Total > int64(len(h)+len(t)) {
		h, t = core.WholeAtEnd(h), wholeAtStart(t)
	}
	return readable(h), readable(t), got.Total - int64(len(h)+len(t))
}

// peek is what remains so far, and the unfinished line, of a stream that goes on.
func (s *Screen) peek() (kept sandbox.Captured, unfinished []byte) {
	kept = s.kept.Captured()
	kept.Head = bytes.Clone(kept.Head) // the stream goes on behind it
	if s.cells != nil {
		return kept, bytesOf(s.cells)
	}
	return kept, bytes.Clone(s.line)
}

// wholeAtStart drops the rest of a character that was cut at the start of b.
func wholeAtStart(b []byte) []byte {
	for range utf8.UTFMax - 1 {
		if len(b) == 0 || utf8.RuneStart(b[0]) {
			break
		}
		b = b[1:]
	}
	return b
}

// readable makes text of bytes: valid UTF-8 (strings.Map sees to that), without
// control characters but tab and newline. NUL, which separates names, stays
// visible as ␀.
func readable(b []byte) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r == 0:
			return '␀'
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			return -1
		}
		return r
	}, string(b))
}
