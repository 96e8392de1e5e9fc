package md

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The parts of GitHub's Markdown are parsed here: goldmark's own package for them
// compiles its expressions at every start of the program, for 3 ms, whether a text
// is shown or not.

// gfm are the parsers for tables, struck out text and task lists, before which the
// numbers say where they stand among goldmark's own.
func gfm() []parser.Option {
	return []parser.Option{
		parser.WithInlineParsers(util.Prioritized(taskParser{}, 0), util.Prioritized(strikeParser{}, 500)),
		parser.WithParagraphTransformers(util.Prioritized(tableParser{}, 200)),
	}
}

// taskParser reads the box that a list's entry begins with.
type taskParser struct{}

func (taskParser) Trigger() []byte { return []byte{'['} }

func (taskParser) Parse(parent ast.Node, block gtext.Reader, _ parser.Context) ast.Node {
	if _, entry := parent.Parent().(*ast.ListItem); !entry || parent.HasChildren() || parent.PreviousSibling() != nil {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 4 || line[2] != ']' || line[3] != ' ' && line[3] != '\t' || strings.IndexByte(" xX", line[1]) < 0 {
		return nil
	}
	block.Advance(4)
	return extast.NewTaskCheckBox(line[1] != ' ')
}

// strikeParser reads text between one or two tildes.
type strikeParser struct{}

func (strikeParser) Trigger() []byte { return []byte{'~'} }

func (p strikeParser) Parse(_ ast.Node, block gtext.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 1, p)
	if node == nil || node.OriginalLength > 2 || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

func (strikeParser) IsDelimiter(b byte) bool { return b == '~' }

func (strikeParser) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char && opener.OriginalLength == closer.OriginalLength
}

func (strikeParser) OnMatch(int) ast.Node { return extast.NewStrikethrough() }

// tableParser makes a table of a paragraph of which one line says the columns.
type tableParser struct{}

func (tableParser) Transform(node *ast.Paragraph, reader gtext.Reader, _ parser.Context) {
	lines, source := node.Lines(), reader.Source()
	for at := 1; at < lines.Len(); at++ {
		delimiters, head := lines.At(at), lines.At(at-1)
		align, ok := alignments(string(delimiters.Value(source)))
		if !ok || len(cells(head, source)) != len(align) {
			continue
		}
		table := extast.NewTable()
		table.Alignments = align
		table.AppendChild(table, extast.NewTableHeader(tableRow(head, source, align)))
		for i := at + 1; i < lines.Len(); i++ {
			table.AppendChild(table, tableRow(lines.At(i), source, align))
		}
		parent := node.Parent()
		parent.InsertAfter(parent, node, table)
		if at == 1 {
			parent.RemoveChild(parent, node)
			return
		}
		kept := gtext.NewSegments()
		kept.AppendAll(lines.Sliced(0, at-1))
		last := kept.At(at - 2)
		kept.Set(at-2, last.TrimRightSpace(source))
		node.SetLines(kept)
		return
	}
}

func tableRow(line gtext.Segment, source []byte, align []extast.Alignment) *extast.TableRow {
	row := extast.NewTableRow(align)
	found := cells(line, source)
	for i, a := range align {
		cell := extast.NewTableCell()
		cell.Alignment = a
		if i < len(found) && found[i].Start < found[i].Stop {
			cell.Lines().Append(found[i])
		}
		row.AppendChild(row, cell)
	}
	// What a row has beyond its columns is shown in the last one.
	if n := len(align); len(found) > n && row.LastChild() != nil {
		row.LastChild().Lines().Clear()
		row.LastChild().Lines().Append(gtext.NewSegment(found[n-1].Start, found[len(found)-1].Stop))
	}
	return row
}

// cells are the parts of a line between its bars.
func cells(line gtext.Segment, source []byte) []gtext.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	text := line.Value(source)
	start := 0
	if len(text) > 0 && text[0] == '|' {
		start = 1
	}
	var out []gtext.Segment
	for i := start; i <= len(text); i++ {
		switch {
		case i < len(text) && text[i] == '\\':
			i++
		case i == len(text) && i == start && len(out) > 0: // the bar at the end
		case i >= len(text) || text[i] == '|':
			end := min(i, len(text))
			cell := gtext.NewSegment(line.Start+start, line.Start+end)
			cell = cell.TrimLeftSpace(source)
			out = append(out, cell.TrimRightSpace(source))
			start = i + 1
		}
	}
	return out
}

// alignments reads the line of dashes below a table's head.
func alignments(line string) (align []extast.Alignment, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.ContainsAny(line, "|:") || strings.Trim(line, "|:- \t") != "" {
		return nil, false
	}
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	for cell := range strings.SplitSeq(line, "|") {
		cell = strings.TrimSpace(cell)
		left, right := strings.HasPrefix(cell, ":"), strings.HasSuffix(cell, ":")
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil, false
		}
		switch {
		case left && right:
			align = append(align, extast.AlignCenter)
		case right:
			align = append(align, extast.AlignRight)
		case left:
			align = append(align, extast.AlignLeft)
		default:
			align = append(align, extast.AlignNone)
		}
	}
	return align, true
}
