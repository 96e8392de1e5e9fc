package view

import (
	"context"
	"slices"

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
	x.Left = slices.Clone(b.shared.left)
	return x, nil
}
