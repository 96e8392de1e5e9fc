package stage

import (
	"syscall"
	"unsafe"
)

// lastCapability is more than any kernel has.
const lastCapability = 63

type capHeader struct {
	version uint32
	pid     int32
}

// capData are the effective, permitted and inheritable sets, low and high halves.
type capData [2]struct{ effective, permitted, inheritable uint32 }

// dropPrivileges empties every set of capabilities and closes the ways back.
func dropPrivileges() *failure {
	for c := range uintptr(lastCapability + 1) {
		err := prctl(prCapbsetDrop, c, 0)
		if err == syscall.EINVAL { //nolint:errorlint // what package syscall returns is not wrapped
			break // the kernel knows no more
		}
		if err != nil {
			return because("empty the bounding set", err)
		}
	}
	return dropSets()
}

// dropSets empties the sets of capabilities but for the bounding one.
func dropSets() *failure {
	if err := prctl(prCapAmbient, ambientClearAll, 0); err != nil {
		return because("empty the ambient set", err)
	}
	if err := prctl(prSetNoNewPrivs, 1, 0); err != nil {
		return because("forbid new privileges", err)
	}
	header := capHeader{version: capVersion3}
	var none capData
	_, _, errno := syscall.AllThreadsSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
	if errno == syscall.ENOTSUP {
		// With cgo there is no such call. Then the other threads of this process,
		// which nothing can reach, keep theirs; this one is what the command comes from.
		_, _, errno = syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
	}
	if errno != 0 {
		return because("empty the other sets", errno)
	}
	return nil
}

// verify looks whether what was taken away is gone.
func verify() *failure {
	header := capHeader{version: capVersion3}
	var have capData
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&have)), 0); errno != 0 {
		return because("read the capabilities", errno)
	}
	if have != (capData{}) {
		return &failure{what: "a capability is left"}
	}
	for c := range uintptr(lastCapability + 1) {
		if value(prCapbsetRead, c) == 1 {
			return &failure{what: "the bounding set is not empty"}
		}
	}
	return verifyClosed()
}

// verifyClosed looks whether the ways back are closed.
func verifyClosed() *failure {
	if value(prGetNoNewPrivs, 0) != 1 {
		return &failure{what: "new privileges are not forbidden"}
	}
	if value(prGetSeccomp, 0) != 2 {
		return &failure{what: "system calls are not filtered"}
	}
	return nil
}

// value is what a prctl returns; -1 when it fails.
func value(option, a uintptr) int {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, 0, 0, 0, 0)
	if errno != 0 {
		return -1
	}
	return int(n)
}

func setrlimit(which int, l syscall.Rlimit) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SETRLIMIT, uintptr(which), uintptr(unsafe.Pointer(&l)), 0)
	return call(errno)
}
