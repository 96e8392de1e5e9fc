package view

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"garuda/internal/sandbox"
)

// Explanation says in data what `garuda sandbox explain` prints.
type Explanation struct {
	Lines []Line
	// Left is what was asked for or found and is not shown, and why.
	Left []Left
}

// Line is one place of the view.
type Line struct {
	// Access is read, write, locked or hidden.
	Access string
	Path   string
	// Host is where it lies on the machine, when that is elsewhere.
	Host string
	// Missing is set for what does not exist and cannot be made.
	Missing bool
	Why     string
}

// Explain says what a command in build mode sees, sorted by path.
func (b *Builder) Explain(ctx context.Context) (*Explanation, error) {
	v, err := b.View(ctx, &sandbox.Command{Dir: b.opt.Root})
	if err != nil {
		return nil, err
	}
	x := &Explanation{}
	for i := range v.Entries {
		e := &v.Entries[i]
		x.Lines = append(x.Lines, Line{Access: e.Access.String(), Path: e.Path, Host: e.Source, Missing: e.Missing, Why: e.Why})
	}
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	x.Left = outermost(b.shared.left)
	return x, nil
}

// outermost leaves out what lies in another place that is left out for the same
// reason, and sorts the rest by path.
func outermost(left []Left) []Left {
	var out []Left
	for _, l := range left {
		if !slices.ContainsFunc(left, func(o Left) bool { return o.Why == l.Why && o.Path != l.Path && inside(o.Path, l.Path) }) {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b Left) int { return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Why, b.Why)) })
	return out
}
