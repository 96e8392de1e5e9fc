package fileedit

import (
	"fmt"
	"slices"
	"strings"

	"garuda/internal/workspace"
)

// patchedText finds the places of hunks in one text, in order.
type patchedText struct {
	name  string
	lf    string
	lines []string
	start []int // of each line, and the text's length at the end
	stale bool
	at    int      // the first line that the next hunk may touch
	loose []string // what the model should know of hunks that matched only nearly
	runs  []lineRun
}

// lineRun is lines [from, to) and what comes in their place. There is at least
// one line between a run and the next.
type lineRun struct {
	from, to int
	put      string
}

func newPatchedText(name, lf string, stale bool) *patchedText {
	t := &patchedText{name: name, lf: lf, stale: stale}
	at := 0
	for line := range strings.Lines(lf) {
		t.lines = append(t.lines, strings.TrimSuffix(line, "\n"))
		t.start = append(t.start, at)
		at += len(line)
	}
	t.start = append(t.start, len(lf))
	return t
}

// apply finds one hunk and notes what it changes.
func (t *patchedText) apply(h *hunk) error {
	from := t.at
	for _, head := range h.heads {
		i := t.seek(head, from)
		if i < 0 {
			return fmt.Errorf("line %d of the patch: %s has no line %q%s", h.line, t.name, head, t.behind(from))
		}
		from = i + 1
	}
	var old []string
	for _, l := range h.lines {
		if l.op != '+' {
			old = append(old, l.text)
		}
	}
	at, err := t.place(h, old, from)
	if err != nil {
		return err
	}
	t.replace(h, at)
	t.at = at + len(old)
	return nil
}

// edits are what the hunks that were applied change.
func (t *patchedText) edits() []workspace.Edit {
	var out []workspace.Edit
	for _, r := range t.runs {
		out = append(out, t.editsOf(r)...)
	}
	return out
}

func (t *patchedText) behind(from int) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" behind line %d", from)
}

// seek finds the head of a hunk: a whole line, blanks around it aside, or else
// one that begins with it.
func (t *patchedText) seek(head string, from int) int {
	begins := -1
	for i := from; i < len(t.lines); i++ {
		switch line := strings.TrimSpace(t.lines[i]); {
		case line == head:
			return i
		case begins < 0 && strings.HasPrefix(line, head):
			begins = i
		}
	}
	return begins
}

// place finds where the hunk's old lines stand: exactly, or but for blanks at
// the ends of lines, or around them. A place that is not the only one needs a head.
func (t *patchedText) place(h *hunk, old []string, from int) (int, error) {
	if len(old) == 0 {
		if len(h.heads) > 0 && !h.atEnd {
			return from, nil
		}
		return len(t.lines), nil
	}
	for _, like := range []struct {
		same func(string) string
		but  string
	}{
		{same: func(s string) string { return s }},
		{func(s string) string { return strings.TrimRight(s, " \t") }, "blanks at the ends of lines"},
		{strings.TrimSpace, "indentation"},
	} {
		found := t.places(old, from, h.atEnd, like.same)
		switch {
		case len(found) == 1, len(found) > 1 && len(h.heads) > 0:
			t.tell(h, found[0], len(old), like.but)
			return found[0], nil
		case len(found) > 1:
			at := make([]int, len(found))
			for i, l := range found {
				at[i] = t.start[l]
			}
			return 0, fmt.Errorf("line %d of the patch: the lines of this hunk stand %d times in %s, at %s; add an @@ line with a line above the place, or more lines around it",
				h.line, len(found), t.name, atLines(t.lf, at))
		}
	}
	why := strings.ReplaceAll(explainMiss(t.lf, strings.Join(old, "\n"), t.stale), "old_string", "the hunk")
	return 0, fmt.Errorf("line %d of the patch: the lines of this hunk do not stand in %s%s.%s", h.line, t.name, t.behind(from), why)
}

