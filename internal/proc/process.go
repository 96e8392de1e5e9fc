package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"garuda/internal/sandbox"
)

// Process is one command and everything it starts.
type Process struct {
	sup   *Supervisor
	group *Group
	id    string // value of CommandVariable
	pid   int
	start uint64 // see identity
	began time.Time
	os    *os.Process
	tree  tree // what the system needs to find what the command started

	launch *Launch
	// exit is how the command ended, where its first process told.
	exit Exit
	told bool

	// claimed says who got the process first: its starter's caller (claimStarted)
	// or the time limit on the start (claimAbandoned).
	claimed atomic.Int32
	stop    chan struct{} // closed by Kill
	stopped sync.Once
	// exited closes when the command itself has ended, gone when its process has;
	// they differ only behind an Init. It is not reaped yet.
	exited, gone chan struct{}
	// ended closes when nothing of it is left and result is complete; done when
	// its pipes are closed too.
	ended, done chan struct{}
	result      sandbox.Result

	pipes *pipes // of Start; nil for Run
}

const (
	claimStarted   = 1
	claimAbandoned = 2
)

// Start starts a program whose pipes the caller talks to. Its end, its
// descendants' end and the end of ctx are as in Run; Timeout counts too, the
// fields about captured output do not.
func (g *Group) Start(ctx context.Context, cmd *sandbox.Command) (*Process, error) {
	pp, err := newPipes()
	if err != nil {
		return nil, fmt.Errorf("start %s: make its pipes: %w", name(cmd), err)
	}
	p, err := g.launch(ctx, cmd, pp.child[:])
	if err != nil {
		pp.close()
		return nil, err
	}
	p.pipes = pp
	go func() {
		p.oversee(ctx, cmd.Timeout, closedChannel())
		close(p.ended)
		p.awaitReaders()
		p.sup.finished(p)
	}()
	return p, nil
}

// Pid is the process's number.
func (p *Process) Pid() int { return p.pid }

// Stdin, Stdout and Stderr are the caller's ends of the pipes. The readers are
// closed 2 s after the end of the process, so what is left in them must be read
// by then.
func (p *Process) Stdin() io.WriteCloser { return p.pipes.stdin }
func (p *Process) Stdout() io.Reader     { return p.pipes.stdout }
func (p *Process) Stderr() io.Reader     { return p.pipes.stderr }

// Wait returns when the program and all that it started have ended. The error
// is always nil: whatever can be said of the end is in the result.
func (p *Process) Wait() (*sandbox.Result, error) {
	<-p.ended
	return &p.result, nil
}

// Kill ends the program and everything it started: TERM, then KILL after 2 s.
// It does not wait.
func (p *Process) Kill() { p.stopped.Do(func() { close(p.stop) }) }

// launch starts cmd with files as its descriptors 0, 1 and 2, which it closes.
func (g *Group) launch(ctx context.Context, cmd *sandbox.Command, files []*os.File) (*Process, error) {
	p := &Process{
		sup: g.sup, group: g, began: g.sup.clock.Now(),
		stop: make(chan struct{}), exited: make(chan struct{}), gone: make(chan struct{}),
		ended: make(chan struct{}), done: make(chan struct{}),
	}
	err := context.Cause(ctx)
	if err == nil {
		err = g.sup.enlist(p)
	}
	if err != nil {
		closeAll(files)
		return nil, fmt.Errorf("start %s: %w", name(cmd), err)
	}
	if p.launch, err = g.prepare(ctx, cmd, p.id); err != nil {
		closeAll(files)
		g.sup.delist(p)
		g.sup.finished(p)
		return nil, fmt.Errorf("start %s: %w", name(cmd), err)
	}
	started := make(chan error, 1)
	go p.host(cmd, files, started)
	if err := p.awaitStart(ctx, started); err != nil {
		return nil, fmt.Errorf("start %s: %w", name(cmd), err)
	}
	return p, nil
}

// awaitStart waits until there is a process. When ctx ends meanwhile, the process
// may be there already and do what it was told to; so it is waited for as long as a
// command's end would be, and then ended like any other.
func (p *Process) awaitStart(ctx context.Context, started <-chan error) error {
	limit, stopLimit := p.sup.after(startLimit)
	defer stopLimit()
	select {
	case err := <-started:
		return err
	case <-limit:
		return p.abandon(started, fmt.Errorf("the system gave no process within %v; the program or its folder may lie on a disk that does not answer: %w", startLimit, os.ErrDeadlineExceeded))
	case <-ctx.Done():
	}
	late, stopLate := p.sup.after(grace)
	defer stopLate()
	select {
	case err := <-started:
		return err
	case <-limit:
	case <-late:
	}
	return p.abandon(started, context.Cause(ctx))
}

// abandon gives up a start that takes too long, unless it succeeded meanwhile. What
// comes of it all the same is ended by its host, and a shutdown waits for that.
func (p *Process) abandon(started <-chan error, why error) error {
	if !p.claimed.CompareAndSwap(0, claimAbandoned) {
		return <-started
	}
	return why
}

