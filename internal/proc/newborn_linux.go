package proc

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"garuda/internal/proc/vfork"
)

// startProcess starts what a launch says. In a user namespace of its own package os
// would copy Garuda's whole address space for it.
func startProcess(l *Launch, files []*os.File) (*os.Process, error) {
	sys := l.attributes()
	if sys.Cloneflags&unix.CLONE_NEWUSER == 0 {
		return l.start(files)
	}
	// Whatever else it might ask for would be left out without a word.
	rest := *sys
	rest.Setsid, rest.Pdeathsig, rest.Cloneflags, rest.AmbientCaps, rest.UseCgroupFD, rest.CgroupFD = false, 0, 0, nil, false, 0
	if !reflect.ValueOf(rest).IsZero() {
		return nil, errors.New("start it in a user namespace of its own: it asks for more than namespaces, capabilities and a cgroup")
	}
	limit, err := openFiles()
	if err != nil {
		return nil, err
	}
	return vfork.Start(&vfork.Program{
		Path: l.Path, Argv: l.Argv, Env: l.Env, Dir: l.Dir, Files: files,
		Namespaces: sys.Cloneflags, Capabilities: sys.AmbientCaps, InCgroup: sys.UseCgroupFD, Cgroup: sys.CgroupFD, OpenFiles: limit,
	})
}

// openFiles is the limit of descriptors that Garuda was started with. Package syscall
// raises it for Go programs and lowers it again for what they start, and tells nobody:
// so it is read from a process that was started for this.
var openFiles = sync.OnceValues(func() (limit syscall.Rlimit, err error) {
	const what = "learn how many files a command may open"
	for _, program := range []string{"/bin/true", "/usr/bin/true", "/bin/sh"} {
		var p *os.Process
		p, err = os.StartProcess(program, []string{program, "-c", ":"}, &os.ProcAttr{Env: []string{}, Dir: "/"})
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			break
		}
		var found unix.Rlimit
		// That it may have ended already does not matter before it is taken away.
		err = os.NewSyscallError("prlimit", unix.Prlimit(p.Pid, unix.RLIMIT_NOFILE, nil, &found))
		if _, waited := p.Wait(); err == nil {
			err = waited
		}
		limit = syscall.Rlimit{Cur: found.Cur, Max: found.Max}
		break
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return limit, err
})