// tell notes that a hunk's lines differ from the file's in blanks: what the hunk adds
// stands in the file as it was given, and may be indented wrongly there.
func (t *patchedText) tell(h *hunk, at, lines int, but string) {
	if but == "" {
		return
	}
	place := fmt.Sprintf("line %d", at+1)
	if lines > 1 {
		place = fmt.Sprintf("lines %d-%d", at+1, at+lines)
	}
	note := fmt.Sprintf("The hunk at line %d of the patch fits %s but for %s; lines that stay were left as the file has them", h.line, place, but)
	if slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op == '+' }) {
		note += ", and added ones stand as the patch has them: look whether they are indented rightly"
	}
	t.loose = append(t.loose, note+".")
}

// places finds where the lines stand, overlapping places too. It goes over the
// text once, whatever repeats in it (the search of Knuth, Morris and Pratt).
func (t *patchedText) places(old []string, from int, atEnd bool, same func(string) string) []int {
	want := make([]string, len(old))
	for i, line := range old {
		want[i] = same(line)
	}
	// again[n]: of the first n lines, how many at their end are also at their beginning.
	again := make([]int, len(want)+1)
	for i, n := 1, 0; i < len(want); i++ {
		for n > 0 && want[i] != want[n] {
			n = again[n]
		}
		if want[i] == want[n] {
			n++
		}
		again[i+1] = n
	}
	if atEnd {
		from = max(from, len(t.lines)-len(want))
	}
	var found []int
	n := 0 // lines that match up to here
	for i := from; i < len(t.lines); i++ {
		line := same(t.lines[i])
		for n > 0 && (n == len(want) || line != want[n]) {
			n = again[n]
		}
		if line == want[n] {
			n++
		}
		if n == len(want) {
			found = append(found, i+1-n)
		}
	}
	return found
}

// replace finds the runs of lines that go and come. Lines that stay are left as
// the file has them.
func (t *patchedText) replace(h *hunk, at int) {
	for i := 0; i < len(h.lines); {
		if h.lines[i].op == ' ' {
			i, at = i+1, at+1
			continue
		}
		from := at
		var put strings.Builder
		for ; i < len(h.lines) && h.lines[i].op != ' '; i++ {
			if h.lines[i].op == '-' {
				at++
				continue
			}
			put.WriteString(h.lines[i].text)
			put.WriteByte('\n')
		}
		if last := len(t.runs) - 1; last >= 0 && t.runs[last].to == from { // of the hunk before
			t.runs[last].to = at
			t.runs[last].put += put.String()
			continue
		}
		t.runs = append(t.runs, lineRun{from, at, put.String()})
	}
}

// editsOf replaces the lines of a run. A line that comes in another's place keeps
// that one's newline, as the newlines of a file may differ.
func (t *patchedText) editsOf(r lineRun) []workspace.Edit {
	var out []workspace.Edit
	for r.from < r.to && r.put != "" {
		line, rest, _ := strings.Cut(r.put, "\n")
		if t.lines[r.from] != line {
			out = append(out, workspace.Edit{Start: t.start[r.from], End: t.start[r.from] + len(t.lines[r.from]), New: line})
		}
		r.from, r.put = r.from+1, rest
	}
	if r.from < r.to || r.put != "" {
		out = append(out, t.edit(r))
	}
	return out
}

// edit replaces the lines of a run. A text whose last line does not end in a
// newline keeps it so.
func (t *patchedText) edit(r lineRun) workspace.Edit {
	e := workspace.Edit{Start: t.start[r.from], End: t.start[r.to], New: r.put}
	if e.End < len(t.lf) || t.lf == "" || strings.HasSuffix(t.lf, "\n") {
		return e
	}
	switch e.New = strings.TrimSuffix(r.put, "\n"); {
	case r.from == r.to:
		e.New = "\n" + e.New
	case r.put == "" && e.Start > 0:
		e.Start-- // the newline before the lines that go
	}
	return e
}
