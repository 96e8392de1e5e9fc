package git

import (
	"context"
	"sync"
	"time"

	"garuda/internal/workspace"
)

// slow is when a git command has taken so long that it is worth to look whether
// it waits at a pipe.
const slow = time.Second

// watchForPipes ends ctx when git runs for a while and the project holds a named
// pipe where git looks for a file of settings: opening one waits for a writer
// that never comes. done ends the watch, and returns the pipe if that was why.
func watchForPipes(parent context.Context, w *workspace.Workspace) (ctx context.Context, done func() string) {
	ctx, stop := context.WithCancel(parent)
	var found string
	var looking sync.WaitGroup
	looking.Add(1)
	timer := time.AfterFunc(slow, func() {
		defer looking.Done()
		if found = settingsPipe(ctx, w); found != "" {
			stop()
		}
	})
	return ctx, func() string {
		stop()
		if !timer.Stop() {
			looking.Wait()
		}
		return found
	}
}

// settingsPipe finds a pipe, as it is shown, that has the name of a file which
// git reads on its own; empty when there is none.
func settingsPipe(ctx context.Context, w *workspace.Workspace) string {
	for _, name := range []string{
		".git", ".git/HEAD", ".git/config", ".git/index", ".git/packed-refs", ".git/commondir", ".git/shallow",
		".git/info/exclude", ".git/info/attributes", ".git/info/sparse-checkout",
	} {
		if p, err := w.Resolve(name); err == nil && p.Info.Kind == workspace.KindPipe {
			return p.Rel
		}
	}
	from, err := w.Resolve(".")
	if err != nil {
		return ""
	}
	var mu sync.Mutex
	found := ""
	// What cannot be walked has nothing that was found; the time limit still holds.
	_, _ = w.Walk(ctx, from, workspace.WalkOptions{IncludeIgnored: true}, func(_ int, e *workspace.Entry) error {
		switch {
		case e.Kind != workspace.KindPipe:
		case e.Name == ".gitattributes", e.Name == ".gitignore", e.Name == ".mailmap":
			mu.Lock()
			defer mu.Unlock()
			found = e.Path().Rel
		}
		return nil
	})
	return found
}
