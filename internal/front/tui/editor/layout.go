package editor

import "garuda/internal/ui/styled"

// row is a line as it is laid out: a part of the items.
type row struct{ start, end int }

// rows lays the text out in rows of at most width columns, broken behind blanks
// where there are some. There is always one row.
func (e *Editor) rows(width int) []row {
	width = max(width, 2)
	var rows []row
	start, used, blank := 0, 0, -1
	for i := 0; i < len(e.items); i++ {
		it := e.items[i]
		if it.lineEnd() {
			rows = append(rows, row{start, i})
			start, used, blank = i+1, 0, -1
			continue
		}
		_, w := it.shown()
		if used+w > width && i > start {
			cut := i
			if blank >= start {
				cut = blank + 1
			}
			rows = append(rows, row{start, cut})
			start, used, blank = cut, 0, -1
			for _, moved := range e.items[cut:i] {
				_, w := moved.shown()
				used += w
			}
		}
		used += w
		if it.text == " " {
			blank = i
		}
	}
	return append(rows, row{start, len(e.items)})
}

// place is the row and column of the cursor. Between two rows of one line it stands
// at the beginning of the second.
func (e *Editor) place(rows []row) (y, x int) {
	for y = range rows {
		if e.at < rows[y].end || y == len(rows)-1 || e.at == rows[y].end && rows[y+1].start > e.at {
			break
		}
	}
	for _, it := range e.items[rows[y].start:e.at] {
		_, w := it.shown()
		x += w
	}
	return y, x
}

// Up goes a row up, in the column where going up and down began; false from the
// first row, where it stays.
func (e *Editor) Up(width int) bool { return e.vertical(width, -1) }

// Down goes a row down; false from the last one.
func (e *Editor) Down(width int) bool { return e.vertical(width, 1) }

func (e *Editor) vertical(width, by int) bool {
	rows := e.rows(width)
	y, x := e.place(rows)
	if e.last != rowing {
		e.goal = x
	}
	e.last = rowing
	if y += by; y < 0 || y >= len(rows) {
		return false
	}
	at, x := rows[y].start, 0
	for at < rows[y].end {
		_, w := e.items[at].shown()
		if x+w > e.goal {
			break
		}
		x += w
		at++
	}
	// Behind a row's last character the cursor would stand in the next row.
	if y < len(rows)-1 && at == rows[y+1].start && at > rows[y].start {
		at--
	}
	e.at = at
	return true
}

// View lays the text out: at most height rows around the cursor, each at most width
// columns, and where the cursor stands in them.
func (e *Editor) View(width, height int) (lines []styled.Line, y, x int) {
	rows := e.rows(width)
	y, x = e.place(rows)
	first := 0
	if len(rows) > height {
		first = min(max(y-height+1, 0), len(rows)-height)
		if y < first {
			first = y
		}
	}
	for _, r := range rows[first:min(first+max(height, 1), len(rows))] {
		var l styled.Line
		for _, it := range e.items[r.start:r.end] {
			span, _ := it.shown()
			l = l.Add(span)
		}
		lines = append(lines, l)
	}
	return lines, y - first, x
}
