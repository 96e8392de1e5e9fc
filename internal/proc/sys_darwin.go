package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans: macOS has no subreaper; orphans go to launchd.
func adoptOrphans() error { return nil }

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func sealAll() bool { return false }

func outPipe() (r, w *os.File, err error) { return os.Pipe() }
func inPipe() (r, w *os.File, err error)  { return os.Pipe() }

// awaitExit reaps at once: waitid(2) of macOS also returns for a process that
// was only stopped, so it cannot be used to wait and leave it for later.
func (p *Process) awaitExit() {
	state, err := p.os.Wait()
	if err != nil {
		p.sup.report(fmt.Errorf("learn how process %d ended: %w", p.pid, err))
		return
	}
	p.tree.state = state
}

// tree keeps how the process ended until it is asked for.
type tree struct{ state *os.ProcessState }

func (p *Process) reap() *os.ProcessState { return p.tree.state }

// orphans visits what p left: its session, what carries its mark, and what
// hangs below these. Nothing is known of commands that are over.
func (s *Supervisor) orphans(p *Process, visit func(entry)) (certain bool) {
	if p == nil {
		return true
	}
	all, err := processes()
	if err != nil {
		s.report(fmt.Errorf("look for what process %d started: %w", p.pid, err))
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := func(e entry) bool {
		return e.start >= p.start && e.pid != p.pid && (e.session == p.pid || markOf(e.pid) == p.id)
	}
	for _, e := range descendants(all, mine, func(e entry) bool { return s.byPid[e.pid] != nil }) {
		if !e.zombie {
			visit(e)
		}
	}
	return true
}

// family lists what p started and what it left.
func (s *Supervisor) family(p *Process) (found []entry) {
	s.orphans(p, func(e entry) { found = append(found, e) })
	return found
}

// childrenOf is not needed: orphans has visited them.
func childrenOf(int) []entry { return nil }

func processes() ([]entry, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	all := make([]entry, 0, len(list))
	for i := range list {
		all = append(all, entryOf(&list[i]))
	}
	return all, nil
}

func processEntry(pid int) (entry, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return entry{}, err
	}
	return entryOf(k), nil
}

func entryOf(k *unix.KinfoProc) entry {
	const zombie = 5 // SZOMB of <sys/proc.h>
	e := entry{
		pid: int(k.Proc.P_pid), parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid),
		start:  uint64(k.Proc.P_starttime.Nano()),
		zombie: k.Proc.P_stat == zombie,
	}
	if sid, err := unix.Getsid(e.pid); err == nil {
		e.session = sid
	}
	return e
}

// markOf is the CommandVariable of a process, or "" where that cannot be read:
// kern.procargs2 gives the number of arguments, the program's path, the
// arguments and the environment, each string ended by NUL.
func markOf(pid int) string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return ""
	}
	argc := binary.NativeEndian.Uint32(b)
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range argc {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	return mark(rest)
}

func ownIdentity() (identity, error) {
	e, err := processEntry(os.Getpid())
	return identity{e.pid, e.start}, err
}

// place names the boot in which process numbers hold.
func place() (boot, namespace string, err error) {
	boot, err = unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return "", "", fmt.Errorf("learn which boot this is: %w", err)
	}
	if strings.TrimSpace(boot) == "" {
		return "", "", errors.New("learn which boot this is: kern.bootsessionuuid is empty")
	}
	return boot, "", nil
}
