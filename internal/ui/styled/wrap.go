package styled

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// narrowest is the least width a text is laid out for, however small the window.
const narrowest = 4

// cell is one character cluster of a line.
type cell struct {
	span, start, end int
	width            int
	blank, wide      bool
}

// cells are the line's clusters in order.
func (l Line) cells() []cell {
	n := 0
	for _, s := range l {
		n += len(s.Text)
	}
	cells := make([]cell, 0, n)
	for i, s := range l {
		for at := 0; at < len(s.Text); {
			cluster, width := next(s.Text[at:])
			end := at + len(cluster)
			cells = append(cells, cell{span: i, start: at, end: end, width: width, blank: cluster == " ", wide: width > 1})
			at = end
		}
	}
	return cells
}

// piece is the part of the line that the cells cover, which lie side by side.
func (l Line) piece(cells []cell) Line {
	var out Line
	for i := 0; i < len(cells); {
		first := cells[i]
		last := first
		for i++; i < len(cells) && cells[i].span == first.span; i++ {
			last = cells[i]
		}
		s := l[first.span]
		s.Text = s.Text[first.start:last.end]
		out = append(out, s)
	}
	return out
}

// Wrap lays the line out in lines of at most width columns: the first begins with
// the first prefix, the others with the rest prefix. It breaks at blanks, which
// are then left out there, and beside wide characters; a word that is wider than
// the room is cut where the room ends. A line of nothing gives one line.
func (l Line) Wrap(width int, first, rest Line) []Line {
	cells := l.cells()
	prefix := first
	var out []Line
	for {
		room := max(width-prefix.Width(), narrowest)
		end, from := breakAt(cells, room)
		out = append(out, slices.Concat(prefix, l.piece(cells[:end])))
		if from >= len(cells) {
			return out
		}
		cells, prefix = cells[from:], rest
	}
}

// breakAt is where a line of so much room ends, and where the next one begins.
func breakAt(cells []cell, room int) (end, from int) {
	used, fits := 0, 0
	for fits < len(cells) && used+cells[fits].width <= room {
		used += cells[fits].width
		fits++
	}
	if fits == len(cells) {
		return fits, fits
	}
	if fits == 0 { // a cluster wider than the room stands alone
		return 1, 1
	}
	for at := fits; at > 0; at-- {
		switch {
		case cells[at].blank:
			end, from = at, at+1
		case cells[at].wide || cells[at-1].wide:
			end, from = at, at
		case cells[at-1].blank:
			end, from = at-1, at
		default:
			continue
		}
		for end > 0 && cells[end-1].blank {
			end--
		}
		if end == 0 { // only blanks before: they are the line's indent
			break
		}
		for from < len(cells) && cells[from].blank {
			from++
		}
		return end, from
	}
	return fits, fits
}

// Hard lays the line out in lines of at most width columns and leaves out nothing:
// blanks stay where they are. It is for code, where they mean something.
func (l Line) Hard(width int, first, rest Line) []Line {
	cells := l.cells()
	prefix := first
	var out []Line
	for {
		room := max(width-prefix.Width(), narrowest)
		used, fits := 0, 0
		for fits < len(cells) && (fits == 0 || used+cells[fits].width <= room) {
			used += cells[fits].width
			fits++
		}
		out = append(out, slices.Concat(prefix, l.piece(cells[:fits])))
		if cells = cells[fits:]; len(cells) == 0 {
			return out
		}
		prefix = rest
	}
}

// Cut is the line, and of a wider one its beginning and an ellipsis, in at most
// width columns.
func (l Line) Cut(width int) Line {
	if l.Width() <= width {
		return l
	}
	if width <= 0 {
		return nil
	}
	cells := l.cells()
	used, fits := 0, 0
	for fits < len(cells) && used+cells[fits].width <= width-1 {
		used += cells[fits].width
		fits++
	}
	out := l.piece(cells[:fits])
	mark := Span{Text: "…", Role: Muted}
	if n := len(out); n > 0 {
		mark.Role, mark.Attr = out[n-1].Role, out[n-1].Attr
	}
	return out.Add(mark)
}

// CutLeft is the text, and of a wider one an ellipsis and its end: paths say most
// in their last parts.
func CutLeft(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	for text != "" && Width(text) > width-1 {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return "…" + text
}

// Pad fills the line with blanks up to the width.
func (l Line) Pad(width int) Line {
	if n := width - l.Width(); n > 0 {
		return slices.Concat(l, Text(Plain, strings.Repeat(" ", n)))
	}
	return l
}
