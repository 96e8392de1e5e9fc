package md

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"garuda/internal/ui/styled"
)

func itoa(n int) string { return strconv.Itoa(n) }

// inline is what a block's own text says, a line for each hard line end.
func (r *renderer) inline(n ast.Node, look styled.Span) []styled.Line {
	w := inlines{source: r.source}
	_, w.inTable = n.(*extast.TableCell)
	w.children(n, look)
	if len(w.line) > 0 {
		w.breakLine()
	}
	return w.lines
}

// inlines collects the pieces of one block's text.
type inlines struct {
	source []byte
	lines  []styled.Line
	line   styled.Line
	// inTable is true for the text of a table's cell.
	inTable bool
}

func (w *inlines) breakLine() {
	w.lines = append(w.lines, w.line)
	w.line = nil
}

func (w *inlines) add(look styled.Span, text string) {
	look.Text = styled.Expand(strings.ReplaceAll(text, "\n", " "), 0, tabStops)
	w.line = w.line.Add(look)
}

func (w *inlines) children(n ast.Node, look styled.Span) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c, look)
	}
}

func (w *inlines) node(n ast.Node, look styled.Span) {
	switch n := n.(type) {
	case *ast.Text:
		w.text(n, look)
	case *ast.String:
		w.add(look, string(n.Value))
	case *ast.CodeSpan:
		look.Role = styled.InlineCode
		w.code(n, look)
	case *ast.Emphasis:
		look.Attr |= styled.Italic
		if n.Level > 1 {
			look.Attr = look.Attr&^styled.Italic | styled.Bold
		}
		w.children(n, look)
	case *extast.Strikethrough:
		look.Attr |= styled.Strike
		w.children(n, look)
	case *ast.Link:
		w.link(n, string(n.Destination), look)
	case *ast.Image:
		w.add(styled.Span{Role: styled.Muted}, "image: ")
		w.link(n, string(n.Destination), look)
	case *ast.AutoLink:
		look.Role, look.Link = styled.LinkText, string(n.URL(w.source))
		w.add(look, string(n.Label(w.source)))
	case *ast.RawHTML:
		w.raw(n, look)
	case *extast.TaskCheckBox:
		mark := styled.Span{Text: "☐ ", Role: styled.Muted}
		if n.IsChecked {
			mark = styled.Span{Text: "☑ ", Role: styled.Good}
		}
		w.line = w.line.Add(mark)
	default:
		w.children(n, look)
	}
}

func (w *inlines) text(n *ast.Text, look styled.Span) {
	value := n.Segment.Value(w.source)
	if !n.IsRaw() {
		value = util.UnescapePunctuations(value)
		value = util.ResolveEntityNames(util.ResolveNumericReferences(value))
	}
	w.add(look, visible(string(value)))
	switch {
	case n.HardLineBreak():
		w.breakLine()
	case n.SoftLineBreak():
		w.add(look, " ")
	}
}

func (w *inlines) code(n ast.Node, look styled.Span) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			value := string(t.Segment.Value(w.source))
			if w.inTable { // there a bar needs a backslash in code too
				value = strings.ReplaceAll(value, `\|`, "|")
			}
			w.add(look, value)
		}
	}
}

// link shows the text with the address behind it, and the address itself where it
// says something else: what a link opens must be seen before it is opened.
func (w *inlines) link(n ast.Node, address string, look styled.Span) {
	before := w.line.String()
	look.Role, look.Link = styled.LinkText, address
	w.children(n, look)
	said := strings.TrimPrefix(w.line.String(), before)
	if address != "" && said != address && "mailto:"+said != address {
		w.add(styled.Span{Role: styled.Muted, Link: address}, " ("+visible(address)+")")
	}
}

func (w *inlines) raw(n *ast.RawHTML, look styled.Span) {
	look.Role = styled.Muted
	for i := range n.Segments.Len() {
		seg := n.Segments.At(i)
		w.add(look, string(seg.Value(w.source)))
	}
}
