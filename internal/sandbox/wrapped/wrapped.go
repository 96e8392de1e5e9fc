// Package wrapped is what executors have in common that put isolation around a
// command by starting something else in its place, which then runs it.
//
// It knows of no isolation itself: what is started is its launcher's to say.
package wrapped

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

// Options of New, and of the packages that build on it.
type Options struct {
	// Supervisor starts and ends the commands; the process's one.
	Supervisor *proc.Supervisor
	// View says what each command sees and changes.
	View sandbox.Viewer
	// Network is the way out; nil when there is none.
	Network sandbox.Network
	// Path is Garuda's own PATH, where bash is looked for besides its usual places, but
	// not inside Root, the project.
	Path, Root string
	// Records is the folder that keeps what was made in the project only to be locked;
	// "" keeps nothing, and then a killed Garuda may leave it.
	Records string
	// Report is told of trouble that fails no command. May be nil.
	Report func(error)
}

// Executor is sandbox.Executor with the isolation of the system.
type Executor struct {
	name     string
	commands *proc.Group
}

var _ sandbox.Executor = (*Executor)(nil)

// New makes an executor for one session.
func New(name string, sup *proc.Supervisor, launcher proc.Launcher) *Executor {
	return &Executor{name: name, commands: sup.NewGroupThrough(launcher)}
}

// Name is the backend's.
func (e *Executor) Name() string { return e.name }

// Isolation is the system's.
func (e *Executor) Isolation() sandbox.Isolation { return sandbox.IsolationOS }

// Run runs one command; see sandbox.Executor.
func (e *Executor) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	return e.commands.Run(ctx, cmd)
}

// Start starts a program whose pipes the caller talks to.
func (e *Executor) Start(ctx context.Context, cmd *sandbox.Command) (sandbox.Process, error) {
	p, err := e.commands.Start(ctx, cmd)
	if err != nil {
		return nil, err // a nil *Process must not become a Process that is not nil
	}
	return p, nil
}

// Shutdown ends everything that was started here and waits for it.
func (e *Executor) Shutdown(ctx context.Context) error { return e.commands.Shutdown(ctx) }

// usualPlaces are where bash is looked for: never where the command's PATH, and
// with it the project, could place another.
const usualPlaces = "/bin:/usr/bin:/usr/local/bin:/run/current-system/sw/bin"

// Program is the absolute path of what cmd runs. bash, which runs the texts of
// commands, is looked for in the system's folders alone.
func Program(cmd *sandbox.Command) (string, error) {
	if cmd.Argv[0] != "bash" {
		return proc.Program(cmd)
	}
	if found := proc.LookPath("bash", usualPlaces); found != "" {
		return found, nil
	}
	return "", fmt.Errorf("%w: bash in %s; install it", proc.ErrNotFound, usualPlaces)
}

// EndedFor reports whether a signal ended a command, or what a shell as the command
// says it waited for.
func EndedFor(res *sandbox.Result, name string, number int) bool {
	return res.Signal == name || res.ExitCode == 128+number
}

// ErrNoView is returned for a command whose view there is nobody to make of.
var ErrNoView = errors.New("there is no view to confine the command to")

// ViewOf asks for the view of a command.
func (o *Options) ViewOf(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
	if o.View == nil {
		return nil, ErrNoView
	}
	v, err := o.View(ctx, cmd)
	if err == nil && v == nil {
		err = ErrNoView
	}
	if err != nil {
		return nil, fmt.Errorf("say what it may see and change: %w", err)
	}
	return v, nil
}

// MergeEnv is env with the variables in add, which win.
func MergeEnv(env, add []string) []string {
	named := map[string]bool{}
	for _, v := range add {
		name, _, _ := strings.Cut(v, "=")
		named[name] = true
	}
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return named[name]
	})
	return append(out, add...)
}
