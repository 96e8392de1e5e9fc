package md

import (
	"strings"

	"garuda/internal/core"
	"garuda/internal/ui/hl"
	"garuda/internal/ui/styled"
)

// longestOpen is how many bytes one block may have while it is still open: it is
// laid out again for every picture, so a longer one is ended where it stands.
const longestOpen = 16 << 10

// Stream lays out a text that arrives in pieces. What cannot change any more comes
// out once, block by block, of code line by line; the rest can be looked at as
// often as wanted. The zero Stream begins a text. It is for one goroutine.
type Stream struct {
	// held is what arrived last of a character or a line end that is not whole.
	held string
	// line is the last line, which may go on; block are the lines before it that
	// belong to the open block.
	line, block string
	// blank is true after a blank line inside a list, which may go on.
	blank bool
	// inner is the fence that is open inside the block.
	inner fence
	// code is the code block of which lines come out one by one.
	code *code
	// begun is true once something came out.
	begun bool
	done  []piece
}

// piece is a complete part of the text: a block's source or a line of code.
type piece struct {
	source string
	line   styled.Line
	// kind says how source and line are to be shown.
	kind pieceKind
}

type pieceKind uint8

const (
	blockPiece pieceKind = iota
	codeBegin
	codeLine
)

type code struct {
	fence    fence
	language *hl.Language
	state    hl.State
}

// fence is what an open block of code ends with.
type fence struct {
	sign   byte
	length int
	indent int
}

// Write takes more of the text. Control characters and what a terminal would hide
// become visible (see core.Visible).
func (s *Stream) Write(text string) {
	text = s.held + text
	whole := string(core.WholeAtEnd([]byte(text)))
	whole = strings.TrimSuffix(whole, "\r")
	s.held = text[len(whole):]
	s.take(core.Visible(strings.ReplaceAll(whole, "\r\n", "\n")))
}

func (s *Stream) take(text string) {
	for {
		line, rest, ended := strings.Cut(text, "\n")
		s.line += line
		if !ended {
			break
		}
		s.lineEnd(s.line)
		s.line, text = "", rest
	}
	for len(s.line) > longestOpen && s.code == nil {
		s.lineEnd(s.cutLine())
		s.end()
	}
}

// cutLine takes a part off a line that is too long to be kept open, at a blank
// where one is near.
func (s *Stream) cutLine() string {
	cut := strings.LastIndexByte(s.line[:longestOpen], ' ') + 1
	if cut < longestOpen/2 {
		cut = len(core.WholeAtEnd([]byte(s.line[:longestOpen])))
	}
	part := s.line[:cut]
	s.line = s.line[cut:]
	return part
}

// Done are the lines that became complete since the last call, laid out for so
// many columns.
func (s *Stream) Done(width int) []styled.Line {
	var out []styled.Line
	for _, p := range s.done {
		out = append(out, s.show(p, width)...)
	}
	s.done = nil
	return out
}

// show lays a piece out, with a blank line before each block but the first.
func (s *Stream) show(p piece, width int) []styled.Line {
	var out []styled.Line
	switch p.kind {
	case codeLine:
		return codeLines(p.line, width)
	case codeBegin:
	default:
		if out = Render(p.source, width); len(out) == 0 {
			return nil
		}
	}
	if s.begun {
		out = append([]styled.Line{nil}, out...)
	}
	s.begun = true
	return out
}

// Open are the last lines, at most so many, of what is not complete yet.
func (s *Stream) Open(width, most int) []styled.Line {
	var out []styled.Line
	switch {
	case s.code != nil:
		if s.line != "" && !s.code.fence.mayEnd(s.line) {
			line, _ := s.code.language.Line(s.code.trim(s.line), s.code.state)
			out = codeLines(line, width)
		}
	case s.block != "" || s.line != "":
		if out = Render(s.block+s.line, width); s.begun && len(out) > 0 {
			out = append([]styled.Line{nil}, out...)
		}
	}
	return out[max(len(out)-most, 0):]
}

// Close ends the text: what was open is complete, and Done gives it. The Stream
// then begins a new text.
func (s *Stream) Close(width int) []styled.Line {
	s.take(core.Visible(s.held))
	if s.line != "" {
		s.lineEnd(s.line)
	}
	s.end()
	out := s.Done(width)
	*s = Stream{}
	return out
}

