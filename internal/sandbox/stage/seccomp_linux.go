package stage

import (
	"syscall"
	"unsafe"
)

// instruction is struct sock_filter of <linux/filter.h>.
type instruction struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

// Codes of classic BPF, see <linux/bpf_common.h>.
const (
	load        = 0x20 // BPF_LD | BPF_W | BPF_ABS
	jumpEqual   = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	jumpAtLeast = 0x35 // BPF_JMP | BPF_JGE | BPF_K
	jumpAny     = 0x45 // BPF_JMP | BPF_JSET | BPF_K
	answer      = 0x06 // BPF_RET | BPF_K
)

// Places in struct seccomp_data; arguments are taken by their low halves, which
// are all that the kernel looks at in the calls below.
const (
	atCall     = 0
	atArch     = 4
	atFirst    = 16
	atSecond   = 24
	atThird    = 32
	atThirdTop = 36
	atFourth   = 40
)

const (
	deny   = hardErrno | uint32(syscall.EPERM)
	absent = hardErrno | uint32(syscall.ENOSYS)
	// done answers that a call succeeded, without making it.
	done = hardErrno
	// namespaces are the flags of clone that make one. CLONE_NEWTIME shares its bit
	// with the signal that a child ends with, and clone knows it not.
	namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC |
		syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET
)

// program is the filter: what it does not name is allowed.
func filterProgram(unixSockets bool) []instruction {
	f := make([]instruction, 0, 256) // more than it takes, so that it does not grow
	f = append(
		f,
		instruction{load, 0, 0, atArch},
		instruction{jumpEqual, 1, 0, arch},
		instruction{answer, 0, 0, killProcess},
		instruction{load, 0, 0, atCall},
		instruction{jumpAtLeast, 0, 1, foreignCalls},
		instruction{answer, 0, 0, deny},
	)
	for _, n := range denied {
		f = append(f, instruction{jumpEqual, 0, 1, n}, instruction{answer, 0, 0, deny})
	}
	// What these are told lies in memory, where a filter cannot look; libraries fall
	// back to clone and openat.
	for _, n := range [...]uint32{callClone3, callOpenat2} {
		f = append(f, instruction{jumpEqual, 0, 1, n}, instruction{answer, 0, 0, absent})
	}
	f = append(f,
		instruction{jumpEqual, 0, 4, callClone},
		instruction{load, 0, 0, atFirst},
		instruction{jumpAny, 0, 1, namespaces},
		instruction{answer, 0, 0, deny},
		instruction{answer, 0, 0, allowCall},
	)
	families := []uint32{syscall.AF_INET, syscall.AF_INET6}
	if unixSockets {
		families = append(families, syscall.AF_UNIX)
	}
	f = append(f, onlyFor(callSocket, atFirst, families, allowCall, deny)...)
	f = append(f, noSetuid()...)
	f = append(f, keepCoreLimit()...)
	f = append(f, onlyFor(callIoctl, atSecond, []uint32{tiocsti, tioclinux, tiocsetd}, deny, allowCall)...)
	return append(f, instruction{answer, 0, 0, allowCall})
}

// noSetuid keeps a command from leaving a program that runs with its user's rights,
// whoever starts it: on the machine the file is the user's. The same bit for groups
// stays, as folders that a team shares have it.
func noSetuid() []instruction {
	f := make([]instruction, 0, 64)
	for _, c := range modeCalls {
		f = append(f,
			instruction{jumpEqual, 0, 4, c.call},
			instruction{load, 0, 0, c.mode},
			instruction{jumpAny, 0, 1, syscall.S_ISUID},
			instruction{answer, 0, 0, deny},
			instruction{answer, 0, 0, allowCall},
		)
	}
	for _, c := range openCalls {
		f = append(f,
			instruction{jumpEqual, 0, 6, c.call},
			instruction{load, 0, 0, c.flags},
			instruction{jumpAny, 0, 3, syscall.O_CREAT | oTmpfile}, // else there is no mode, only what the register held
			instruction{load, 0, 0, c.mode},
			instruction{jumpAny, 0, 1, syscall.S_ISUID},
			instruction{answer, 0, 0, deny},
			instruction{answer, 0, 0, allowCall},
		)
	}
	return f
}

// modeCall is a call that gives a file its mode, and where the mode stands in it.
type modeCall struct{ call, mode uint32 }

// openCall is one that does so where its flags make a file.
type openCall struct{ call, flags, mode uint32 }

// keepCoreLimit leaves the limit on core files as the stage has set it, and says that
// it was changed, since programs that lower it take a refusal for a fault.
func keepCoreLimit() []instruction {
	return []instruction{
		{jumpEqual, 0, 4, callSetrlimit},
		{load, 0, 0, atFirst},
		{jumpEqual, 0, 1, syscall.RLIMIT_CORE},
		{answer, 0, 0, done},
		{answer, 0, 0, allowCall},

		{jumpEqual, 0, 8, callPrlimit},
		{load, 0, 0, atSecond},
		{jumpEqual, 0, 5, syscall.RLIMIT_CORE},
		{load, 0, 0, atThird}, // where the new limit lies; it is read only without one
		{jumpEqual, 0, 2, 0},
		{load, 0, 0, atThirdTop},
		{jumpEqual, 1, 0, 0},
		{answer, 0, 0, done},
		{answer, 0, 0, allowCall},
	}
}

// onlyFor answers a call by one of its arguments.
func onlyFor(number, argument uint32, values []uint32, listed, others uint32) []instruction {
	n := uint8(len(values))
	f := []instruction{{jumpEqual, 0, n + 3, number}, {load, 0, 0, argument}}
	for i, v := range values {
		f = append(f, instruction{jumpEqual, n - uint8(i), 0, v})
	}
	return append(f, instruction{answer, 0, 0, others}, instruction{answer, 0, 0, listed})
}

// filter closes the system calls, for every thread of this process.
func (s *stage) filter() *failure { return installFilter(filterProgram(s.policy.UnixSockets)) }

func installFilter(f []instruction) *failure {
	program := struct {
		length uint16
		_      [6]byte
		first  *instruction
	}{length: uint16(len(f)), first: &f[0]}
	_, _, errno := syscall.RawSyscall(sysSeccomp, seccompSetMode, seccompTsync, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return because("install the filter", errno)
	}
	return nil
}
