//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
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
	if !ok || !status.Signaled() {
		return state.ExitCode(), ""
	}
	if name := unix.SignalName(status.Signal()); name != "" {
		return -1, name
	}
	return -1, "signal " + strconv.Itoa(int(status.Signal()))
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
	family := p.sup.family(p)
	select {
	case <-p.exited:
	default:
		// The group of a command that lives is its own, and signalled as a whole
		// also what forks at this moment is reached.
		_ = unix.Kill(-p.pid, sig) // nobody there is what this is for
	}
	p.sup.send(family, sig)
}

// send signals processes by their groups, so that one which forks at this very
// moment does not get away.
func (s *Supervisor) send(found []entry, sig syscall.Signal) {
	sent := map[int]bool{}
	for _, e := range found {
		target := -e.group
		if e.group <= 1 || e.session == s.session {
			target = e.pid // no group that is surely its own
		}
		if e.pid <= 1 || e.pid == s.self.Pid || e.zombie || sent[target] {
			continue
		}
		sent[target] = true
		_ = unix.Kill(target, sig) // one that is gone is as wanted; others are reported by endAll
	}
}

// endRest ends what the command left: TERM, and KILL from killAt on. It returns
// how many processes there were.
func (p *Process) endRest(killAt time.Time) int {
	return p.sup.endAll(killAt, func() ([]entry, bool) { return p.sup.orphans(p) })
}

// endStrays ends orphans whose commands are over.
func (s *Supervisor) endStrays() {
	s.endAll(s.clock.Now(), func() ([]entry, bool) { return s.orphans(nil) })
}

// patience is how often endAll looks again when it was not sure that it had
// seen everything, and found nothing.
const patience = 50

// endAll ends what look finds until it finds no more. look's second value is
// false when something may have escaped it, because a command was just being
// started or reaped.
func (s *Supervisor) endAll(killAt time.Time, look func() ([]entry, bool)) int {
	seen := map[identity]syscall.Signal{}
	pause := time.Millisecond
	for empty := 0; ; {
		found, certain := look()
		if len(found) == 0 {
			if empty++; certain || empty > patience {
				return len(seen)
			}
		}
		now := s.clock.Now()
		if now.After(killAt.Add(killLimit)) {
			s.reportLeft(found)
			return len(seen)
		}
		sig := terminate
		if !now.Before(killAt) {
			sig = kill
		}
		var due []entry
		for _, e := range found {
			id := identity{e.pid, e.start}
			if seen[id] != sig {
				seen[id] = sig
				due = append(due, e)
			}
		}
		s.send(due, sig)
		if sig == kill && len(due) > 0 {
			continue // what forks to get away is followed without a pause
		}
		_ = s.clock.Sleep(context.Background(), pause) // cannot end early
		pause = min(2*pause, 25*time.Millisecond)
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