// Empty reports whether nothing waits to be shown.
func (s *Stream) Empty() bool {
	return s.held == "" && s.line == "" && s.block == "" && len(s.done) == 0
}

// lineEnd takes a whole line.
func (s *Stream) lineEnd(line string) {
	if s.code != nil {
		s.codeEnd(line)
		return
	}
	if s.inner.length > 0 {
		s.block += line + "\n"
		if s.inner.ends(line) {
			s.inner = fence{}
		}
		s.bound()
		return
	}
	if strings.TrimSpace(line) == "" {
		s.blankLine()
		return
	}
	indent := indentOf(line)
	if s.blank && indent < 2 {
		s.end()
	}
	s.blank = false
	inList := isList(s.block)
	f, info := fenceOf(line)
	switch {
	case f.length > 0 && (!inList || indent < 2):
		s.end()
		s.code = &code{fence: f, language: hl.Named(info)}
		s.done = append(s.done, piece{kind: codeBegin})
	case isHeading(line) && !inList:
		s.end()
		s.block = line
		s.end()
	default:
		s.block += line + "\n"
		if f.length == 0 {
			f, _ = fenceOf(content(line))
		}
		s.inner = f
		s.bound()
	}
}

func (s *Stream) blankLine() {
	switch {
	case s.block == "":
	case isList(s.block):
		s.block += "\n"
		s.blank = true
	default:
		s.end()
	}
}

// bound ends an open block that has grown too long.
func (s *Stream) bound() {
	if len(s.block) > longestOpen {
		s.end()
	}
}

// end makes the open block complete.
func (s *Stream) end() {
	if s.block != "" {
		s.done = append(s.done, piece{source: s.block})
	}
	s.block, s.blank, s.inner, s.code = "", false, fence{}, nil
}

func (s *Stream) codeEnd(line string) {
	if s.code.fence.ends(line) {
		s.code = nil
		return
	}
	var out styled.Line
	out, s.code.state = s.code.language.Line(s.code.trim(line), s.code.state)
	s.done = append(s.done, piece{kind: codeLine, line: out})
}

// trim takes the fence's indent off a line of code.
func (c *code) trim(line string) string {
	n := 0
	for n < c.fence.indent && n < len(line) && line[n] == ' ' {
		n++
	}
	return styled.Expand(line[n:], 0, tabStops)
}

// isList reports whether a block begins as a list.
func isList(block string) bool {
	line := strings.TrimLeft(block, " ")
	return len(content(line)) < len(line)
}

// content is what a line says behind the marks of lists and quotes.
func content(line string) string {
	for {
		line = strings.TrimLeft(line, " ")
		n := 0
		for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
			n++
		}
		switch {
		case n > 0 && n < len(line) && (line[n] == '.' || line[n] == ')'):
			n++
		case n == 0 && line != "" && strings.IndexByte("-*+>", line[0]) >= 0:
			n = 1
		default:
			return line
		}
		if n < len(line) && line[n] != ' ' && line[n] != '\t' && line[0] != '>' {
			return line
		}
		line = line[n:]
	}
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isHeading reports whether a line is a heading by its own.
func isHeading(line string) bool {
	t := strings.TrimLeft(line, " ")
	n := len(t) - len(strings.TrimLeft(t, "#"))
	return len(line)-len(t) < 4 && n > 0 && n <= 6 && (len(t) == n || t[n] == ' ' || t[n] == '\t')
}

// fenceOf is the fence that a line opens, and its info string.
func fenceOf(line string) (f fence, info string) {
	t := strings.TrimLeft(line, " ")
	if t == "" || t[0] != '`' && t[0] != '~' {
		return fence{}, ""
	}
	n := len(t) - len(strings.TrimLeft(t, t[:1]))
	info = strings.TrimSpace(t[n:])
	if n < 3 || t[0] == '`' && strings.Contains(info, "`") || len(line)-len(t) > 3 {
		return fence{}, ""
	}
	return fence{sign: t[0], length: n, indent: len(line) - len(t)}, info
}

// ends reports whether the line closes the fence.
func (f fence) ends(line string) bool {
	t := strings.TrimSpace(line)
	return len(t) >= f.length && strings.Trim(t, string(f.sign)) == ""
}

// mayEnd reports whether the line, which may go on, could close the fence.
func (f fence) mayEnd(line string) bool {
	return strings.Trim(strings.TrimSpace(line), string(f.sign)) == ""
}
