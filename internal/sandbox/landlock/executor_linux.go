package landlock

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/bounds"
	"garuda/internal/sandbox/loopback"
	"garuda/internal/sandbox/stage"
	"garuda/internal/sandbox/wrapped"
)

// ErrTooOld is in the error of New on a kernel whose Landlock is missing or before Least.
var ErrTooOld = errors.New("the kernel's Landlock is missing or too old")

// Version is what this kernel has of Landlock; 0 is none.
func Version() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// New makes an executor for one session.
func New(opt wrapped.Options) (*wrapped.Executor, error) {
	version := Version()
	if version < Least {
		return nil, fmt.Errorf("%w: it has version %d, and %d is needed (Linux 6.2)", ErrTooOld, version, Least)
	}
	return wrapped.New("landlock", opt.Supervisor, launcher(opt, version, &bounds.Groups{Report: opt.Report})), nil
}

// launcher is what Garuda starts for each command: itself, which fences itself in
// and becomes the command.
func launcher(opt wrapped.Options, version int, groups *bounds.Groups) proc.Launcher {
	return func(ctx context.Context, cmd *sandbox.Command) (_ *proc.Launch, err error) {
		v, err := opt.ViewOf(ctx, cmd)
		if err != nil {
			return nil, err
		}
		rules, err := Rules(v, os.ReadDir)
		if err != nil {
			return nil, err
		}
		f := fenceOf(v, rules, version)
		t := &talk{limits: v.Limits, group: groups.Begin(v.Limits)}
		defer func() {
			if err != nil {
				t.end(&sandbox.Result{})
			}
		}()
		env := v.InPlace(cmd.Env)
		if opt.Network != nil && !v.FullNetwork && version >= netVersion {
			way, err := t.open(ctx, opt.Network, cmd.Call)
			if err != nil {
				return nil, err
			}
			env = wrapped.MergeEnv(env, way.Env)
			f.Ports = ports(way.Ports, v.LocalhostPorts)
		}
		if f.Policy.Argv, err = argvOf(cmd); err != nil {
			return nil, err
		}
		f.Policy.Env, f.Policy.Dir = env, cmd.Dir
		if t.message, err = f.Encode(); err != nil {
			return nil, err
		}
		child, err := t.connect()
		if err != nil {
			return nil, err
		}
		return &proc.Launch{
			Path: "/proc/self/exe", Argv: []string{stage.FenceProgram}, Env: []string{}, Dir: "/",
			Files: []*os.File{child}, Began: t.began, Ended: t.end, Attributes: t.group.Into,
		}, nil
	}
}

// argvOf puts in bash's path; anything else is looked up in the command's PATH.
func argvOf(cmd *sandbox.Command) ([]string, error) {
	if cmd.Argv[0] != "bash" {
		return cmd.Argv, nil
	}
	bash, err := wrapped.Program(cmd)
	if err != nil {
		return nil, err
	}
	return append([]string{bash}, cmd.Argv[1:]...), nil
}

func fenceOf(v *sandbox.View, rules []Rule, version int) *stage.Fence {
	handled := Handled(version)
	f := &stage.Fence{HandledFiles: uint64(handled), Policy: stage.Policy{
		FullNetwork: v.FullNetwork,
		Processes:   processLimit(v.Limits.Processes),
		MemoryBytes: uint64(max(v.Limits.MemoryBytes, 0)), FileBytes: uint64(max(v.Limits.FileBytes, 0)),
	}}
	for _, r := range rules {
		f.Files = append(f.Files, stage.FenceFile{Path: r.Path, Access: uint64(r.Access & handled)})
	}
	if version >= scopeVersion {
		f.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return f
}

// processLimit is a limit on what the command starts as one on all that the user
// runs, which is what the kernel counts: threads, and not those of root.
func processLimit(own int) uint64 {
	if own <= 0 || os.Geteuid() == 0 {
		return 0
	}
	total := own
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return uint64(own) // fewer than are meant
	}
	for _, d := range dirs {
		if _, err := strconv.Atoi(d.Name()); err != nil {
			continue
		}
		var st unix.Stat_t
		if unix.Stat("/proc/"+d.Name()+"/task", &st) == nil && int(st.Uid) == os.Geteuid() {
			total += max(int(st.Nlink)-2, 1) // each thread is a folder in it
		}
	}
	return uint64(total)
}

