//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const noFollow = unix.O_NOFOLLOW

// The two ways to end a process.
const (
	terminate = unix.SIGTERM
	kill      = unix.SIGKILL
)

func ownSession() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0 // no process has session 0, so nothing is taken for ours
	}
	return sid
}

// sealDescriptors marks every descriptor above 2 to be closed in children, also
// those that Garuda got from its own parent, which Go does not know of.
func sealDescriptors() error {
	if sealAll() {
		return nil
	}
	dir, err := os.Open("/dev/fd")
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

func exitOf(state *os.ProcessState) (code int, signal string) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok {
		return state.ExitCode(), ""
	}
	exit := ExitOf(status)
	return exit.Code, exit.Signal
}

// ExitOf is what a wait status says of an end.
func ExitOf(status syscall.WaitStatus) Exit {
	if !status.Signaled() {
		return Exit{Code: status.ExitStatus()}
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return Exit{-1, name}
	}
	return Exit{-1, "signal " + strconv.Itoa(int(status.Signal()))}
}

// entry is one line of the system's list of processes.
type entry struct {
	pid, parent, group, session int
	start                       uint64
	zombie                      bool
}

// started notes when p began, which tells it from a later process of its number.
func (p *Process) started() error {
	e, err := processEntry(p.pid)
	if err != nil {
		return err
	}
	p.start = e.start
	return nil
}

// signal sends sig to the command and to all that it started.
func (p *Process) signal(sig syscall.Signal) {
	if p.launch.Init != nil {
		if sig == terminate {
			p.launch.Init.Terminate()
			return
		}
		_ = p.os.Kill() // one that has ended is as wanted
		return
	}
	family := p.sup.family(p)
	select {
	case <-p.exited:
	default:
		_ = unix.Kill(-p.pid, sig) // nobody there is what this is for
	}
	for _, e := range family {
		p.sup.send(e, sig)
	}
}

// send signals a process and its whole group, so that what it forks at this
// very moment does not get away. One that is gone is as wanted, and one that
// cannot be signalled is reported by endAll; so errors are of no use here.
func (s *Supervisor) send(e entry, sig syscall.Signal) {
	if e.pid <= 1 || e.pid == s.self.Pid || e.zombie {
		return
	}
	if e.group > 1 && e.session != s.session {
		_ = unix.Kill(-e.group, sig)
	}
	if e.group != e.pid {
		_ = unix.Kill(e.pid, sig)
	}
}

// endRest ends what the command left: TERM, and KILL from killAt on. It returns
// how many processes there were.
func (p *Process) endRest(killAt time.Time) int {
	if p.launch.Init == nil {
		return p.sup.endAll(p, killAt)
	}
	left := p.endNamespace(killAt)
	if p.launch.Aside != nil {
		p.sup.endAll(p, p.sup.clock.Now()) // a helper that was killed ends before its namespace has
	}
	return left
}

// goes waits at most d for the end of the process, which is that of everything
// where it is the first of a namespace.
func (p *Process) goes(d time.Duration) bool { return p.closes(p.gone, d) }

// settleTime is what a command's children get to end by themselves before they
// count as left running.
const settleTime = 50 * time.Millisecond

// endNamespace ends what the command left in its namespace, as endAll does outside
// of one: TERM, KILL from killAt on. It returns how many processes there were.
func (p *Process) endNamespace(killAt time.Time) int {
	seen := map[identity]bool{}
	for pause := time.Millisecond; p.sup.clock.Now().Before(killAt); pause = min(2*pause, 25*time.Millisecond) {
		if ended(p.gone) {
			return len(seen)
		}
		before := len(seen)
		for _, e := range p.below() {
			seen[identity{e.pid, e.start}] = true
		}
		if len(seen) > before {
			p.launch.Init.Terminate()
		}
		p.goes(min(pause, killAt.Sub(p.sup.clock.Now())))
	}
	p.signal(kill)
	p.goes(killLimit)
	return len(seen)
}

