// Package region draws the live part of the chat at the bottom of a terminal, and
// prints finished lines above it once, into the terminal's own scrollback.
//
// It writes only what changed, never clears more than its own lines, never uses
// the alternate screen, and reads nothing: it makes the bytes, the caller writes
// them and says how large the window is.
package region

import (
	"strconv"
	"strings"

	"garuda/internal/ui/styled"
	"garuda/internal/ui/theme"
)

// Frame is what the terminal shall show.
type Frame struct {
	// Print are finished lines that go above the live ones, for good.
	Print []styled.Line
	// Live are the lines at the bottom. Of more than the window has rows the last
	// ones are shown.
	Live []styled.Line
	// Row and Col say where in Live the cursor stands; a negative Row hides it.
	Row, Col int
}

// Region knows what stands in the live part now. It is for one goroutine.
type Region struct {
	theme         *theme.Theme
	width, height int
	synchronised  bool

	// lines are drawn, each at most width columns; widths are theirs.
	lines  []string
	widths []int
	// row is the cursor's, counted from the first of them; col its column.
	row, col int
	hidden   bool
	// stale says that the window changed and nothing drawn can be relied on but how
	// many rows the cursor stands below the first line.
	stale bool
}

// New draws for a window of that size, from the line in which the cursor stands.
// With synchronised a frame appears at once (mode 2026), where the terminal knows
// that mode; others ignore it.
func New(t *theme.Theme, width, height int, synchronised bool) *Region {
	return &Region{theme: t, width: max(width, 1), height: max(height, 1), synchronised: synchronised}
}

// Size is the window's.
func (r *Region) Size() (width, height int) { return r.width, r.height }

// Resize takes the window's new size. A terminal that became narrower lays the
// drawn lines out anew, each in as many rows as it then needs.
func (r *Region) Resize(width, height int) {
	width, height = max(width, 1), max(height, 1)
	if width != r.width {
		row := 0
		for _, w := range r.widths[:min(r.row, len(r.widths))] {
			row += rowsOf(w, width)
		}
		r.row = row + r.col/width
		r.stale = true
	}
	r.width, r.height = width, height
	if r.row >= height { // what is above the window is scrollback now
		r.row, r.stale = height-1, true
	}
	if len(r.lines) > height {
		r.stale = true
	}
}

func rowsOf(columns, width int) int { return max((columns+width-1)/width, 1) }

// SetTheme draws everything anew in another theme's colours.
func (r *Region) SetTheme(t *theme.Theme) {
	if t != r.theme {
		r.theme, r.stale = t, true
	}
}

// Draw makes the bytes that show the frame; nil when it is shown already.
func (r *Region) Draw(f Frame) []byte {
	live, skipped := f.Live, 0
	if over := len(live) - r.height; over > 0 {
		live, skipped = live[over:], over
	}
	lines, widths := make([]string, len(live)), make([]int, len(live))
	for i, l := range live {
		l = l.Cut(r.width)
		lines[i], widths[i] = r.theme.Render(l), l.Width()
	}
	if len(lines) == 0 {
		lines, widths = []string{""}, []int{0}
	}
	p := pen{row: r.row}
	switch {
	case len(f.Print) > 0 || r.stale || len(r.lines) == 0:
		p.to(0)
		p.text("\r\x1b[J")
		for _, l := range f.Print {
			for _, part := range l.Hard(r.width, nil, nil) {
				p.text(r.theme.Render(part) + "\r\n")
			}
		}
		p.row = 0
		p.text(strings.Join(lines, "\r\n"))
		p.row = len(lines) - 1
	default:
		p.change(r.lines, lines)
	}
	row, col := f.Row-skipped, min(max(f.Col, 0), r.width-1)
	hide := row < 0 || row >= len(lines)
	if hide {
		row, col = len(lines)-1, 0
	}
	unchanged := len(p.out) == 0
	if unchanged && hide == r.hidden && row == r.row && col == r.col {
		return nil
	}
	p.to(row)
	p.text("\r")
	if col > 0 {
		p.csi(col, 'C')
	}
	r.lines, r.widths, r.row, r.col, r.stale = lines, widths, row, col, false
	return r.wrapped(p.out, hide)
}

// wrapped puts the bytes between the marks of one frame, with the cursor hidden
// while they are drawn.
func (r *Region) wrapped(out []byte, hide bool) []byte {
	var b []byte
	if r.synchronised {
		b = append(b, "\x1b[?2026h"...)
	}
	if !r.hidden {
		b = append(b, "\x1b[?25l"...)
	}
	b = append(b, out...)
	if !hide {
		b = append(b, "\x1b[?25h"...)
	}
	if r.hidden = hide; r.synchronised {
		b = append(b, "\x1b[?2026l"...)
	}
	return b
}

// Leave takes the live part away and leaves the cursor, seen, at the beginning of
// the line where it was.
func (r *Region) Leave() []byte {
	p := pen{row: r.row}
	p.to(0)
	p.text("\r\x1b[J\x1b[?25h")
	r.Forget()
	return p.out
}

// Forget begins anew in the line where the cursor stands: something else has
// written to the terminal.
func (r *Region) Forget() {
	r.lines, r.widths, r.row, r.col, r.hidden, r.stale = nil, nil, 0, 0, false, false
}

// pen collects bytes and knows in which row they leave the cursor.
type pen struct {
	out []byte
	row int
}

func (p *pen) text(s string) { p.out = append(p.out, s...) }

func (p *pen) csi(n int, final byte) {
	p.out = append(p.out, "\x1b["...)
	if n != 1 {
		p.out = strconv.AppendInt(p.out, int64(n), 10)
	}
	p.out = append(p.out, final)
}

// to moves to a row that is there.
func (p *pen) to(row int) {
	switch {
	case row < p.row:
		p.csi(p.row-row, 'A')
	case row > p.row:
		p.csi(row-p.row, 'B')
	}
	p.row = row
}

// change rewrites the lines that differ.
func (p *pen) change(old, lines []string) {
	for i, line := range lines {
		if i < len(old) && old[i] == line {
			continue
		}
		if i >= len(old) { // a row that is not there yet: a line feed makes it
			p.to(i - 1)
			p.text("\r\n")
			p.row = i
		} else {
			p.to(i)
			p.text("\r")
		}
		// Cleared first: after a line as wide as the window, clearing the rest would
		// take its last column on some terminals.
		p.text("\x1b[2K" + line)
	}
	if len(lines) < len(old) {
		p.to(len(lines))
		p.text("\r\x1b[J")
	}
}
