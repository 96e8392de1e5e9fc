package stage

import "syscall"

// The stage runs here, before the rest of the program exists.
func init() {
	if summoned() {
		syscall.Exit(run())
	}
}

// summoned reports whether this process was made to be a stage. Only the first
// process of a pid namespace can be one; started by hand it has no policy, and
// nothing to gain: all that a stage does is to take privileges away.
func summoned() bool { return syscall.Getpid() == 1 && startedAs(Program) }

// startedAs reports whether this process was started under a name, without arguments.
func startedAs(name string) bool { return startedWith(name + "\x00") }

// startedWith reports whether these are the arguments of this process, each with a NUL
// behind it.
func startedWith(arguments string) bool {
	fd, err := open("/proc/self/cmdline", syscall.O_RDONLY)
	if err != nil {
		return false
	}
	var b [64]byte
	n, err := read(fd, b[:])
	_ = closeFile(fd) // it was only read
	return err == nil && string(b[:n]) == arguments
}

// failure is the end of a stage before the command runs.
type failure struct {
	what  string
	errno syscall.Errno
}

// because is an error of a step; its own words come after what it was about.
func because(what string, err error) *failure {
	errno, ok := err.(syscall.Errno) //nolint:errorlint // what package syscall returns is not wrapped
	if !ok {
		return &failure{what: what + ": " + err.Error()}
	}
	return &failure{what: what + ": " + errno.Error(), errno: errno}
}

// stage is what the steps hand on to each other.
type stage struct {
	policy *Policy
	// sources are the trees of policy.Mounts, devices those of /dev; -1 where there
	// is none.
	sources, devices []int
	// root is the top of the view while it is built.
	root int
	// masks is where the empty file and folder lie.
	masks int
	// program is the file that is run, pid the command's process.
	program string
	pid     int
}

// steps are what stands between the policy and the command, in this order. Tests
// make each fail by its name.
func (s *stage) steps() []step {
	return []step{
		{"policy", s.receive},
		{"descriptors", closeDescriptors},
		{"network", s.network},
		{"propagation", makePrivate},
		{"sources", s.openSources},
		{"root", s.makeRoot},
		{"devices", s.makeDevices},
		{"proc", s.makeProc},
		{"view", s.makeView},
		{"pivot", s.pivot},
		{"limits", s.limit},
		{"program", s.find},
		{"leftovers", closeDescriptors}, // of the steps so far: the machine's root is among them
		{"privileges", dropPrivileges},
		{"seccomp", s.filter},
		{"verify", verify},
		{"start", s.start},
	}
}

type step struct {
	name string
	do   func() *failure
}

// sabotage makes a step fail; only this package's tests have one.
var sabotage func(step string, p *Policy) *failure

// through takes one step after the other. After one that fails, which is told, no more
// is done.
func (s *stage) through(steps []step) bool {
	for _, step := range steps {
		f := step.do()
		if f == nil && sabotage != nil {
			f = sabotage(step.name, s.policy)
		}
		if f != nil {
			tell(step.name, f)
			return false
		}
	}
	return true
}

// failed is the exit code after a step that failed.
const failed = 126

// run is the whole life of a stage; it returns the exit code.
func run() int {
	s := &stage{}
	if !s.through(s.steps()) {
		return failed
	}
	return s.attend()
}

// tell says that a step failed. When nobody hears it, Garuda has gone, and the
// command does not run either.
func tell(step string, f *failure) {
	body := append(little(uint32(f.errno)), step...)
	body = append(body, 0)
	_ = reply(Failed, append(body, f.what...))
}

// receive learns what is to be done. Only by then has Garuda said who this process
// is in its user namespace, for which it must still be dumpable; it knows no secret.
func (s *stage) receive() *failure {
	if err := reply(Ready, nil); err != nil {
		return because("ask for it", err)
	}
	await()
	message, f := receiveMessage()
	if f != nil {
		return f
	}
	var err error
	if s.policy, err = decode(message); err != nil {
		return because("read it", err)
	}
	return nil
}

// receiveMessage reads what this process is told. First of all it is taken out of the
// reach of others: they would find its memory and descriptors in /proc.
func receiveMessage() ([]byte, *failure) {
	if err := prctl(prSetDumpable, 0, 0); err != nil {
		return nil, because("hide this process", err)
	}
	if domain, err := syscall.GetsockoptInt(Control, syscall.SOL_SOCKET, soDomain); err != nil || domain != syscall.AF_UNIX {
		return nil, &failure{what: "there is nobody to tell it"}
	}
	message, err := readMessage()
	if err != nil {
		return nil, because("read it", err)
	}
	return message, nil
}

// closeDescriptors leaves 0, 1, 2 and Control, which the command does not get.
func closeDescriptors() *failure {
	if _, _, errno := syscall.RawSyscall(sysCloseRange, Control+1, 1<<32-1, 0); errno != 0 {
		return because("close those above 3", errno)
	}
	syscall.CloseOnExec(Control)
	return nil
}