// below lists what lives below the process.
func (p *Process) below() []entry {
	all, err := processes()
	if err != nil {
		p.sup.report(fmt.Errorf("look for what process %d left running: %w", p.pid, err))
		return nil
	}
	found := descendants(all, func(e entry) bool { return e.pid == p.pid }, func(entry) bool { return false })
	return slices.DeleteFunc(found, func(e entry) bool {
		return e.zombie || e.pid == p.pid || p.launch.Aside != nil && e.parent == p.pid
	})
}

// settle gives what is just about to end the moment it needs, so that it is not
// taken for something left running.
func (p *Process) settle() {
	if p.launch.Init != nil {
		p.goes(settleTime)
		return
	}
	for range 10 {
		some := false
		if p.sup.orphans(p, func(entry) { some = true }); !some {
			return
		}
		_ = p.sup.clock.Sleep(context.Background(), settleTime/10) // cannot end early
	}
}

// endStrays ends orphans whose commands are over.
func (s *Supervisor) endStrays() { s.endAll(nil, s.clock.Now()) }

// patience is how often endAll looks again when it was not sure that it had
// seen everything, and found nothing.
const patience = 50

// endAll ends what p left, and what commands that are over did, until no more
// is found. p may be nil.
func (s *Supervisor) endAll(p *Process, killAt time.Time) int {
	seen := map[identity]syscall.Signal{}
	for empty, pause := 0, time.Millisecond; ; {
		sig := terminate
		if !s.clock.Now().Before(killAt) {
			sig = kill
		}
		var still, due []entry
		certain := s.orphans(p, func(e entry) {
			still = append(still, e)
			if id := (identity{e.pid, e.start}); seen[id] != sig {
				seen[id] = sig
				due = append(due, e)
				if sig == kill {
					s.hunt(e, huntDepth) // at once: it may be forking to get away
				}
			}
		})
		if sig == terminate {
			for _, e := range due {
				s.send(e, sig)
			}
		}
		if len(still) == 0 {
			if empty++; certain || empty > patience {
				return len(seen)
			}
		}
		if s.clock.Now().After(killAt.Add(killLimit)) {
			s.reportLeft(still)
			return len(seen)
		}
		if sig == kill && len(due) > 0 {
			continue // what forks to get away is followed without a pause
		}
		_ = s.clock.Sleep(context.Background(), pause) // cannot end early
		pause = min(2*pause, 25*time.Millisecond)
	}
}

// huntDepth is how many generations hunt goes down at once. Those below are met
// when they become our children.
const huntDepth = 8

// hunt kills a process and what hangs below it. The list of its children is
// read before it dies, because then they are no longer its own.
func (s *Supervisor) hunt(e entry, depth int) {
	var below []entry
	if depth > 0 {
		below = childrenOf(e.pid)
	}
	s.send(e, kill)
	for _, c := range below {
		s.hunt(c, depth-1)
	}
}

func (s *Supervisor) reportLeft(found []entry) {
	for _, e := range found {
		s.report(fmt.Errorf("end process %d, left by a command: it is still there %v after KILL; the kernel or another user holds it", e.pid, killLimit))
	}
}

// descendants returns every process of all that hangs below one of the roots,
// those included; what stop says is not entered.
func descendants(all []entry, root func(entry) bool, stop func(entry) bool) []entry {
	below := map[int][]entry{}
	var out []entry
	for _, e := range all {
		if root(e) {
			out = append(out, e)
			continue
		}
		below[e.parent] = append(below[e.parent], e)
	}
	for i := 0; i < len(out); i++ {
		for _, e := range below[out[i].pid] {
			if !stop(e) {
				out = append(out, e)
			}
		}
	}
	return out
}

// mark is the value of CommandVariable in an environment in the kernel's form:
// strings that end in NUL.
func mark(environ []byte) string {
	for _, e := range bytes.Split(environ, []byte{0}) {
		if v, ok := bytes.CutPrefix(e, []byte(CommandVariable+"=")); ok {
			return string(v)
		}
	}
	return ""
}
