// Package fileedit holds the tools that change single files: write_file and
// edit_file.
//
// Both plan the whole change before it is approved and plan it again, against
// the disk, when they run; what is then no longer what was reviewed is not
// written. They reach files only through package workspace and decide nothing.
package fileedit

import (
	"encoding/json"
	"fmt"

	"github.com/aymanbagabas/go-udiff"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// New returns the tools of this package.
func New() []tool.Tool { return []tool.Tool{editFile{}, writeFile{}} }

// decode reads a call's input, which has already passed the tool's schema.
func decode[T any](input json.RawMessage) (*T, error) {
	in := new(T)
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return in, nil
}

// mayLookInside reports whether planning may read the file. What planning finds
// shows in errors and previews before anything is decided, so a file that the
// policy hides is not even looked at: the decision denies the call by its path.
func mayLookInside(env *tool.Env, p workspace.Path) bool {
	return env.MayRead(p.Abs) && env.MayRead(p.Real)
}

// writeEffects are the effects of changing one file.
func writeEffects(p workspace.Path, changes ...tool.Change) tool.Effects {
	return tool.Effects{Writes: []string{p.Abs}, Real: p.Through(), Changes: changes}
}

// diffContext is how many lines a diff shows around a change.
const diffContext = 3

// diff is the unified diff of edits of a text; oldName is /dev/null for a new file.
func diff(oldName, newName, old string, edits []workspace.Edit) (string, error) {
	out := make([]udiff.Edit, len(edits))
	for i, e := range edits {
		out[i] = udiff.Edit{Start: e.Start, End: e.End, New: e.New}
	}
	text, err := udiff.ToUnified(oldName, newName, old, out, diffContext)
	if err != nil {
		return "", fmt.Errorf("make the diff of %s: %w", newName, err)
	}
	return text, nil
}

func countLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
