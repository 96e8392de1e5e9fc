package shell

import (
	"context"
	"errors"
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

// looked is what was seen before a command that is looked after.
type looked struct {
	// files is nil where they are locked for the command.
	files *watched.Look
}

// look keeps the watched files before a command that may write them without having
// been asked about: one in the sandbox. Where they cannot be kept it locks them.
func look(ctx context.Context, call *tool.Call, cmd *sandbox.Command) *looked {
	if call.Env.Watcher == nil || cmd.Outside || cmd.ReadOnlyRoot || !isolated(call.Env.Exec, cmd) {
		return nil
	}
	before, err := call.Env.Watcher.Look(ctx)
	if err != nil {
		slog.Warn("watched files are locked for a command", "error", err)
		cmd.LockWatched = true
		return &looked{}
	}
	return &looked{before}
}

func isolated(exec sandbox.Executor, cmd *sandbox.Command) bool {
	_, isolation := sandbox.Where(exec, cmd.Outside)
	return isolation == sandbox.IsolationOS
}

// settle asks about what the command did to watched files, and about repositories that
// it planted; what is not allowed is undone. It returns what the model must know of it.
func settle(ctx context.Context, call *tool.Call, before *looked) string {
	if before == nil {
		return ""
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	var changes []watched.Change
	var failed error
	if before.files != nil {
		changes, failed = before.files.Changes(late)
	}
	planted, err := call.Env.Watcher.Planted()
	note := ""
	if failed = errors.Join(failed, err); failed != nil {
		note = "what the command did to files that other programs trust cannot be told: " + oneLine(failed.Error())
	}
	if len(changes)+len(planted) == 0 {
		return note
	}
	why := context.Cause(ctx)
	if why == nil {
		why = call.Check(ctx, effects(call, changes, planted), strings.Join(names(changes, planted), ", "), preview(changes, planted))
	}
	if why == nil {
		call.Env.Watcher.Allow(planted)
		return note
	}
	if note != "" {
		note += ". "
	}
	// A file's name may hold anything, and must not end the note.
	return note + oneLine(putBack(call, changes, planted, why))
}

func oneLine(text string) string { return strings.Join(strings.Fields(core.Visible(text)), " ") }

// names are what the command changed, from the root.
func names(changes []watched.Change, planted []watched.Planted) []string {
	out := watched.Names(changes)
	for i := range planted {
		out = append(out, planted[i].Rel())
	}
	return out
}

// preview is what a person is shown of it.
func preview(changes []watched.Change, planted []watched.Planted) string {
	var b strings.Builder
	b.WriteString(watched.Diff(changes))
	for i := range planted {
		fmt.Fprintf(&b, "%s: a repository that git status looks into; %s\n", planted[i].Rel(), planted[i].Why)
	}
	return b.String()
}

// effects is what the command did, for the decision about it.
func effects(call *tool.Call, changes []watched.Change, planted []watched.Planted) tool.Effects {
	var e tool.Effects
	for _, name := range names(changes, planted) {
		e.Writes = append(e.Writes, filepath.Join(call.Env.Workspace.Root(), filepath.FromSlash(name)))
	}
	return e
}

// putBack undoes the changes, and says so.
func putBack(call *tool.Call, changes []watched.Change, planted []watched.Planted, why error) string {
	var back, kept []string
	for _, c := range changes {
		if err := call.Env.Workspace.PutBack(c.Was); err != nil {
			kept = append(kept, err.Error())
			continue
		}
		back = append(back, c.Was.Rel)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the command changed %s, and that was not allowed (%s).", strings.Join(names(changes, planted), ", "), why)
	if aside := call.Env.Watcher.SetAside(planted); aside != "" {
		b.WriteString(" " + strings.TrimSuffix(aside, ".") + ".")
	}
	if len(back) > 0 {
		fmt.Fprintf(&b, " Put back: %s.", strings.Join(back, ", "))
	}
	if len(kept) > 0 {
		fmt.Fprintf(&b, " Not put back, so tell the user: %s.", strings.Join(kept, "; "))
	}
	if len(changes) == 0 {
		return strings.TrimSuffix(b.String(), ".")
	}
	b.WriteString(" Commits that the command made hold its text all the same")
	return b.String()
}
