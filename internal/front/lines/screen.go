package lines

import (
	"io"
	"strings"

	"garuda/internal/core"
)

// Style is how a piece of text stands out where colour is wanted.
type Style int

const (
	Normal Style = iota
	Dim
	Bold
	Good
	Bad
	Warn
)

// sgr holds each style's codes of the 16-colour set, which every theme makes readable.
var sgr = [...]string{Normal: "", Dim: "2", Bold: "1", Good: "32", Bad: "31", Warn: "33"}

// Screen writes whole lines and running text to one place, and knows whether a
// line is open there. Everything that goes through it is made visible (see
// core.Visible); the only control characters it writes are newlines, tabs, its
// own colours, and what a status needs. It is for one goroutine.
type Screen struct {
	// Redraws says that the output is a terminal that can do more than print:
	// only there is a status shown.
	Redraws bool
	// Wrap, where it is set, cuts a line into pieces that fit the terminal, so
	// that it does not break inside words.
	Wrap func(text string) []string

	out   io.Writer
	color bool
	open  bool
	// status is what is shown right of the cursor now.
	status string
	// heldCR is true when running text ended in a carriage return: with the
	// newline that may follow it is a line's end, alone it is shown.
	heldCR bool
	mark   int
	err    error
}

// NewScreen writes to out, with colour or without.
func NewScreen(out io.Writer, color bool) *Screen { return &Screen{out: out, color: color} }

// Line ends the open line and writes the text's lines, each on as many as it needs.
func (s *Screen) Line(style Style, text string) {
	s.EndLine()
	for line := range strings.SplitSeq(text, "\n") {
		pieces := []string{line}
		if s.Wrap != nil {
			pieces = s.Wrap(line)
		}
		for _, piece := range pieces {
			s.write(s.paint(style, piece) + "\n")
		}
	}
}

// Verbatim is Line for what must stand as it is: lines of files, what commands
// print, and pieces that were made to fit.
func (s *Screen) Verbatim(style Style, text string) {
	s.EndLine()
	for line := range strings.SplitSeq(text, "\n") {
		s.write(s.paint(style, line) + "\n")
	}
}

// Text goes on in the open line.
func (s *Screen) Text(style Style, text string) {
	if s.heldCR {
		s.heldCR = false
		text = "\r" + text
	}
	if strings.HasSuffix(text, "\r") {
		s.heldCR = true
		text = text[:len(text)-1]
	}
	if text = strings.ReplaceAll(text, "\r\n", "\n"); text == "" {
		return
	}
	s.open = !strings.HasSuffix(text, "\n")
	s.write(s.paint(style, text))
}

// EndLine ends the open line, if one is open.
func (s *Screen) EndLine() {
	if s.heldCR {
		s.heldCR = false
		s.open = true
		s.write(core.Visible("\r"))
	}
	if s.open {
		s.open = false
		s.write("\n")
	}
}

// A status is drawn right of the cursor, which stays where it is: what a person
// types ahead is echoed before it, and an open line goes on as if it were not
// there. The sequences are save cursor, no wrapping at the margin (so that the
// window never scrolls), erase to the line's end, and the way back.
const (
	statusBegin = "\x1b7\x1b[?7l\x1b[K"
	statusEnd   = "\x1b[?7h\x1b8"
	statusErase = "\x1b[K"
)

// Status shows the text, one line, until anything else is written, or another
// status takes its place; an empty one takes it away. Nothing is shown where the
// screen does not redraw.
func (s *Screen) Status(text string) {
	switch {
	case !s.Redraws || s.err != nil || text == s.status:
	case text != "":
		s.status = text
		_, s.err = io.WriteString(s.out, statusBegin+s.paint(Dim, text)+statusEnd)
	case s.status != "":
		s.status = ""
		_, s.err = io.WriteString(s.out, statusErase)
	}
}

// Elsewhere says that something else wrote to the same terminal, and whether it
// left a line open.
func (s *Screen) Elsewhere(open bool) {
	s.open, s.heldCR = open, false
	s.mark++
}

// Mark changes with everything that is written: equal marks mean that the
// screen still looks the same.
func (s *Screen) Mark() int { return s.mark }

// Err is the first failure to write; after it nothing more is written.
func (s *Screen) Err() error { return s.err }

func (s *Screen) paint(style Style, text string) string {
	text = core.Visible(text)
	if !s.color || sgr[style] == "" || text == "" {
		return text
	}
	return "\x1b[" + sgr[style] + "m" + text + "\x1b[0m"
}

func (s *Screen) write(text string) {
	s.mark++
	if s.err != nil {
		return
	}
	if s.status != "" {
		s.status, text = "", statusErase+text
	}
	_, s.err = io.WriteString(s.out, text)
}
