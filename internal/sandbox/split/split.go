// Package split is the executor of a session: it sends each command into the
// sandbox, and past it only those that were granted so.
//
// Finding a sandbox takes some milliseconds, so it is looked for only when somebody
// asks for it, or beside the rest of a start that will; whoever asks first waits.
// It never decides which command may leave the sandbox, and where a sandbox is
// required and there is none it runs nothing.
package split

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"garuda/internal/sandbox"
)

// ErrNoSandbox is in the error of a command that was not run, because a sandbox is
// required and there is none.
var ErrNoSandbox = errors.New("a sandbox is required, and there is none")

// Options of New.
type Options struct {
	// Host runs what leaves the sandbox, and everything where there is none.
	Host sandbox.Executor
	// Find finds the isolating executor; its error says why there is none, and what
	// to do about it. With sandbox.ErrUnknown in it nothing runs but what leaves the
	// sandbox. Nil: none is wanted.
	Find func(ctx context.Context) (sandbox.Executor, error)
	// Required lets nothing run without isolation.
	Required bool
	// InsideEnv are variables that a command in the sandbox gets in the place of its
	// own. It is asked for each, once a sandbox was found. May be nil.
	InsideEnv func() []string
}

// Executor is sandbox.Splitter over two others. All its methods but Outside wait
// for the sandbox to be found.
type Executor struct {
	host     sandbox.Executor
	required bool
	env      func() []string

	// find looks for the sandbox, with a context that cancel ends, once begun has begun it.
	find   func()
	cancel context.CancelFunc
	begun  sync.Once
	found  chan struct{} // closes when the two below are set
	inside sandbox.Executor
	err    error
}

var _ sandbox.Splitter = (*Executor)(nil)

// New looks for no sandbox yet: Begin does, or whoever asks for it first.
func New(o Options) *Executor {
	ctx, cancel := context.WithCancel(context.Background())
	e := &Executor{host: o.Host, required: o.Required, env: o.InsideEnv, cancel: cancel, found: make(chan struct{})}
	if o.Find == nil {
		close(e.found)
		return e
	}
	e.find = func() {
		defer close(e.found)
		if e.inside, e.err = o.Find(ctx); e.err == nil && e.inside == nil {
			e.err = errors.New("this machine has no sandbox that Garuda knows")
		}
	}
	return e
}

// Begin begins to look for the sandbox, for who is about to need it, and returns at
// once. Shutdown ends the search.
func (e *Executor) Begin() {
	if e.find != nil {
		e.begun.Do(func() { go e.find() })
	}
}

// errEnded is for who asks for a sandbox only after the end. It is not known whether
// there is one, so nothing runs without.
var errEnded = fmt.Errorf("%w: the session has ended, and no sandbox was looked for", sandbox.ErrUnknown)

// Inside is the isolating executor, or nil; err then says why there is none, and is
// nil where none was wanted.
func (e *Executor) Inside() (sandbox.Executor, error) {
	e.Begin()
	<-e.found
	if e.err != nil {
		return nil, e.err
	}
	return e.inside, nil
}

// Outside is the executor without isolation.
func (e *Executor) Outside() sandbox.Executor { return e.host }

// chosen is where a command runs that does not leave the sandbox.
func (e *Executor) chosen() sandbox.Executor {
	if inside, _ := e.Inside(); inside != nil {
		return inside
	}
	return e.host
}

// unknown is why nothing runs but what leaves the sandbox; nil where that is not so.
func (e *Executor) unknown() error {
	if _, err := e.Inside(); errors.Is(err, sandbox.ErrUnknown) {
		return err
	}
	return nil
}

// Name is that of the executor that commands run with.
func (e *Executor) Name() string { return e.chosen().Name() }

// Isolation is that of commands that do not leave the sandbox. Where it is not known
// whether there is one they run in it or not at all, so that nobody is asked in vain.
func (e *Executor) Isolation() sandbox.Isolation {
	if e.unknown() != nil {
		return sandbox.IsolationOS
	}
	return e.chosen().Isolation()
}

// place is where one command runs, and how; an error means nowhere.
func (e *Executor) place(cmd *sandbox.Command) (sandbox.Executor, *sandbox.Command, error) {
	to := e.chosen()
	if cmd.Outside {
		to = e.host
	}
	if e.required && to.Isolation() != sandbox.IsolationOS {
		if _, err := e.Inside(); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrNoSandbox, err)
		}
		return nil, nil, ErrNoSandbox
	}
	if err := e.unknown(); err != nil && !cmd.Outside {
		return nil, nil, err
	}
	if to != e.host && e.env != nil {
		c := *cmd
		c.Env = sandbox.WithEnv(cmd.Env, e.env())
		cmd = &c
	}
	return to, cmd, nil
}

// Run runs one command; see sandbox.Executor.
func (e *Executor) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Result, error) {
	to, cmd, err := e.place(cmd)
	if err != nil {
		return nil, err
	}
	return to.Run(ctx, cmd)
}

// Start starts a program whose pipes the caller talks to.
func (e *Executor) Start(ctx context.Context, cmd *sandbox.Command) (sandbox.Process, error) {
	to, cmd, err := e.place(cmd)
	if err != nil {
		return nil, err
	}
	return to.Start(ctx, cmd)
}

// Shutdown ends what both executors started, and waits for it. A sandbox that nobody
// asked for is not looked for any more.
func (e *Executor) Shutdown(ctx context.Context) error {
	e.cancel()
	if e.find != nil {
		e.begun.Do(func() {
			e.err = errEnded
			close(e.found)
		})
	}
	err := e.host.Shutdown(ctx)
	if inside, _ := e.Inside(); inside != nil {
		err = errors.Join(err, inside.Shutdown(ctx))
	}
	return err
}
