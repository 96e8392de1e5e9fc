package vfork

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Program is what is started.
type Program struct {
	// Path is its file, absolute; Argv and Env are all it gets.
	Path      string
	Argv, Env []string
	// Dir is its working directory, absolute.
	Dir string
	// Files become its descriptors from 0 on; everything else that is open stays so
	// unless it closes on exec.
	Files []*os.File
	// Namespaces are flags of clone(2): those that are new for it.
	Namespaces uintptr
	// InCgroup lets it begin in the group of cgroups v2 whose open folder Cgroup is.
	InCgroup bool
	Cgroup   int
	// Capabilities are what it keeps of the power over its new user namespace; each is
	// below 64.
	Capabilities []uintptr
	// OpenFiles is its limit of descriptors; package syscall changes that of a Go
	// program.
	OpenFiles syscall.Rlimit
}

// Start starts a program as the leader of its own session. The kernel kills it when
// the calling thread ends, unless that ends before this returns. An error means that
// nothing runs; it says which step of the start failed.
func Start(p *Program) (*os.Process, error) {
	c, err := newChild(p)
	if err != nil {
		return nil, err
	}
	// As for every fork: no descriptor may be open meanwhile that is still to be made
	// one that closes.
	syscall.ForkLock.Lock()
	pid, errno := born(c)
	afterFork()
	syscall.ForkLock.Unlock()
	runtime.KeepAlive(p)
	runtime.KeepAlive(c)
	if errno != 0 {
		return nil, os.NewSyscallError("clone", syscall.Errno(errno))
	}
	if c.errno != 0 {
		for {
			// It has ended: nothing else can be its answer than that it is taken away.
			if _, err := syscall.Wait4(int(pid), nil, 0, nil); err != syscall.EINTR {
				break
			}
		}
		return nil, fmt.Errorf("%s: %w", steps[c.step], c.errno)
	}
	return os.FindProcess(int(pid))
}

// child is all that the child needs: nothing can be allocated there.
type child struct {
	path, dir *byte
	argv, env []*byte
	files     []uintptr
	// flags are for clone; in a group, more is for clone3 instead.
	flags uintptr
	more  *cloneMore
	// header and sets are capabilities as capset(2) takes them.
	header unix.CapUserHeader
	sets   [2]unix.CapUserData
	// ambient are the capabilities one by one.
	ambient   []uintptr
	openFiles syscall.Rlimit

	// step is what the child did last, errno how that failed: it writes them into
	// the address space that it borrows.
	step  int
	errno syscall.Errno
}

// cloneMore is struct clone_args of clone3(2), as far as cgroups.
type cloneMore struct {
	flags, pidfd, childTid, parentTid, exitSignal, stack, stackSize, tls, setTid, setTidSize, cgroup uint64
}

// steps are the names of what the child does.
var steps = [...]string{
	"begin a session", "keep capabilities", "end with Garuda", "enter its working directory", "limit open files", "pass descriptors", "execute the program",
}

const (
	stepSession = iota
	stepCapabilities
	stepEnd
	stepFolder
	stepLimit
	stepFiles
	stepExecute
)

func newChild(p *Program) (*child, error) {
	c := &child{
		flags:   p.Namespaces | syscall.CLONE_VM | syscall.CLONE_VFORK,
		header:  unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
		ambient: p.Capabilities, openFiles: p.OpenFiles,
	}
	if p.InCgroup {
		// Only where it is needed: filters of containers may refuse this call.
		c.more = &cloneMore{
			flags: uint64(c.flags) | unix.CLONE_INTO_CGROUP, exitSignal: uint64(syscall.SIGCHLD), cgroup: uint64(p.Cgroup),
		}
	}
	var err error
	if c.path, err = syscall.BytePtrFromString(p.Path); err != nil {
		return nil, err
	}
	if c.dir, err = syscall.BytePtrFromString(p.Dir); err != nil {
		return nil, err
	}
	if c.argv, err = syscall.SlicePtrFromStrings(p.Argv); err != nil {
		return nil, err
	}
	if c.env, err = syscall.SlicePtrFromStrings(p.Env); err != nil {
		return nil, err
	}
	for _, f := range p.Files {
		c.files = append(c.files, f.Fd())
	}
	for _, n := range p.Capabilities {
		set := &c.sets[n/32]
		bit := uint32(1) << (n % 32)
		set.Effective, set.Permitted, set.Inheritable = set.Effective|bit, set.Permitted|bit, set.Inheritable|bit
	}
	return c, nil
}

// born makes the child. It returns in the parent only, when the child has become the
// program or has ended.
//
//go:noinline
//go:norace
//go:nocheckptr
func born(c *child) (pid, errno uintptr) {
	beforeFork()
	if c.more == nil {
		pid, errno = cloneCall(syscall.SYS_CLONE, c.flags|uintptr(syscall.SIGCHLD), 0)
	} else {
		pid, errno = cloneCall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(c.more)), unsafe.Sizeof(*c.more))
	}
	if errno != 0 || pid != 0 {
		return pid, errno
	}
	live(c)
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 253, 0, 0) // it returns from nothing
	}
}

// live is the child until it is the program. It returns when a step failed. Nothing
// here may allocate, grow the stack or be preempted; signals are off.
//
//go:nosplit
//go:norace
//go:nocheckptr
func live(c *child) {
	c.step = stepSession
	if _, _, c.errno = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0); c.errno != 0 {
		return
	}
	afterForkInChild()
	c.step = stepCapabilities
	if _, _, c.errno = syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&c.header)), uintptr(unsafe.Pointer(&c.sets[0])), 0); c.errno != 0 {
		return
	}
	for i := range c.ambient {
		_, _, c.errno = syscall.RawSyscall6(syscall.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c.ambient[i], 0, 0, 0)
		if c.errno != 0 {
			return
		}
	}
	c.step = stepEnd
	if _, _, c.errno = syscall.RawSyscall6(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0, 0); c.errno != 0 {
		return
	}
	c.step = stepFolder
	if _, _, c.errno = syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(c.dir)), 0, 0); c.errno != 0 {
		return
	}
	c.step = stepLimit
	_, _, c.errno = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, 0, syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&c.openFiles)), 0, 0, 0)
	if c.errno != 0 {
		return
	}
	if !pass(c) {
		return
	}
	c.step = stepExecute
	_, _, c.errno = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(c.path)),
		uintptr(unsafe.Pointer(&c.argv[0])), uintptr(unsafe.Pointer(&c.env[0])))
}

// pass puts each file where it belongs: first all of them out of the way, so that
// none is written over before its turn.
//
//go:nosplit
//go:norace
//go:nocheckptr
func pass(c *child) bool {
	c.step = stepFiles
	for i := range c.files {
		c.files[i], _, c.errno = syscall.RawSyscall(syscall.SYS_FCNTL, c.files[i], syscall.F_DUPFD_CLOEXEC, uintptr(len(c.files)))
		if c.errno != 0 {
			return false
		}
	}
	for i := range c.files {
		if _, _, c.errno = syscall.RawSyscall(syscall.SYS_DUP3, c.files[i], uintptr(i), 0); c.errno != 0 {
			return false
		}
	}
	return true
}

// cloneCall is clone(2) or clone3(2) on the stack of the caller.
func cloneCall(trap, a1, a2 uintptr) (pid, errno uintptr)

// What the runtime has to be told of every fork. It keeps these names for such as
// this package, see go.dev/issue/67401.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()