func ports(lists ...[]int) []uint16 {
	var out []uint16
	for _, n := range slices.Concat(lists...) {
		if n > 0 && n < 1<<16 {
			out = append(out, uint16(n))
		}
	}
	return out
}

// beginLimit is how long a process may take to become its command.
const beginLimit = 5 * time.Second

// talk is Garuda's end of a process that is to become a command, and what that holds.
type talk struct {
	message []byte
	passage sandbox.Passage
	control *os.File
	limits  sandbox.Limits
	group   *bounds.Group
}

func (t *talk) open(ctx context.Context, network sandbox.Network, call string) (way loopback.Way, err error) {
	if t.passage, err = network.Begin(ctx, call); err != nil {
		return way, fmt.Errorf("open its way into the network: %w", err)
	}
	return loopback.Open(t.passage)
}

// connect makes the pair of sockets and returns the other end.
func (t *talk) connect() (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(pair[0], true); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), unix.Close(pair[0]), unix.Close(pair[1]))
	}
	t.control = os.NewFile(uintptr(pair[0]), "fence control")
	return os.NewFile(uintptr(pair[1]), "fence"), nil
}

// began tells the process what to do and waits until it is the command: then its end
// of the pair closes by itself.
func (t *talk) began() error {
	if err := t.control.SetDeadline(time.Now().Add(beginLimit)); err != nil {
		return err
	}
	message := binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(t.message)), uint64(len(t.message)))
	if _, err := t.control.Write(append(message, t.message...)); err != nil {
		return fmt.Errorf("tell its fence what to do: %w", err)
	}
	t.message = nil
	heard, err := io.ReadAll(io.LimitReader(t.control, 2*(stage.ReplyHead+stage.ReplyLimit)))
	if err != nil {
		return fmt.Errorf("hear from its fence: %w", err)
	}
	return understand(heard)
}

// understand reads the replies: that it runs, and nothing after that.
func understand(heard []byte) error {
	runs := false
	for len(heard) > 0 {
		if len(heard) < stage.ReplyHead {
			break
		}
		kind, size := stage.Reply(heard[0]), binary.LittleEndian.Uint32(heard[1:])
		heard = heard[stage.ReplyHead:]
		if int64(size) > int64(len(heard)) {
			break
		}
		body := heard[:size]
		heard = heard[size:]
		switch kind {
		case stage.Running:
			runs = true
		case stage.Failed:
			return failed(body)
		default:
			return fmt.Errorf("hear from its fence: it said %q, which means nothing here", byte(kind))
		}
	}
	if !runs || len(heard) > 0 {
		return errors.New("put up its fence: it ended without a word before the command ran; the command did not run")
	}
	return nil
}

// failed reads what a stage says of its failure.
func failed(body []byte) error {
	step, what, ok := bytes.Cut(body[min(4, len(body)):], []byte{0})
	if !ok {
		return errors.New("put up its fence: it failed and did not say why; the command did not run")
	}
	errno := syscall.Errno(binary.LittleEndian.Uint32(body))
	err := fmt.Errorf("put up its fence, step %s: %s; the command did not run", step, what)
	switch {
	case string(step) == "program" && errno == syscall.ENOENT:
		return fmt.Errorf("%w: %s", proc.ErrNotFound, what)
	case errno != 0:
		return fmt.Errorf("%w (%w)", err, errno)
	}
	return err
}

// end gives back what the command held.
func (t *talk) end(res *sandbox.Result) {
	if t.control != nil {
		_ = t.control.Close() // nothing was buffered
	}
	if t.passage != nil {
		res.Refused = append(res.Refused, t.passage.Close()...)
	}
	if t.limits.FileBytes > 0 && wrapped.EndedFor(res, "SIGXFSZ", int(unix.SIGXFSZ)) {
		res.Hit = append(res.Hit, sandbox.LimitFileSize)
	}
	t.group.End(res)
}
