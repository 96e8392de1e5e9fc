// Package fileedit holds the tools that change files.
//
// Each plans the whole change before it is approved and plan it again, against
// the disk, when they run; what is then no longer what was reviewed is not
// written. They reach files only through package workspace and decide nothing.
package fileedit

import (
	"encoding/json"
	"fmt"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

// New returns the tools of this package.
func New() []tool.Tool {
	return []tool.Tool{applyPatch{}, deleteFile{}, editFile{}, moveFile{}, multiEdit{}, notebookEdit{}, writeFile{}}
}

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

func countLines(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