// host forks the process and stays until it has ended. It keeps its thread all
// the while, because the kernel's parent-death signal means the thread.
func (p *Process) host(cmd *sandbox.Command, files []*os.File, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.fork(cmd, p.launch.descriptors(files))
	closeAll(slices.Concat(files, p.launch.Files))
	if err == nil {
		err = p.begin()
	}
	if err != nil {
		p.launch.over(&p.result)
		p.sup.delist(p)
		p.sup.finished(p)
		started <- err
		return
	}
	abandoned := !p.claimed.CompareAndSwap(0, claimStarted)
	if abandoned {
		p.signal(kill)
	} else {
		started <- nil
	}
	p.awaitEnds()
	if abandoned {
		p.reapLate()
		p.sup.finished(p)
	}
}

func (p *Process) fork(cmd *sandbox.Command, files []*os.File) error {
	p.sup.starting.RLock()
	defer p.sup.starting.RUnlock()
	if err := sealDescriptors(); err != nil {
		return fmt.Errorf("keep Garuda's open files from it: %w", err)
	}
	p.sup.announce()
	var err error
	if p.os, err = startProcess(p.launch, files); err != nil {
		return explainStart(err, cmd)
	}
	p.pid = p.os.Pid
	if err := p.started(); err != nil {
		return errors.Join(err, p.os.Kill())
	}
	p.sup.registered(p)
	return nil
}

// explainStart says what the kernel's word for a failed start means.
func explainStart(err error, cmd *sandbox.Command) error {
	if _, dirErr := os.Stat(cmd.Dir); dirErr != nil {
		return fmt.Errorf("its working directory: %w", dirErr)
	}
	return err
}

// ending is why Garuda ended a command.
type ending int

const (
	byItself ending = iota
	byTimeout
	byInterrupt
)

// oversee waits for the command's end, whatever brings it, ends what is left of
// it, and fills the result. drained closes when its output has been read to the end.
func (p *Process) oversee(ctx context.Context, timeout time.Duration, drained <-chan struct{}) {
	why, killAt := p.awaitEnd(ctx, timeout)
	p.result.TimedOut, p.result.Interrupted = why == byTimeout, why == byInterrupt
	p.result.ExitCode = -1
	if why == byItself {
		p.result.HeldPipes = !p.drain(ctx, drained)
		p.settle()
		killAt = p.sup.clock.Now().Add(grace)
	}
	if ended(p.exited) {
		left := p.endRest(killAt)
		if why == byItself {
			p.result.Left = left
		}
	}
	if ended(p.gone) {
		p.conclude()
		p.launch.over(&p.result)
		p.sup.delist(p)
	} else {
		p.sup.report(fmt.Errorf("end process %d: it is still there %v after KILL; the kernel or another user holds it", p.pid, killLimit))
		go p.reapLate()
	}
	p.result.Duration = p.sup.clock.Now().Sub(p.began)
}

// conclude reaps the process and notes how the command ended.
func (p *Process) conclude() {
	state := p.reap()
	switch {
	case p.told:
		p.result.ExitCode, p.result.Signal = p.exit.Code, p.exit.Signal
	case state != nil:
		p.result.ExitCode, p.result.Signal = exitOf(state)
	}
}

// awaitEnd waits for the command's own end, and brings it about when it must.
// killAt is when what is still left may be killed.
func (p *Process) awaitEnd(ctx context.Context, timeout time.Duration) (why ending, killAt time.Time) {
	var limit <-chan struct{}
	if timeout > 0 {
		c, stop := p.sup.after(timeout)
		defer stop()
		limit = c
	}
	select {
	case <-p.exited:
		return byItself, time.Time{}
	case <-limit:
		why = byTimeout
	case <-ctx.Done():
		why = byInterrupt
	case <-p.stop:
		why = byInterrupt
	}
	killAt = p.sup.clock.Now().Add(grace)
	p.signal(terminate)
	if !p.exits(grace) {
		p.signal(kill)
		p.exits(killLimit)
	}
	return why, killAt
}

// exits waits at most d for the command's own end.
func (p *Process) exits(d time.Duration) bool { return p.closes(p.exited, d) }

// closes waits at most d until c is closed.
func (p *Process) closes(c <-chan struct{}, d time.Duration) bool {
	limit, stop := p.sup.after(d)
	defer stop()
	select {
	case <-c:
		return true
	case <-limit:
		return false
	}
}

// drain waits until the output is read to its end: at most 2 s after the
// command's own, and not when it was given up.
func (p *Process) drain(ctx context.Context, drained <-chan struct{}) bool {
	select {
	case <-drained:
		return true
	default:
	}
	limit, stop := p.sup.after(drainLimit)
	defer stop()
	select {
	case <-drained:
		return true
	case <-limit:
	case <-ctx.Done():
	case <-p.stop:
	}
	return false
}

// reapLate waits for a process that withstood KILL.
func (p *Process) reapLate() {
	<-p.gone
	p.endRest(p.sup.clock.Now())
	p.reap()
	p.launch.over(&sandbox.Result{})
	p.sup.delist(p)
}

// killNow sends KILL to the command and what it started, without waiting, and
// names it. What the system is still starting has no number yet: whoever starts
// it ends it.
func (p *Process) killNow() string {
	if p.claimed.Load() != claimStarted {
		return "one that is still being started"
	}
	p.signal(kill)
	return strconv.Itoa(p.pid)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // our copies of the child's ends: nothing was written through them
	}
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func name(cmd *sandbox.Command) string {
	if len(cmd.Argv) == 0 {
		return "a command"
	}
	return cmd.Argv[0]
}
