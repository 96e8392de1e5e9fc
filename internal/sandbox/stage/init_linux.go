package stage

import (
	"runtime"
	"syscall"
	"unsafe"
)

// find looks the program up where the command will look for it.
func (s *stage) find() *failure {
	name := s.policy.Argv[0]
	if name[0] == '/' {
		s.program = name
	} else if before, _ := cut(name, '/'); before != name {
		s.program = s.policy.Dir + "/" + name
	}
	if s.program != "" {
		if errno := executable(s.program); errno != 0 {
			return because(name, errno)
		}
		return nil
	}
	path := ""
	for _, e := range s.policy.Env {
		if len(e) > 5 && e[:5] == "PATH=" {
			path = e[5:]
		}
	}
	for rest := path; rest != ""; {
		var dir string
		// Relative entries would run what the project placed there.
		if dir, rest = cut(rest, ':'); dir == "" || dir[0] != '/' {
			continue
		}
		if executable(dir+"/"+name) == 0 {
			s.program = dir + "/" + name
			return nil
		}
	}
	return &failure{what: name + " in PATH=" + path, errno: syscall.ENOENT}
}

func executable(path string) syscall.Errno {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		errno, _ := err.(syscall.Errno) //nolint:errorlint // what package syscall returns is not wrapped
		return errno
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Mode&0o111 == 0 {
		return syscall.EACCES
	}
	return 0
}

// start starts the command, in a session of its own so that signals to its group
// do not mean this process.
func (s *stage) start() *failure {
	if err := ignoreSignals(); err != nil {
		return because("ignore signals", err)
	}
	pid, err := syscall.ForkExec(s.program, s.policy.Argv, &syscall.ProcAttr{
		Env: s.policy.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return because(s.program, err)
	}
	s.pid = pid
	return nil
}

// ignoreSignals keeps the command from ending its init, which the Go runtime would do
// at TERM. The command starts with what the runtime had handlers for at its default.
func ignoreSignals() error {
	action := struct{ handler, flags, restorer, mask uint64 }{handler: 1} // SIG_IGN
	for sig := syscall.SIGHUP; sig <= syscall.SIGSYS; sig++ {
		switch sig {
		case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD, syscall.SIGURG, // not possible, or needed to run
			syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV:
			continue
		}
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
		if errno != 0 {
			return errno
		}
	}
	return nil
}

// attend is the life of an init: it returns when nothing else is left here.
func (s *stage) attend() int {
	// The command's output ends when those end who write it.
	for fd := range 3 {
		if err := syscall.Close(fd); err != nil {
			return failed
		}
	}
	if reply(Running, nil) != nil {
		return failed // Garuda has gone
	}
	runtime.GOMAXPROCS(2) // it was started with 1, see Environment
	go obey()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0 // nobody is left
		case pid == s.pid:
			if reply(Exited, little(uint32(status))) != nil {
				return failed // Garuda has gone
			}
		}
	}
}

// obey passes on the signals that it is told. When there is nobody to tell it any
// more, this process ends, and the kernel ends everything in its namespace.
func obey() {
	for {
		b, err := readFull(1)
		if err != nil {
			syscall.Exit(failed)
		}
		_ = syscall.Kill(-1, syscall.Signal(b[0])) // nobody there is what it is for
	}
}
