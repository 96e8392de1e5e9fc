package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize is what the pipes of captured output hold. It is a quarter of what
// the kernel allows, because all pipes of a user share 64 MiB by default.
const pipeSize = 256 << 10

func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of what commands leave behind: %w", err)
	}
	return nil
}

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func sealAll() bool {
	return unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil
}

// outPipe is a pipe that a child writes. Only our end is non-blocking: the mode
// belongs to the end, and programs do not expect it of their output.
func outPipe() (r, w *os.File, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	// Best effort: a user over the kernel's share for pipes keeps the small ones.
	_, _ = unix.FcntlInt(uintptr(fd[1]), unix.F_SETPIPE_SZ, pipeSize)
	return pipeEnds(fd, 0)
}

// inPipe is a pipe that a child reads.
func inPipe() (r, w *os.File, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return pipeEnds(fd, 1)
}

// pipeEnds makes our end of a pipe non-blocking, so that closing it ends a read.
func pipeEnds(fd [2]int, ours int) (r, w *os.File, err error) {
	if err := unix.SetNonblock(fd[ours], true); err != nil {
		return nil, nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd[0]), unix.Close(fd[1]))
	}
	return os.NewFile(uintptr(fd[0]), "|0"), os.NewFile(uintptr(fd[1]), "|1"), nil
}

// tree keeps how the process ended; what it started is found by looking.
type tree struct{ state *os.ProcessState }

// awaitExit returns when the command's process has ended. It is not reaped, so
// its number, and with it its group and session, stay its own.
func (p *Process) awaitExit() {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap takes the process off the system's list. It excludes whoever is reading
// the list of our children, which skips entries when others vanish meanwhile.
func (p *Process) reap() *os.ProcessState {
	p.sup.starting.RLock()
	defer p.sup.starting.RUnlock()
	state, err := p.os.Wait()
	if err != nil {
		p.sup.report(fmt.Errorf("learn how process %d ended: %w", p.pid, err))
	}
	p.tree.state = state
	return state
}

// orphans visits the children of this process that p left behind, and those of
// commands that are over; p may be nil. What hangs below them becomes our child
// as they end. Children that have ended are reaped on the way. certain is false
// when some may have been missed.
func (s *Supervisor) orphans(p *Process, visit func(entry)) (certain bool) {
	certain = s.starting.TryLock()
	if certain {
		defer s.starting.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The kernel gives orphans to the main thread, so its list comes first and
	// alone: one that forks to get away is met at most some ten microseconds
	// after it came to us. Only an empty list is checked against the others.
	for range 1000 {
		alive, ended := s.visitOrphans(p, mainThreadChildren(s.self.Pid), certain, visit)
		if alive > 0 {
			return certain
		}
		if ended > 0 {
			continue // it may have left us its own children after the list was read
		}
		all, err := children()
		if err != nil {
			s.report(fmt.Errorf("look for what a command left running: %w", err))
			return true
		}
		if _, ended = s.visitOrphans(p, all, certain, visit); ended == 0 || !certain {
			return certain
		}
	}
	return false
}

// visitOrphans visits the living orphans among pids, and reaps the others when
// it may. It returns how many of both there were. The caller holds s.mu.
func (s *Supervisor) visitOrphans(p *Process, pids []int, certain bool, visit func(entry)) (alive, ended int) {
	for _, pid := range pids {
		if s.byPid[pid] != nil {
			continue
		}
		e, err := processEntry(pid)
		switch {
		case err != nil || e.session == s.session || e.parent != s.self.Pid:
			// gone, or a child that other code of this process started
		case e.zombie && certain:
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) // it has ended: this cannot fail
			ended++
		case !e.zombie && s.leftBy(p, e, certain):
			visit(e)
			alive++
		}
	}
	return alive, ended
}

// leftBy reports whether a child that is no command itself belongs to p or to a
// command that is over. The caller holds s.mu.
func (s *Supervisor) leftBy(p *Process, e entry, certain bool) bool {
	if q := s.byPid[e.session]; q != nil {
		return q == p
	}
	id := markOf(e.pid)
	switch {
	case strings.HasPrefix(id, s.instance+"-"):
		q := s.live[id]
		return q == nil || q == p
	case strings.HasPrefix(id, s.self.prefix()):
		return false // another Supervisor of this process, as in tests
	}
	// It shed its mark, or a Garuda inside the command gave it another. A child
	// that was forked just now looks the same, and so does a stranger's orphan
	// where Garuda is a container's first process.
	return certain && s.self.Pid != 1 && (p == nil || e.start >= p.start)
}

// family lists p, what it started and what it left, as far as can be seen.
func (s *Supervisor) family(p *Process) []entry {
	var found []entry
	left := map[int]bool{p.pid: true}
	s.orphans(p, func(e entry) {
		found = append(found, e)
		left[e.pid] = true
	})
	all, err := processes()
	if err != nil {
		s.report(fmt.Errorf("look for what process %d started: %w", p.pid, err))
		return found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return descendants(all,
		func(e entry) bool { return left[e.pid] || e.session == p.pid },
		func(e entry) bool { return s.byPid[e.pid] != nil })
}

// mainThreadChildren lists the children of a process's main thread, where the
// kernel tells.
func mainThreadChildren(pid int) []int {
	n := strconv.Itoa(pid)
	list, err := readProc("/proc/" + n + "/task/" + n + "/children")
	if err != nil {
		return nil
	}
	return numbers(list)
}

// childrenOf lists the children of a process that is being hunted.
func childrenOf(pid int) []entry {
	var out []entry
	for _, c := range mainThreadChildren(pid) {
		if e, err := processEntry(c); err == nil && e.parent == pid {
			out = append(out, e)
		}
	}
	return out
}

// children lists the children of this process.
func children() ([]int, error) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, t := range tasks {
		list, err := readProc("/proc/self/task/" + t.Name() + "/children")
		if errors.Is(err, fs.ErrNotExist) {
			if _, gone := os.Stat("/proc/self/task/" + t.Name()); gone != nil {
				continue
			}
			return childrenByParent() // a kernel without this list
		}
		pids = append(pids, numbers(list)...)
	}
	return pids, nil
}

func numbers(list []byte) []int {
	var out []int
	for _, f := range bytes.Fields(list) {
		if n, err := strconv.Atoi(string(f)); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// readProc reads a file of /proc without what os does for files that may block.
func readProc(path string) (b []byte, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	b = make([]byte, 0, 4096)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if n > 0 {
			b = b[:len(b)+n]
		}
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return b, err
		}
	}
}

func childrenByParent() ([]int, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range all {
		if e.parent == os.Getpid() {
			pids = append(pids, e.pid)
		}
	}
	return pids, nil
}

// processes lists every process that can be seen.
func processes() ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	if err := errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	var all []entry
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if e, err := processEntry(pid); err == nil { // else it is gone
			all = append(all, e)
		}
	}
	return all, nil
}

