package fileedit

import (
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"garuda/internal/workspace"
)

// diffContext is how many lines a diff shows around a change.
const diffContext = 3

// diff is the unified diff of edits of a text; oldName is /dev/null for a new
// file. Only the surroundings of the edits are looked at, so that a small edit
// of a large file costs little.
func diff(oldName, newName, old string, edits []workspace.Edit) (string, error) {
	text, _, err := diffHunks(oldName, newName, old, edits)
	return text, err
}

// diffHunks also says in which hunk of the diff each edit stands, counted from 1.
func diffHunks(oldName, newName, old string, edits []workspace.Edit) (string, []int, error) {
	out := udiff.UnifiedDiff{From: oldName, To: newName}
	var hunkOf []int
	line, moved, at := 0, 0, 0 // lines before at, and how many more there are afterwards
	for len(edits) > 0 {
		start, end, n := surrounded(old, edits)
		part := make([]udiff.Edit, n)
		for i, e := range edits[:n] {
			part[i] = udiff.Edit{Start: e.Start - start, End: e.End - start, New: e.New}
		}
		u, err := udiff.ToUnifiedDiff(oldName, newName, old[start:end], part, diffContext)
		if err != nil {
			return "", nil, fmt.Errorf("make the diff of %s: %w", newName, err)
		}
		for _, e := range edits[:n] {
			hunkOf = append(hunkOf, len(out.Hunks)+hunkAt(u.Hunks, 1+strings.Count(old[start:e.Start], "\n")))
		}
		line += strings.Count(old[at:start], "\n")
		at = start
		for _, h := range u.Hunks {
			h.FromLine += line
			// The library forgets the lines between edits that share a hunk.
			h.ToLine = h.FromLine + moved
			moved += grown(h)
		}
		out.Hunks = append(out.Hunks, u.Hunks...)
		edits = edits[n:]
	}
	return out.String(), hunkOf, nil
}

// hunkAt is the number of the hunk that a line of the old text belongs to.
func hunkAt(hunks []*udiff.Hunk, line int) int {
	n := 1
	for n < len(hunks) && hunks[n].FromLine <= line {
		n++
	}
	return n
}

// grown is how many lines longer a hunk makes the text.
func grown(h *udiff.Hunk) int {
	n := 0
	for _, l := range h.Lines {
		switch l.Kind {
		case udiff.Insert:
			n++
		case udiff.Delete:
			n--
		case udiff.Equal:
		}
	}
	return n
}

// surrounded finds whole lines around the first edits, as many as a hunk shows
// and one more, and how many of the edits lie in them.
func surrounded(old string, edits []workspace.Edit) (start, end, n int) {
	start = edits[0].Start
	for range diffContext + 2 { // the edit's own line, the context and one more
		start = strings.LastIndexByte(old[:start], '\n')
		if start < 0 {
			start = 0
			break
		}
	}
	if start > 0 {
		start++ // behind the newline
	}
	for n < len(edits) && (n == 0 || edits[n].Start <= end) {
		end = edits[n].End
		for range 2*diffContext + 2 { // so that hunks that join are made in one go
			i := strings.IndexByte(old[end:], '\n')
			if i < 0 {
				end = len(old)
				break
			}
			end += i + 1
		}
		n++
	}
	return start, end, n
}
