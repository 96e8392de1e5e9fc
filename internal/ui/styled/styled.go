// Package styled is text whose pieces know how they stand out: what the views of
// the chat are made of before a terminal is known. It measures, wraps and cuts in
// columns of a terminal, character clusters whole.
//
// It never writes an escape sequence (package theme does), never reads one, and
// leaves out nothing of a text without a sign that stands for it.
package styled

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Role is what a piece of text is; a theme says how that looks.
type Role uint8

// The roles of the chat's own words, of Markdown, of code and of differences.
const (
	Plain Role = iota
	Muted
	Accent
	Good
	Bad
	Warn
	Heading
	Quote
	LinkText
	InlineCode
	Rule
	Keyword
	Type
	Function
	Constant
	String
	Number
	Comment
	Attribute
	Punctuation
	LineNumber
	Added
	Removed
	AddedWord
	RemovedWord
	// Roles counts them.
	Roles
)

// Attr is what a piece has besides its role.
type Attr uint8

// The attributes every terminal has or leaves out without harm.
const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Strike
	// Reverse swaps text and background.
	Reverse
)

// Span is a piece of one line.
type Span struct {
	// Text holds no line end and no tab (see Expand).
	Text string
	Role Role
	Attr Attr
	// Link is the address behind the text; empty for none.
	Link string
}

// Line is one line of pieces, from the left.
type Line []Span

// Text is a line of one piece.
func Text(role Role, text string) Line {
	if text == "" {
		return nil
	}
	return Line{{Text: text, Role: role}}
}

// String is the text alone.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width is how many columns the line takes.
func (l Line) Width() int {
	sum := 0
	for _, s := range l {
		sum += Width(s.Text)
	}
	return sum
}

// Width is how many columns a terminal gives the text.
func Width(text string) int {
	if plainASCII(text) {
		return len(text)
	}
	sum := 0
	for text != "" {
		cluster, width := next(text)
		sum += width
		text = text[len(cluster):]
	}
	return sum
}

// plainASCII reports whether every byte is a character of one column.
func plainASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// next is the text's first cluster of characters and its columns.
func next(text string) (cluster string, width int) {
	if c := text[0]; c < 0x7f && (len(text) == 1 || text[1] < 0x7f) {
		if c < ' ' {
			return text[:1], 0
		}
		return text[:1], 1
	}
	return ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
}

// Add appends a piece, joined with the one before where both look the same.
func (l Line) Add(s Span) Line {
	if s.Text == "" {
		return l
	}
	if n := len(l); n > 0 && l[n-1].like(s) {
		l[n-1].Text += s.Text
		return l
	}
	return append(l, s)
}

// Join appends a line's pieces.
func (l Line) Join(more Line) Line {
	for _, s := range more {
		l = l.Add(s)
	}
	return l
}

func (s Span) like(t Span) bool { return s.Role == t.Role && s.Attr == t.Attr && s.Link == t.Link }

// Expand puts blanks in the place of tabs, to the next of the stops every so many
// columns; the text begins in column at.
func Expand(text string, at, stops int) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	for part := range strings.SplitAfterSeq(text, "\t") {
		words, tab := strings.CutSuffix(part, "\t")
		b.WriteString(words)
		at += Width(words)
		if tab {
			n := stops - at%stops
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
	}
	return b.String()
}
