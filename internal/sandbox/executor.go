// Package sandbox runs commands: what an executor is and what it promises,
// whichever isolation stands behind it. Together with package proc it is the
// only code in Garuda that starts processes.
//
// It never decides whether a command may run, and never inherits Garuda's own
// environment.
package sandbox

import (
	"context"
	"errors"
	"io"
	"time"
)

// Isolation is how far a command is kept from the machine.
type Isolation string

const (
	IsolationNone Isolation = "none"
	IsolationOS   Isolation = "os"
)

// ErrUnknown is in the error of a machine of which it could not be told whether it has
// a sandbox. That is no answer: without one commands run on the host only where it is
// known that there is none.
var ErrUnknown = errors.New("it could not be found out whether commands can be isolated")

// Executor starts commands. Every implementation passes the contract suite in
// executortest. Each session owns one; its methods may be called at once.
type Executor interface {
	// Name is host, linux, bwrap, landlock, seatbelt.
	Name() string
	Isolation() Isolation
	// Run starts one command, waits for its end and returns what it printed. The
	// error is non-nil only when the command could not be started; a failing
	// command, a time-out and an interrupt (the end of ctx) are in the result.
	Run(ctx context.Context, cmd *Command) (*Result, error)
	// Start starts a program whose pipes the caller talks to.
	Start(ctx context.Context, cmd *Command) (Process, error)
	// Shutdown ends everything this executor started and waits for it.
	Shutdown(ctx context.Context) error
}

// Splitter is an executor that sends a command with Outside to another one.
type Splitter interface {
	Executor
	// Outside is the executor without isolation.
	Outside() Executor
}

// Where says which executor a command ends up with, and how isolated it then is.
func Where(e Executor, outside bool) (name string, isolation Isolation) {
	if s, ok := e.(Splitter); ok && outside {
		e = s.Outside()
	}
	return e.Name(), e.Isolation()
}

// Command is what to run and how.
type Command struct {
	// Argv is the program and its arguments; a shell text is {"bash", "-c", text}.
	Argv []string
	// Dir is the working directory, absolute.
	Dir string
	// Env is the whole environment.
	Env []string
	// Timeout ends the command (TERM to its group, KILL after 2 s); 0 means none.
	Timeout time.Duration
	// Limit is how many bytes of each stream are kept in memory, head and tail;
	// the middle is cut.
	Limit int
	// SpillPath, when set, is a file made (0600) for the whole output of both
	// streams in order of arrival once it exceeds Limit, cut at 64 MiB.
	SpillPath string
	// SpillThrough, when set, wraps the spill file, so that what is written to
	// it is redacted on the way; it is closed before the file is. May be nil.
	SpillThrough func(io.Writer) io.WriteCloser
	// Output is called with each piece as it arrives; the bytes are only valid
	// during the call. It must not block for long. May be nil.
	Output func(stderr bool, chunk []byte)
	// ReadOnlyRoot takes the project out of what may be written (plan mode).
	ReadOnlyRoot bool
	// Call is the id of the tool call it belongs to; "" when there is none.
	Call string
	// LockWatched takes the files that package protect calls watched out of what may
	// be written, for a command whose changes nobody looks at when it has ended.
	LockWatched bool
	// Terminals asks for pseudo-terminals of its own (/dev/ptmx, /dev/pts), which script,
	// tmux and tests of programs for terminals need. Landlock gives none.
	Terminals bool
	// Outside runs it without isolation. Only a call that was granted as such
	// (tool unsandboxed) sets it.
	Outside bool
}

// Result of a command that was started.
type Result struct {
	// ExitCode is -1 when a signal ended the command; Signal then names it ("SIGKILL").
	ExitCode int
	Signal   string
	// TimedOut and Interrupted say why Garuda ended it.
	TimedOut, Interrupted bool
	Duration              time.Duration
	Stdout, Stderr        Captured
	// HeldPipes is true when the command had ended but something it had started
	// still held its output; that was killed with the group.
	HeldPipes bool
	// Left is how many processes the command had left running when it ended by
	// itself, holders of its pipes included; they were ended too.
	Left int
	// Spill is the file with the whole output, or "". SpillCut is true when it
	// reached its limit.
	Spill    string
	SpillCut bool
	// SpillErr says why that file is missing or not whole; nil when all is well.
	SpillErr error
	// Hit are the limits of the view that it is known to have run into.
	Hit []Limit
	// Refused are the hosts that the network did not let it reach.
	Refused []string
}

// Limit names one of Limits.
type Limit string

const (
	LimitProcesses Limit = "the number of processes"
	LimitMemory    Limit = "memory"
	LimitFileSize  Limit = "the size of files"
)

// Captured is the part of a stream that was kept.
type Captured struct {
	// Head is the beginning; Tail the end, empty when nothing was cut.
	Head, Tail []byte
	// Total is how many bytes the command wrote.
	Total int64
}

// Process is a running program with pipes.
type Process interface {
	Pid() int
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	// Wait returns when the program has ended.
	Wait() (*Result, error)
	// Kill ends it and its group: TERM, then KILL after 2 s.
	Kill()
}