func processEntry(pid int) (entry, error) {
	b, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, err
	}
	return parseStat(string(b))
}

// parseStat reads a line of /proc/PID/stat, see proc_pid_stat(5). The second
// field is the program's name in brackets and may itself hold anything.
func parseStat(line string) (entry, error) {
	bad := fmt.Errorf("read a process's state: %q is not what proc_pid_stat(5) says", line)
	open, end := strings.Index(line, " ("), strings.LastIndex(line, ") ")
	if open < 0 || end < open {
		return entry{}, bad
	}
	// From here on field 3 of the manual page is f[0].
	f := strings.Fields(line[end+2:])
	if len(f) < 20 {
		return entry{}, bad
	}
	e := entry{zombie: f[0] == "Z" || f[0] == "X"}
	var errs [5]error
	e.pid, errs[0] = strconv.Atoi(line[:open])
	e.parent, errs[1] = strconv.Atoi(f[1])
	e.group, errs[2] = strconv.Atoi(f[2])
	e.session, errs[3] = strconv.Atoi(f[3])
	e.start, errs[4] = strconv.ParseUint(f[19], 10, 64)
	if errors.Join(errs[:]...) != nil {
		return entry{}, bad
	}
	return e, nil
}

func ownIdentity() (identity, error) {
	e, err := processEntry(os.Getpid())
	return identity{e.pid, e.start}, err
}

// markOf is the CommandVariable of a process, or "" where that cannot be read.
func markOf(pid int) string {
	environ, err := readProc("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	return mark(environ)
}

// place names the boot and the pid namespace in which process numbers hold.
func place() (boot, namespace string, err error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", "", fmt.Errorf("learn which boot this is: %w", err)
	}
	namespace, err = os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", "", fmt.Errorf("learn which process namespace this is: %w", err)
	}
	return strings.TrimSpace(string(b)), namespace, nil
}
