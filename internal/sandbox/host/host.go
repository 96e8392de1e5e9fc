// Package host runs commands on the machine as they are, with no isolation. It
// is what remains when no sandbox works, or when the user asked for none.
//
// It never decides whether a command may run: because it isolates nothing, the
// policy asks for what a sandbox would have allowed.
package host

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
)

// ErrNoBash says that this machine has no bash to run command texts with.
var ErrNoBash = errors.New("no bash on this machine: install it (on Windows: Git for Windows) and start Garuda again")

// Options of New.
type Options struct {
	// Supervisor starts and ends the commands; the process's one.
	Supervisor *proc.Supervisor
	// Path is Garuda's own PATH, where bash is looked for besides its usual
	// place. Entries inside Root, the project, are passed over.
	Path, Root string
}

// Executor is sandbox.Executor without isolation.
type Executor struct {
	commands *proc.Group
	bash     string
}

var _ sandbox.Executor = (*Executor)(nil)

// New makes an executor for one session. Without bash it is made too, and only
// commands that ask for bash fail, with ErrNoBash.
func New(opt Options) *Executor {
	return &Executor{commands: opt.Supervisor.NewGroup(), bash: FindBash(opt.Path, opt.Root)}
}

// FindBash is the absolute path of the bash that runs command texts, or "". It is
// never one inside root, whatever path says.
func FindBash(path, root string) string {
	usual := "/bin"
	if runtime.GOOS == "windows" {
		usual = `C:\Program Files\Git\bin`
	}
	entries := filepath.SplitList(path)
	entries = slices.DeleteFunc(entries, func(dir string) bool { return root != "" && inside(dir, root) })
	entries = append([]string{usual}, entries...)
	return proc.LookPath("bash", strings.Join(entries, string(filepath.ListSeparator)))
}

func inside(dir, root string) bool {
	if followed, err := filepath.EvalSymlinks(dir); err == nil {
		dir = followed
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// Name is "host".
func (e *Executor) Name() string { return "host" }

// Isolation is none.
func (e *Executor) Isolation() sandbox.Isolation { return sandbox.IsolationNone }

// Bash is the absolute path of the shell that runs command texts, or ErrNoBash.
func (e *Executor) Bash() (string, error) {
	if e.bash == "" {
		return "", ErrNoBash
	}
	return e.bash, nil
}

// Run runs one command; see sandbox.Executor. ReadOnlyRoot cannot be kept here:
// in plan mode the policy lets only commands run that change nothing.
func (e *Executor) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	cmd, err := e.resolved(cmd)
	if err != nil {
		return nil, err
	}
	return e.commands.Run(ctx, cmd)
}

// Start starts a program whose pipes the caller talks to.
func (e *Executor) Start(ctx context.Context, cmd *sandbox.Command) (sandbox.Process, error) {
	cmd, err := e.resolved(cmd)
	if err != nil {
		return nil, err
	}
	p, err := e.commands.Start(ctx, cmd)
	if err != nil {
		return nil, err // a nil *Process must not become a Process that is not nil
	}
	return p, nil
}

// resolved puts in bash's path, so that the command's PATH cannot name another.
func (e *Executor) resolved(cmd *sandbox.Command) (*sandbox.Command, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] != "bash" {
		return cmd, nil
	}
	bash, err := e.Bash()
	if err != nil {
		return nil, err
	}
	c := *cmd
	c.Argv = append([]string{bash}, cmd.Argv[1:]...)
	return &c, nil
}

// Shutdown ends everything that was started here and waits for it.
func (e *Executor) Shutdown(ctx context.Context) error { return e.commands.Shutdown(ctx) }
