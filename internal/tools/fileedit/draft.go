package fileedit

import (
	"sort"
	"strings"

	"garuda/internal/workspace"
)

// draft is a text with replacements made in it one after the other. It keeps the
// text as pieces, so that a hundred replacements in a large file cost little
// more than one, and so that in the end only the bytes that were replaced are
// spliced into the file.
type draft struct {
	lf     string // the text before
	pieces []piece
	index  *index
}

// piece is a stretch of the text as it now is. at is where it stood before, or
// -1 for text that was put in.
type piece struct {
	text string
	at   int
}

func newDraft(lf string, index *index) *draft {
	return &draft{lf: lf, pieces: []piece{{text: lf}}, index: index}
}

// String is the text as it now is.
func (d *draft) String() string {
	if len(d.pieces) == 1 {
		return d.pieces[0].text
	}
	size := 0
	for _, p := range d.pieces {
		size += len(p.text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, p := range d.pieces {
		b.WriteString(p.text)
	}
	return b.String()
}

// find returns where old begins in the text as it now is, in order, overlapping
// occurrences too. What lies within one stretch of the text before is known
// from the index; only the seams are searched.
func (d *draft) find(old string) []int {
	var at []int
	start := 0
	for _, p := range d.pieces {
		if p.at >= 0 {
			for _, i := range d.index.within(old, p.at, p.at+len(p.text)) {
				at = append(at, start+i-p.at)
			}
		}
		start += len(p.text)
	}
	if len(d.pieces) == 1 && d.pieces[0].at == 0 {
		return at
	}
	at = append(at, d.findAtSeams(old)...)
	sort.Ints(at)
	return at
}

// findAtSeams finds the occurrences that do not lie within one stretch of the
// text before.
func (d *draft) findAtSeams(old string) []int {
	var at []int
	reach := len(old) - 1 // how far an occurrence goes into the stretch beside a seam
	w := window{old: old}
	start := 0
	for _, p := range d.pieces {
		switch n := len(p.text); {
		case p.at < 0 || n <= 2*reach:
			w.add(start, p.text, p.at >= 0)
		default:
			w.add(start, p.text[:reach], true)
			at = append(at, w.search()...)
			w = window{old: old}
			w.add(start+n-reach, p.text[n-reach:], true)
		}
		start += len(p.text)
	}
	return append(at, w.search()...)
}

// window is a run of text around seams.
type window struct {
	old   string
	start int // where it begins in the text
	text  strings.Builder
	kept  []span // the stretches of the text before, as offsets in the window
}

// span is [start, end).
type span struct{ start, end int }

func (w *window) add(start int, text string, kept bool) {
	if w.text.Len() == 0 {
		w.start = start
	}
	if kept {
		w.kept = append(w.kept, span{w.text.Len(), w.text.Len() + len(text)})
	}
	w.text.WriteString(text)
}

func (w *window) search() []int {
	var at []int
	next := 0
	for _, i := range occurrences(w.text.String(), w.old) {
		for next < len(w.kept) && w.kept[next].end <= i {
			next++
		}
		within := next < len(w.kept) && w.kept[next].start <= i && i+len(w.old) <= w.kept[next].end
		if !within {
			at = append(at, w.start+i)
		}
	}
	return at
}

// replace puts with in the place of n bytes at each offset. The places are in
// order and apart.
func (d *draft) replace(at []int, n int, with string) {
	out := make([]piece, 0, len(d.pieces)+2*len(at))
	keep := func(p piece) {
		if p.text != "" {
			out = append(out, p)
		}
	}
	start, next, skip := 0, 0, 0 // skip: bytes of the current place that are still to go
	for _, p := range d.pieces {
		for p.text != "" {
			if skip > 0 {
				cut := min(skip, len(p.text))
				p, skip, start = p.from(cut), skip-cut, start+cut
				continue
			}
			if next == len(at) || at[next] >= start+len(p.text) {
				break
			}
			cut := at[next] - start
			keep(p.to(cut))
			keep(piece{text: with, at: -1})
			p, start = p.from(cut), start+cut
			next, skip = next+1, n
		}
		keep(p)
		start += len(p.text)
	}
	d.pieces = out
}

func (p piece) to(n int) piece { return piece{text: p.text[:n], at: p.at} }

func (p piece) from(n int) piece {
	p.text = p.text[n:]
	if p.at >= 0 {
		p.at += n
	}
	return p
}

// edits are the replacements against the text before, in order and apart.
func (d *draft) edits() []workspace.Edit {
	var out []workspace.Edit
	var put strings.Builder
	at := 0
	flush := func(upTo int) {
		if upTo > at || put.Len() > 0 {
			out = append(out, workspace.Edit{Start: at, End: upTo, New: put.String()})
			put.Reset()
		}
	}
	for _, p := range d.pieces {
		if p.at < 0 {
			put.WriteString(p.text)
			continue
		}
		flush(p.at)
		at = p.at + len(p.text)
	}
	flush(len(d.lf))
	return out
}

// occurrences finds every place where old begins in text, overlapping ones too.
func occurrences(text, old string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + 1
	}
}

// apart drops the occurrences that overlap one before them.
func apart(at []int, n int) []int {
	out := at[:0:0]
	end := 0
	for _, i := range at {
		if i >= end {
			out = append(out, i)
			end = i + n
		}
	}
	return out
}
