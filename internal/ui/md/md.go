// Package md lays Markdown out for a terminal: CommonMark with tables, struck out
// text and task lists. A whole text at once (Render), or one that arrives in pieces
// (Stream), of which each block comes out once, when it is complete.
//
// It never leaves out a word of the text, opens no address and runs no HTML: that
// is shown as it is written.
package md

import (
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"garuda/internal/ui/hl"
	"garuda/internal/ui/styled"
)

const (
	tabStops   = 4
	codeIndent = 2
	// narrowest is the least width a text is laid out for.
	narrowest = 20
	// deepest is how many lists and quotes are laid out inside each other; more are
	// shown as if they were at that depth.
	deepest = 8
)

var markdown = sync.OnceValue(func() parser.Parser {
	common := []parser.Option{
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	}
	return parser.NewParser(append(common, gfm()...)...)
})

// Render lays the text out in lines of at most width columns; code and tables that
// are wider are cut into pieces or narrowed. Control characters should have been
// made visible before (see core.Visible).
func Render(source string, width int) []styled.Line {
	src := []byte(source)
	doc := markdown().Parse(gtext.NewReader(src))
	r := renderer{source: src, width: max(width, narrowest)}
	r.children(doc, true)
	return r.out
}

// renderer lays one text out.
type renderer struct {
	source []byte
	width  int
	out    []styled.Line
	// first begins the next line, rest the lines after it: the marks and indents of
	// the lists and quotes around.
	first, rest styled.Line
	depth       int
}

// emit writes a line of flowing text.
func (r *renderer) emit(l styled.Line) {
	r.out = append(r.out, l.Wrap(r.width, r.first, r.rest)...)
	r.first = r.rest
}

// children lays the blocks out, apart by a blank line where loose.
func (r *renderer) children(n ast.Node, loose bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if loose && c.PreviousSibling() != nil {
			r.out = append(r.out, trimmed(r.rest))
		}
		r.block(c)
	}
}

// trimmed is a prefix without the blanks at its end, for a line of nothing else.
func trimmed(prefix styled.Line) styled.Line {
	return cutTo(prefix, len(strings.TrimRight(prefix.String(), " ")))
}

// cutTo is the first n bytes of a line.
func cutTo(l styled.Line, n int) styled.Line {
	var out styled.Line
	for _, s := range l {
		if n <= 0 {
			break
		}
		s.Text = s.Text[:min(len(s.Text), n)]
		n -= len(s.Text)
		out = append(out, s)
	}
	return out
}

func (r *renderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n)
	case *ast.Paragraph, *ast.TextBlock:
		for _, line := range r.inline(n, styled.Span{}) {
			r.emit(line)
		}
	case *ast.List:
		r.list(n)
	case *ast.Blockquote:
		r.within(styled.Line{{Text: "│ ", Role: styled.Quote}}, nil, func() { r.children(n, true) })
	case *ast.FencedCodeBlock:
		r.code(n, hl.Named(string(n.Language(r.source))))
	case *ast.CodeBlock:
		r.code(n, nil)
	case *ast.ThematicBreak:
		r.emit(styled.Text(styled.Rule, strings.Repeat("─", min(max(r.width-r.rest.Width(), 3), 40))))
	case *ast.HTMLBlock:
		r.html(n)
	case *extast.Table:
		r.table(n)
	default:
		r.children(n, true)
	}
}

func (r *renderer) heading(n *ast.Heading) {
	for _, line := range r.inline(n, styled.Span{Role: styled.Heading}) {
		if n.Level > 2 {
			line = styled.Line{{Text: strings.Repeat("#", n.Level) + " ", Role: styled.Muted}}.Join(line)
		}
		r.emit(line)
	}
	if n.FirstChild() == nil {
		r.emit(styled.Text(styled.Muted, strings.Repeat("#", n.Level)))
	}
}

// within lays out what the function does behind a mark: mark before the first line,
// after before the others; a nil after repeats the mark.
func (r *renderer) within(mark, after styled.Line, do func()) {
	first, rest := r.first, r.rest
	if after == nil {
		after = mark
	}
	if r.depth < deepest && rest.Width()+mark.Width() <= r.width/2 {
		r.first = slices.Concat(first, mark)
		r.rest = slices.Concat(rest, after)
	}
	r.depth++
	lines := len(r.out)
	do()
	r.depth--
	if len(r.out) == lines { // a mark with nothing behind it is still there
		r.emit(nil)
	}
	r.first, r.rest = rest, rest
}

func (r *renderer) list(n *ast.List) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = itoa(number) + string(n.Marker) + " "
			number++
		}
		if !n.IsTight && item.PreviousSibling() != nil {
			r.out = append(r.out, trimmed(r.rest))
		}
		after := styled.Text(styled.Plain, strings.Repeat(" ", styled.Width(mark)))
		r.within(styled.Text(styled.Accent, mark), after, func() { r.children(item, !n.IsTight) })
	}
}

func (r *renderer) code(n ast.Node, language *hl.Language) {
	var state hl.State
	lines := n.Lines()
	for i := range lines.Len() {
		seg := lines.At(i)
		text := strings.TrimSuffix(string(seg.Value(r.source)), "\n")
		var line styled.Line
		line, state = language.Line(styled.Expand(text, 0, tabStops), state)
		r.verbatim(line)
	}
}

// verbatim writes a line of code: nothing of it is left out, blanks neither.
func (r *renderer) verbatim(line styled.Line) {
	indent := styled.Line{{Text: strings.Repeat(" ", codeIndent)}}
	first, rest := slices.Concat(r.first, indent), slices.Concat(r.rest, indent)
	if len(line) == 0 {
		first = trimmed(first)
	}
	r.out = append(r.out, line.Hard(r.width, first, rest)...)
	r.first = r.rest
}

// codeLines lays one line of code out at the text's left edge.
func codeLines(line styled.Line, width int) []styled.Line {
	r := renderer{width: max(width, narrowest)}
	r.verbatim(line)
	return r.out
}

func (r *renderer) html(n *ast.HTMLBlock) {
	lines := n.Lines()
	for i := range lines.Len() {
		seg := lines.At(i)
		r.htmlLine(string(seg.Value(r.source)))
	}
	if n.HasClosure() {
		r.htmlLine(string(n.ClosureLine.Value(r.source)))
	}
}

func (r *renderer) htmlLine(text string) {
	text = styled.Expand(strings.TrimRight(text, "\n"), 0, tabStops)
	r.out = append(r.out, styled.Text(styled.Muted, text).Hard(r.width, r.first, r.rest)...)
	r.first = r.rest
}
