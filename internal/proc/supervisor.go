package proc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"garuda/internal/core"
)

// CommandVariable is set in the environment of every command; its value names
// the command, so that a process that left the command's session is still known
// as its own.
const CommandVariable = "GARUDA_COMMAND_ID"

const (
	// startLimit is how long the system may take to give a process.
	startLimit = 5 * time.Second
	// grace lies between TERM and KILL.
	grace = 2 * time.Second
	// drainLimit is how long pipes are read after the command's own end.
	drainLimit = 2 * time.Second
	// killLimit is how long a process may take to go after KILL before Garuda
	// gives up on it; only one stuck in the kernel, or one of another user, does.
	killLimit = 3 * time.Second
)

// ErrShutdown is returned for a command that came after Shutdown.
var ErrShutdown = errors.New("the executor has been shut down")

// Options of New.
type Options struct {
	// Clock is core.SystemClock when nil.
	Clock core.Clock
	// RunningDir, when set, is the folder (~/.garuda/running) that keeps what
	// runs, for the Sweep of the next start. It is made 0700 when missing.
	RunningDir string
	// Report is told of trouble that fails no command: a process that cannot be
	// ended, a record that cannot be written. May be nil; called from any goroutine.
	Report func(error)
}

// Supervisor starts and ends commands. A process has one, because the kernel
// hands orphans to the process and not to a part of it; executors share it
// through their Groups.
type Supervisor struct {
	clock  core.Clock
	report func(error)
	self   identity
	// instance begins the CommandVariable of every command of this Supervisor.
	instance string
	session  int // of Garuda itself

	// starting is read-locked from before a fork until the new process is
	// registered: whoever holds it for writing knows every child.
	starting sync.RWMutex

	mu     sync.Mutex
	closed bool
	serial int
	// open are the commands that a shutdown waits for; those among them that are
	// not over yet are in live, by the value of CommandVariable, and once they
	// have a process in byPid.
	open   map[*Process]bool
	live   map[string]*Process
	byPid  map[int]*Process
	ledger *ledger // nil without a RunningDir
}

// New makes the process's Supervisor. The error says why this system cannot
// keep its promise that nothing outlives a command.
func New(opt Options) (*Supervisor, error) {
	s := &Supervisor{
		clock: opt.Clock, report: opt.Report,
		open: map[*Process]bool{}, live: map[string]*Process{}, byPid: map[int]*Process{},
	}
	if s.clock == nil {
		s.clock = core.SystemClock
	}
	if s.report == nil {
		s.report = func(error) {}
	}
	if err := adoptOrphans(); err != nil {
		return nil, fmt.Errorf("prepare to run commands: %w", err)
	}
	var err error
	if s.self, err = ownIdentity(); err != nil {
		return nil, fmt.Errorf("prepare to run commands: find out when Garuda itself started: %w", err)
	}
	s.session = ownSession()
	s.instance = s.self.prefix() + randomHex()
	if opt.RunningDir != "" && runtime.GOOS != "windows" {
		s.ledger = &ledger{dir: opt.RunningDir, owner: s.self, instance: s.instance}
	}
	return s, nil
}

// identity names a process for as long as the machine is up, reused pids aside.
type identity struct {
	Pid int `json:"pid"`
	// Start is when it started, in the system's own unit.
	Start uint64 `json:"start"`
}

func (i identity) prefix() string {
	return strconv.Itoa(i.Pid) + "." + strconv.FormatUint(i.Start, 10) + "."
}

func randomHex() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b[:])
}

// Close ends everything that any group still runs, waits for it, and forgets
// the records. When ctx ends first, KILL is sent at once and the error says so.
func (s *Supervisor) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	err := s.shutdown(ctx, func(*Process) bool { return true })
	if s.ledger == nil {
		return err
	}
	// A command that has just ended may still be about to write to it.
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.ledger.remove())
}

// shutdown ends the commands that mine picks.
func (s *Supervisor) shutdown(ctx context.Context, mine func(*Process) bool) error {
	s.mu.Lock()
	var procs []*Process
	for p := range s.open {
		if mine(p) {
			procs = append(procs, p)
		}
	}
	s.mu.Unlock()
	for _, p := range procs {
		p.abandonPipes()
		p.Kill()
	}
	var left []string
	for _, p := range procs {
		select {
		case <-p.done:
			continue
		case <-ctx.Done():
		}
		left = append(left, p.killNow())
	}
	s.endStrays()
	if len(left) > 0 {
		return fmt.Errorf("shut down commands: %w before process %s ended by itself; it was killed",
			context.Cause(ctx), strings.Join(left, ", "))
	}
	return nil
}

// enlist gives p its identity before it exists, so that no end of another
// command takes its first moments for those of an orphan.
func (s *Supervisor) enlist(p *Process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || p.group.closed {
		return ErrShutdown
	}
	s.serial++
	p.id = s.instance + "-" + strconv.Itoa(s.serial)
	s.live[p.id], s.open[p] = p, true
	return nil
}

// announce makes sure that there is a record to find a process by, before there
// is a process.
func (s *Supervisor) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger == nil {
		return
	}
	if err := s.ledger.open(); err != nil {
		s.report(fmt.Errorf("keep a record of running processes: %w; if Garuda is killed, they may go on", err))
	}
}

// registered is called in the moment p has a pid.
func (s *Supervisor) registered(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byPid[p.pid] = p
	if s.ledger == nil {
		return
	}
	if err := s.ledger.started(identity{p.pid, p.start}); err != nil {
		s.report(fmt.Errorf("record the running process %d: %w; if Garuda is killed, it may go on", p.pid, err))
	}
}

// finished says that neither p nor its pipes need anything more.
func (s *Supervisor) finished(p *Process) {
	s.mu.Lock()
	delete(s.open, p)
	s.mu.Unlock()
	close(p.done)
}

// delist forgets p's process once nothing of it is left.
func (s *Supervisor) delist(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, p.id)
	if p.pid != 0 && s.byPid[p.pid] == p {
		delete(s.byPid, p.pid)
	}
	if s.ledger == nil || len(s.byPid) > 0 {
		return
	}
	if err := s.ledger.idle(); err != nil {
		s.report(fmt.Errorf("forget ended processes: %w", err))
	}
}

// after returns a channel that closes after d, and what gives it up.
func (s *Supervisor) after(d time.Duration) (<-chan struct{}, func() bool) {
	c := make(chan struct{})
	return c, s.clock.AfterFunc(d, func() { close(c) })
}

// commandEnv is the environment with the command's variable, which nothing that
// was inherited may shadow.
func commandEnv(env []string, id string) []string {
	out := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, CommandVariable+"=") {
			out = append(out, e)
		}
	}
	return append(out, CommandVariable+"="+id)
}

// Group is the commands of one executor.
type Group struct {
	sup      *Supervisor
	launcher Launcher // nil starts commands as they are
	closed   bool     // guarded by sup.mu
}

// NewGroup makes an empty group.
func (s *Supervisor) NewGroup() *Group { return &Group{sup: s} }

// Shutdown ends every command of the group and waits for it; none can be
// started afterwards. When ctx ends first, KILL is sent at once.
func (g *Group) Shutdown(ctx context.Context) error {
	g.sup.mu.Lock()
	g.closed = true
	g.sup.mu.Unlock()
	return g.sup.shutdown(ctx, func(p *Process) bool { return p.group == g })
}

// openNull is stdin for commands that have none.
func openNull() (*os.File, error) { return os.Open(os.DevNull) }
