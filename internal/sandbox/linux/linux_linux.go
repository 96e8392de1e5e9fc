package linux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/bounds"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/stage"
	"garuda/internal/sandbox/wrapped"
)

// Options of New. Records (~/.garuda/placeholders) is made 0700 when missing.
type Options = wrapped.Options

// Executor is sandbox.Executor by namespaces.
type Executor struct {
	*wrapped.Executor
	opt    Options
	bash   string
	places *places
	maker  Maker // nil where Garuda makes the namespaces itself
	// slots bounds how many sandboxes are being made at once: the kernel makes
	// namespaces one after the other, and each start has a limit of time.
	slots chan struct{}
	// groups bound what a command and all it starts use together.
	groups bounds.Groups
}

var _ sandbox.Executor = (*Executor)(nil)

// New makes an executor for one session. What a killed Garuda left in a project to
// be locked is removed. Whether commands can run in it at all, Probe says.
func New(opt Options) (*Executor, error) { return newExecutor("linux", opt, nil) }

func newExecutor(name string, opt Options, maker Maker) (*Executor, error) {
	if opt.Report == nil {
		opt.Report = func(error) {}
	}
	places := newPlaces(opt.Records)
	if err := places.sweep(); err != nil {
		opt.Report(fmt.Errorf("remove what a killed Garuda left to be locked: %w", err))
	}
	e := &Executor{
		opt: opt, bash: host.FindBash(opt.Path, opt.Root), places: places, maker: maker,
		slots: make(chan struct{}, 2*runtime.NumCPU()),
	}
	e.groups.Report = opt.Report
	e.Executor = wrapped.New(name, opt.Supervisor, e.launch)
	return e, nil
}

// Bash is the absolute path of the shell that runs command texts, or host.ErrNoBash.
func (e *Executor) Bash() (string, error) {
	if e.bash == "" {
		return "", host.ErrNoBash
	}
	return e.bash, nil
}

// Shutdown ends everything that was started here and waits for it.
func (e *Executor) Shutdown(ctx context.Context) error {
	err := errors.Join(e.Executor.Shutdown(ctx), e.places.close())
	if e.maker != nil {
		err = errors.Join(err, e.maker.Close())
	}
	return err
}

// errOutside is for a mistake of the caller: this executor has no outside.
var errOutside = errors.New("it was granted to run outside of the sandbox, and was given to the sandbox")

// launch says how a command is started; it holds what must be given back at its end.
func (e *Executor) launch(ctx context.Context, cmd *sandbox.Command) (_ *proc.Launch, err error) {
	if cmd.Outside {
		return nil, errOutside
	}
	if cmd.Argv[0] == "bash" {
		bash, err := e.Bash()
		if err != nil {
			return nil, err
		}
		cmd.Argv = append([]string{bash}, cmd.Argv[1:]...)
	}
	view, err := e.opt.ViewOf(ctx, cmd)
	if err != nil {
		return nil, err
	}
	t := &talk{executor: e}
	defer func() {
		if err != nil {
			t.end(&sandbox.Result{})
		}
	}()
	if err := t.prepare(ctx, view, cmd); err != nil {
		return nil, fmt.Errorf("prepare its sandbox: %w", err)
	}
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	child, err := t.connect()
	if err != nil {
		return nil, fmt.Errorf("prepare its sandbox: %w", err)
	}
	if t.made != nil {
		return t.launchThrough(child), nil
	}
	return &proc.Launch{
		Path: "/proc/self/exe", Argv: []string{stage.Program}, Env: stage.Environment(), Dir: "/",
		Files: []*os.File{child}, Init: t, Ended: t.end,
		Attributes: func(sys *syscall.SysProcAttr) {
			isolate(sys, view.FullNetwork)
			t.group.Into(sys)
		},
	}, nil
}

// isolate puts the process into new namespaces, where it may do what the stage does.
// Who it is there, talk.identify says once the stage runs: before that, the files by
// which that is said do not belong to the user, because Garuda itself is not dumpable.
func isolate(sys *syscall.SysProcAttr, fullNetwork bool) {
	sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if !fullNetwork {
		sys.Cloneflags |= unix.CLONE_NEWNET
	}
	// These would be lost with the start of the binary. They count in the new
	// namespaces only, and the stage gives them up before the command runs.
	sys.AmbientCaps = []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SYS_RESOURCE, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE,
	}
}

// Probe runs /bin/true through the whole sandbox, and says why that is not possible
// on this machine.
func Probe(ctx context.Context, sup *proc.Supervisor) error {
	e, err := New(Options{Supervisor: sup, View: func(context.Context, *sandbox.Command) (*sandbox.View, error) {
		return SystemView()
	}})
	if err != nil {
		return err
	}
	res, err := e.Run(ctx, &sandbox.Command{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{}})
	err = errors.Join(err, e.Shutdown(ctx))
	if err == nil && res.ExitCode != 0 {
		err = fmt.Errorf("run /bin/true in the sandbox: it ended with %d %s", res.ExitCode, res.Signal)
	}
	return err
}
