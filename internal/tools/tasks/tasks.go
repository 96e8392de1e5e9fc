// Package tasks holds the tools for the session's list of items, task_create,
// task_get, task_list and task_update, and task_stop, which ends an item or anything
// else that the session has running.
//
// The list lies in the session's folder and is shared by all its agents. The package
// starts nothing and writes nothing but through the session; what runs beside it is
// known to the Sources that it is given.
package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// The limits of the list, in items and characters.
const (
	MaxItems       = 200
	maxSubject     = 200
	maxDescription = 4_000
	maxOwner       = 60
)

// fileName is the list in the session's folder.
const fileName = "tasks.json"

// Source is one kind of work that runs beside the conversation and can be ended.
type Source interface {
	// Running is what runs now, the oldest first.
	Running() []Work
	// Has reports whether there is, or was, work with this id.
	Has(id string) bool
	// Stop ends it and says, for the model, what was done; work that had ended
	// already is no error.
	Stop(ctx context.Context, id string) (said string, err error)
}

// Work is one running thing: b1 and the command, a2 and its task.
type Work struct{ ID, Text string }

// New returns the tools. task_stop ends what the sources know, beside items.
func New(sources ...Source) []tool.Tool {
	return []tool.Tool{create{}, get{}, list{}, update{}, stop{sources}}
}

var errNoKeeper = errors.New("this session keeps no list of items; go on without one")

// with reads the list and, where use changes it, writes it again.
func with(ctx context.Context, env *tool.Env, use func(l *items) error) error {
	if env.Keeper == nil {
		return errNoKeeper
	}
	l := &items{Version: version}
	return env.Keeper.Keep(ctx, fileName, l, func() error {
		if l.Version != version {
			return fmt.Errorf("the list of items is of version %d, and this Garuda knows version %d", l.Version, version)
		}
		if err := l.check(); err != nil {
			return fmt.Errorf("the session's %s was changed by another program, and cannot be used: %w; set it right or delete it", fileName, err)
		}
		return use(l)
	})
}

// text is one line of at most limit characters.
func text(field, s string, limit int) (string, error) {
	s = strings.Join(strings.Fields(s), " ")
	if n := len([]rune(s)); n > limit {
		return "", fmt.Errorf("the %s has %d characters, at most %d; shorten it, details belong into the description", field, n, limit)
	}
	return core.Visible(s), nil
}

func many(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
