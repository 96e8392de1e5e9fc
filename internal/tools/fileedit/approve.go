package fileedit

import (
	"fmt"
	"slices"
	"strings"
)

// hunks is how many hunks the diff has.
func (e *edited) hunks() int {
	if len(e.hunkOf) == 0 {
		return 0
	}
	return e.hunkOf[len(e.hunkOf)-1]
}

// approved is what of the planned change may be written: all of it, or only some
// hunks. rejected then tells the model of the others.
func (call *editCall) approved(only []int) (e *edited, rejected string, err error) {
	e = call.planned
	if only == nil {
		return e, "", nil
	}
	part := *e
	part.edits, part.hunkOf = nil, nil
	for i, edit := range e.edits {
		if slices.Contains(only, e.hunkOf[i]) {
			part.edits = append(part.edits, edit)
		}
	}
	if len(part.edits) == 0 {
		return nil, "", fmt.Errorf("no hunk of %s was approved; nothing was written", call.path.Rel)
	}
	if len(part.edits) == len(e.edits) {
		return e, "", nil
	}
	part.replaced = len(part.edits)
	if part.raw, part.lf, err = e.text.Splice(part.edits); err != nil {
		return nil, "", fmt.Errorf("edit %s: %w", call.path.Rel, err)
	}
	part.diff, part.hunkOf, err = diffHunks(call.path.Rel, call.path.Rel, e.text.LF, part.edits)
	return &part, e.rejected(only), err
}

// rejected names the hunks that were not written, by their lines before the change.
func (e *edited) rejected(only []int) string {
	var names []string
	for n := 1; n <= e.hunks(); n++ {
		if slices.Contains(only, n) {
			continue
		}
		first := slices.Index(e.hunkOf, n)
		names = append(names, fmt.Sprintf("hunk %d at line %d", n, 1+strings.Count(e.text.LF[:e.edits[first].Start], "\n")))
	}
	return fmt.Sprintf("\nThe user approved only a part of the change. Not written: %s. Do not make it in another way; ask what to do instead.", strings.Join(names, ", "))
}
