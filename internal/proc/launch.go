package proc

import (
	"context"
	"os"
	"slices"
	"syscall"

	"garuda/internal/sandbox"
)

// Launcher turns a command into what is really started for it, which is how an
// executor puts isolation around a command without forking by itself. The Env of
// cmd is complete: it holds CommandVariable. An error means that nothing runs.
type Launcher func(ctx context.Context, cmd *sandbox.Command) (*Launch, error)

// Launch is what is really started.
type Launch struct {
	// Path is the program's file, absolute; Argv and Env are all it gets.
	Path      string
	Argv, Env []string
	// Dir is its working directory, absolute.
	Dir string
	// Files become its descriptors from 3 on. They are closed here once it has
	// them, or never will.
	Files []*os.File
	// Aside is set where the process is a helper that makes the namespaces of its
	// Init, which is its only child, and stays beside it: the file becomes its
	// descriptors 0, 1 and 2, so that it does not hold the command's output open. Those
	// of the command come after Files. It is not closed here.
	Aside *os.File
	// Attributes adds to how it is started. It must leave the session and the
	// parent-death signal alone; with a new user namespace it may ask for namespaces,
	// ambient capabilities and a cgroup only. May be nil.
	Attributes func(*syscall.SysProcAttr)
	// Init is the other end of a process that stands between this package and the
	// command. nil means that the process is the command itself.
	Init Init
	// Began does what Init.Begin does where the process becomes the command itself.
	// May be nil.
	Began func() error
	// Ended is called once, when nothing of the process is left, or when it came
	// to none. It may add to the result. May be nil.
	Ended func(*sandbox.Result)
}

// Init talks to the first process of a pid namespace: what ends it ends everything
// in there. The process itself ends when the command and all it left have ended.
type Init interface {
	// Begin is called when there is a process, with its number. It returns when the
	// command runs behind it, or says why it does not; the process is then ended. It
	// takes at most 5 s.
	Begin(pid int) error
	// Wait returns how the command itself ended; what it left may still run. told
	// is false when the process ended without a word about it.
	Wait() (exit Exit, told bool)
	// Terminate sends TERM to everything in the namespace but its first process.
	Terminate()
}

// Exit is how a command ended, as in sandbox.Result.
type Exit struct {
	Code   int
	Signal string
}

// NewGroupThrough makes an empty group whose commands are started by what the
// launcher makes of them.
func (s *Supervisor) NewGroupThrough(launcher Launcher) *Group {
	return &Group{sup: s, launcher: launcher}
}

// prepare says what is started for cmd.
func (g *Group) prepare(ctx context.Context, cmd *sandbox.Command, id string) (*Launch, error) {
	if err := wellFormed(cmd); err != nil {
		return nil, err
	}
	marked := *cmd
	marked.Env = commandEnv(cmd.Env, id)
	if g.launcher != nil {
		return g.launcher(ctx, &marked)
	}
	path, err := Program(cmd)
	if err != nil {
		return nil, err
	}
	return &Launch{Path: path, Argv: cmd.Argv, Env: marked.Env, Dir: cmd.Dir}, nil
}

// attributes are those of every process, and what this one needs besides.
func (l *Launch) attributes() *syscall.SysProcAttr {
	sys := attributes()
	if l.Attributes != nil {
		l.Attributes(sys)
	}
	return sys
}

// descriptors are those of the process, from 0 on; own are the command's.
func (l *Launch) descriptors(own []*os.File) []*os.File {
	if l.Aside == nil {
		return slices.Concat(own, l.Files)
	}
	return slices.Concat([]*os.File{l.Aside, l.Aside, l.Aside}, l.Files, own)
}

// start starts it as package os does.
func (l *Launch) start(files []*os.File) (*os.Process, error) {
	return os.StartProcess(l.Path, l.Argv, &os.ProcAttr{Dir: l.Dir, Env: l.Env, Files: files, Sys: l.attributes()})
}

// over tells who prepared the launch that nothing is left of it.
func (l *Launch) over(res *sandbox.Result) {
	if l.Ended != nil {
		l.Ended(res)
	}
}

// begin waits until the command runs in or behind the process. When it does not,
// nothing of that process is left.
func (p *Process) begin() error {
	began := p.launch.Began
	if p.launch.Init != nil {
		began = func() error { return p.launch.Init.Begin(p.pid) }
	}
	if began == nil {
		return nil
	}
	err := began()
	if err != nil {
		p.signal(kill)
		p.awaitExit()
		p.reap()
	}
	return err
}

// awaitEnds closes exited and gone.
func (p *Process) awaitEnds() {
	if p.launch.Init != nil {
		if p.exit, p.told = p.launch.Init.Wait(); p.told {
			close(p.exited)
			p.awaitExit()
			close(p.gone)
			return
		}
	}
	p.awaitExit()
	close(p.gone) // first: whoever sees the command's end may reap
	close(p.exited)
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
