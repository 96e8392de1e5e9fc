package bounds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"garuda/internal/sandbox"
)

// ErrNotDelegated is in the error where this user may make no control group.
var ErrNotDelegated = errors.New("no control group was delegated to this user")

// Groups make a control group for each command. The zero value looks for where that
// can be done when the first is asked for; it may be used at once.
type Groups struct {
	// Report is told of trouble that fails no command. May be nil.
	Report func(error)

	once   sync.Once
	dir    string // "" where there is none
	serial atomic.Int64
}

// Group is that of one command. A nil Group bounds nothing.
type Group struct {
	dir    *os.File
	report func(error)
}

// controllers are what a folder must hand on to the groups in it.
var controllers = [...]string{"memory", "pids"}

// prefix begins the names of groups of any Garuda.
const prefix = "garuda-"

// spare is how many processes a command may have beside its limit: the threads of what
// starts it count too.
const spare = 24

// Begin makes the group of one command; nil where there is nothing to bound, or no
// group to be had.
func (g *Groups) Begin(l sandbox.Limits) *Group {
	if l.Processes <= 0 && l.MemoryBytes <= 0 {
		return nil
	}
	g.once.Do(func() { g.dir = g.find("/proc/self/mountinfo", "/proc/self/cgroup") })
	if g.dir == "" {
		return nil
	}
	group, err := g.begin(l)
	if err != nil {
		g.say(fmt.Errorf("bound a command by a control group: %w; the limits of each process hold", err))
		return nil
	}
	return group
}

func (g *Groups) say(err error) {
	if g.Report != nil {
		g.Report(err)
	}
}

func (g *Groups) begin(l sandbox.Limits) (_ *Group, err error) {
	group, err := g.make()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, group.remove())
		}
	}()
	for _, limit := range []struct {
		file  string
		value int64
	}{{"pids.max", int64(l.Processes)}, {"memory.max", l.MemoryBytes}} {
		if limit.value <= 0 {
			continue
		}
		if limit.file == "pids.max" {
			limit.value += spare
		}
		if err := group.write(limit.file, strconv.FormatInt(limit.value, 10)); err != nil {
			return nil, err
		}
	}
	if l.MemoryBytes > 0 {
		// Without swap the limit is what it says; a kernel without it has no such file.
		if err := group.write("memory.swap.max", "0"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return group, nil
}

// make makes an empty group. It is locked for as long as its Garuda lives: by that the
// next one knows what was left.
func (g *Groups) make() (*Group, error) {
	for {
		at := filepath.Join(g.dir, prefix+strconv.Itoa(os.Getpid())+"-"+strconv.FormatInt(g.serial.Add(1), 10))
		err := os.Mkdir(at, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue // a killed Garuda of the same number left it
		}
		if err != nil {
			return nil, err
		}
		dir, err := os.Open(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another Garuda swept it before it was locked
		}
		if err != nil {
			return nil, errors.Join(err, os.Remove(at))
		}
		err = unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			_, err = os.Lstat(at)
		}
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
			if err := dir.Close(); err != nil {
				return nil, err
			}
			continue // as above
		}
		if err != nil {
			return nil, errors.Join(err, dir.Close(), os.Remove(at))
		}
		return &Group{dir: dir, report: g.say}, nil
	}
}

// Into has a process begin in the group.
func (g *Group) Into(sys *syscall.SysProcAttr) {
	if g != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, int(g.dir.Fd())
	}
}

// End says in the result which limits the command ran into, and removes the group with
// whatever is left in it.
func (g *Group) End(res *sandbox.Result) {
	if g == nil {
		return
	}
	if g.count("pids.events", "max") > 0 {
		res.Hit = append(res.Hit, sandbox.LimitProcesses)
	}
	if g.count("memory.events", "oom_kill") > 0 {
		res.Hit = append(res.Hit, sandbox.LimitMemory)
	}
	if err := g.remove(); err != nil {
		g.report(fmt.Errorf("remove the control group of a command: %w", err))
	}
}

