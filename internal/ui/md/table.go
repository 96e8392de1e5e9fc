package md

import (
	"slices"
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"

	"garuda/internal/core"
	"garuda/internal/ui/styled"
)

// visible shows what an entity or an address hid.
func visible(text string) string { return core.Visible(text) }

const (
	columnGap = " │ "
	// leastColumn is how narrow a column may become.
	leastColumn = 6
)

// table lays the rows out in columns as wide as their widest cell, or narrower
// where the window is; where even that does not fit, each row becomes a list of
// its cells.
func (r *renderer) table(n *extast.Table) {
	var rows [][]styled.Line
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []styled.Line
		look := styled.Span{}
		if _, header := row.(*extast.TableHeader); header {
			look.Attr = styled.Bold
		}
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			var whole styled.Line
			for i, line := range r.inline(cell, look) {
				if i > 0 {
					whole = whole.Add(styled.Span{Text: " "})
				}
				whole = whole.Join(line)
			}
			cells = append(cells, whole)
		}
		rows = append(rows, cells)
	}
	widths, fits := columnWidths(rows, r.width-r.rest.Width())
	if !fits {
		r.records(rows)
		return
	}
	for i, row := range rows {
		r.row(row, widths, n.Alignments)
		if i == 0 {
			r.tableRule(widths)
		}
	}
}

// columnWidths shares the room among the columns, the wider giving way first.
func columnWidths(rows [][]styled.Line, room int) (widths []int, fits bool) {
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], cell.Width())
		}
	}
	over := (len(widths) - 1) * len([]rune(columnGap))
	for _, w := range widths {
		over += w
	}
	for over -= room; over > 0; over-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if len(widths) == 0 || widths[widest] <= leastColumn {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

func (r *renderer) row(cells []styled.Line, widths []int, align []extast.Alignment) {
	columns := make([][]styled.Line, len(widths))
	height := 1
	for i := range widths {
		if i < len(cells) {
			columns[i] = cells[i].Wrap(widths[i], nil, nil)
			height = max(height, len(columns[i]))
		}
	}
	for y := range height {
		line := slices.Clone(r.first)
		for i, column := range columns {
			if i > 0 {
				line = append(line, styled.Span{Text: columnGap, Role: styled.Rule})
			}
			var part styled.Line
			if y < len(column) {
				part = column[y]
			}
			var alignment extast.Alignment
			if i < len(align) {
				alignment = align[i]
			}
			line = append(line, aligned(part, widths[i], alignment, i == len(columns)-1)...)
		}
		r.out = append(r.out, line)
		r.first = r.rest
	}
}

// aligned puts a cell's line at its place in the column.
func aligned(l styled.Line, width int, a extast.Alignment, last bool) styled.Line {
	room := max(width-l.Width(), 0)
	left := 0
	switch a {
	case extast.AlignRight:
		left = room
	case extast.AlignCenter:
		left = room / 2
	default:
	}
	var out styled.Line
	if left > 0 {
		out = append(out, styled.Span{Text: strings.Repeat(" ", left)})
	}
	out = append(out, l...)
	if last {
		return out
	}
	return out.Pad(width)
}

func (r *renderer) tableRule(widths []int) {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	r.out = append(r.out, slices.Concat(r.first, styled.Text(styled.Rule, strings.Join(parts, "─┼─"))))
}

// records shows a table that is too wide as its rows, a line for each cell.
func (r *renderer) records(rows [][]styled.Line) {
	if len(rows) == 0 {
		return
	}
	if len(rows) == 1 {
		for _, head := range rows[0] {
			r.emit(head)
		}
	}
	for i, row := range rows[1:] {
		if i > 0 {
			r.out = append(r.out, trimmed(r.rest))
		}
		for c, cell := range row {
			var line styled.Line
			if c < len(rows[0]) && len(rows[0][c]) > 0 {
				line = line.Join(rows[0][c]).Add(styled.Span{Text: ": ", Role: styled.Muted})
			}
			r.emit(line.Join(cell))
		}
	}
}
