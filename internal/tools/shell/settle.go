package shell

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/tool"
	"garuda/internal/watched"
)

// settleTime is how long the look at the watched files may take when the call was
// stopped.
const settleTime = 10 * time.Second

// look keeps the watched files before a command that may write them without having
// been asked about: one in the sandbox. Where they cannot be kept it locks them.
func look(ctx context.Context, call *tool.Call, cmd *sandbox.Command) *watched.Look {
	if call.Env.Watcher == nil || cmd.Outside || cmd.ReadOnlyRoot || !isolated(call.Env.Exec, cmd) {
		return nil
	}
	before, err := call.Env.Watcher.Look(ctx)
	if err != nil {
		slog.Warn("watched files are locked for a command", "error", err)
		cmd.LockWatched = true
		return nil
	}
	return before
}

func isolated(exec sandbox.Executor, cmd *sandbox.Command) bool {
	_, isolation := sandbox.Where(exec, cmd.Outside)
	return isolation == sandbox.IsolationOS
}

// settle asks about what the command did to watched files, and puts back what is
// not allowed. It returns what the model must know of it.
func settle(ctx context.Context, call *tool.Call, before *watched.Look) string {
	if before == nil {
		return ""
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	changes, err := before.Changes(late)
	if err != nil {
		return "what the command did to files that other programs trust cannot be told: " + err.Error()
	}
	if len(changes) == 0 {
		return ""
	}
	why := context.Cause(ctx)
	if why == nil {
		why = call.Check(ctx, effects(call, changes), strings.Join(watched.Names(changes), ", "), watched.Diff(changes))
	}
	if why == nil {
		return ""
	}
	// A file's name may hold anything, and must not end the note.
	return strings.Join(strings.Fields(core.Visible(putBack(call, changes, why))), " ")
}

// effects is what the command did, for the decision about it.
func effects(call *tool.Call, changes []watched.Change) tool.Effects {
	var e tool.Effects
	for _, name := range watched.Names(changes) {
		e.Writes = append(e.Writes, filepath.Join(call.Env.Workspace.Root(), filepath.FromSlash(name)))
	}
	return e
}

// putBack undoes the changes, and says so.
func putBack(call *tool.Call, changes []watched.Change, why error) string {
	var back, kept []string
	for _, c := range changes {
		if err := call.Env.Workspace.PutBack(c.Was); err != nil {
			kept = append(kept, err.Error())
			continue
		}
		back = append(back, c.Was.Rel)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the command changed %s, and that was not allowed (%s).", strings.Join(watched.Names(changes), ", "), why)
	if len(back) > 0 {
		fmt.Fprintf(&b, " Put back: %s.", strings.Join(back, ", "))
	}
	if len(kept) > 0 {
		fmt.Fprintf(&b, " Not put back, so tell the user: %s.", strings.Join(kept, "; "))
	}
	b.WriteString(" Commits that the command made hold its text all the same")
	return b.String()
}