func (g *Group) write(file, text string) error {
	f, err := os.OpenFile(filepath.Join(g.dir.Name(), file), os.O_WRONLY, 0) // never makes one
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// count is a number of a file of names and numbers; 0 where it is not there.
func (g *Group) count(file, name string) int64 {
	text, err := os.ReadFile(filepath.Join(g.dir.Name(), file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), " "); key == name {
			n, _ := strconv.ParseInt(value, 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}

func (g *Group) remove() error { return errors.Join(empty(g.dir.Name()), g.dir.Close()) }

// empty ends what is left in a group, and removes it.
func empty(at string) error {
	err := os.Remove(at)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(at, "cgroup.kill"), []byte("1"), 0); err != nil {
		return err
	}
	// The kernel wakes who watches this file when the last process has left.
	events, err := os.Open(filepath.Join(at, "cgroup.events"))
	if err != nil {
		return err
	}
	defer func() { _ = events.Close() }() // it was only watched
	for range leaveRounds {
		if err = os.Remove(at); !errors.Is(err, unix.EBUSY) {
			return err
		}
		if _, err := events.ReadAt(make([]byte, 256), 0); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		watched := []unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}
		if _, err := unix.Poll(watched, leaveMillis); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
	return err
}

// What was killed has leaveRounds times leaveMillis to leave its group.
const (
	leaveRounds = 20
	leaveMillis = 100
)

// sweep removes the groups that killed Garudas left.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		at := filepath.Join(dir, e.Name())
		f, err := os.Open(at)
		if err != nil {
			continue // it has gone meanwhile
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			errs = append(errs, empty(at))
		}
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// find is the folder in which groups are made; "" where there is none. It is the first,
// from this process's own group upwards, that is this user's to change and hands the
// controllers on. root may change all of them, and takes only what was delegated.
func (g *Groups) find(mountinfo, own string) string {
	at, top := ownGroup(mountinfo, own)
	for at != "" {
		if delegated(at) && handsOn(at) && g.tried(at) {
			if err := sweep(at); err != nil {
				g.say(fmt.Errorf("remove the control groups of a Garuda that was killed: %w", err))
			}
			return at
		}
		if at == top {
			return ""
		}
		at = filepath.Dir(at)
	}
	return ""
}

// ownGroup is the folder of this process's group, and the top of its hierarchy.
func ownGroup(mountinfo, own string) (at, top string) {
	path := ""
	for line := range lines(own) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			path = rest
		}
	}
	for line := range lines(mountinfo) {
		f := strings.Fields(line)
		i := slices.Index(f, "-")
		if i < 5 || i+1 >= len(f) || f[i+1] != "cgroup2" {
			continue
		}
		inside, ok := strings.CutPrefix(path, strings.TrimSuffix(f[3], "/"))
		if ok && filepath.IsAbs(path) && !strings.Contains(path, "..") {
			return filepath.Join(f[4], inside), f[4]
		}
	}
	return "", ""
}

// lines are those of a file of /proc; none where it cannot be read.
func lines(file string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		f, err := os.Open(file)
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		for s := bufio.NewScanner(f); s.Scan() && yield(s.Text()); {
		}
	}
}

// delegated reports whether a folder is this user's to make groups in, see
// https://systemd.io/CGROUP_DELEGATION.
func delegated(at string) bool {
	var st unix.Stat_t
	if unix.Stat(at, &st) != nil || int(st.Uid) != os.Geteuid() || unix.Access(at, unix.W_OK) != nil {
		return false
	}
	if os.Geteuid() != 0 {
		return true
	}
	for _, name := range []string{"trusted.delegate", "user.delegate"} {
		var value [8]byte
		if n, err := unix.Getxattr(at, name, value[:]); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// handsOn reports whether the groups in a folder have the controllers.
func handsOn(at string) bool {
	text, err := os.ReadFile(filepath.Join(at, "cgroup.subtree_control"))
	has := strings.Fields(string(text))
	for _, c := range controllers {
		if err != nil || !slices.Contains(has, c) {
			return false
		}
	}
	return true
}

// tried reports whether a process can begin in a group there.
func (g *Groups) tried(at string) bool {
	trial := &Groups{dir: at}
	group, err := trial.make()
	if err != nil {
		return false
	}
	sys := &syscall.SysProcAttr{}
	group.Into(sys)
	p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Dir: "/", Env: []string{}, Sys: sys})
	if err == nil {
		_, err = p.Wait()
	}
	return errors.Join(err, group.remove()) == nil
}
