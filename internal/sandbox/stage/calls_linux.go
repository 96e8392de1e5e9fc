package stage

import (
	"syscall"
	"unsafe"
)

// The calls of package syscall tell the scheduler, in case they take long. A thread
// that watches for that takes the processor away after 20 µs and wakes another, which
// finds nothing to do: as nothing else runs here, it only costs time. These tell nobody,
// and are for the steps until the command runs.

// here is the working directory, as AT_FDCWD.
const here = -100

func open(path string, flags int) (int, error) {
	for {
		fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, at(here), uintptr(cstring(path)), uintptr(flags|syscall.O_CLOEXEC), 0, 0, 0)
		if errno != syscall.EINTR {
			return int(fd), call(errno)
		}
	}
}

// at is a folder as the kernel takes it.
func at(dir int) uintptr { return uintptr(dir) }

func closeFile(fd int) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0)
	return call(errno)
}

func read(fd int, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return int(n), call(errno)
}

func mkdir(dir int, path string, mode uint32) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_MKDIRAT, at(dir), uintptr(cstring(path)), uintptr(mode))
	return call(errno)
}

// makeFile makes an empty file.
func makeFile(dir int, path string, mode uint32) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_MKNODAT, at(dir), uintptr(cstring(path)), uintptr(syscall.S_IFREG|mode), 0, 0, 0)
	return call(errno)
}

func symlink(target string, dir int, path string) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SYMLINKAT, uintptr(cstring(target)), at(dir), uintptr(cstring(path)))
	return call(errno)
}

func removeFolder(path string) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_UNLINKAT, at(here), uintptr(cstring(path)), atRemoveDir)
	return call(errno)
}

func enter(path string) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(cstring(path)), 0, 0)
	return call(errno)
}

func detach(path string) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_UMOUNT2, uintptr(cstring(path)), syscall.MNT_DETACH, 0)
	return call(errno)
}

func pivotRoot(root, old string) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PIVOT_ROOT, uintptr(cstring(root)), uintptr(cstring(old)), 0)
	return call(errno)
}

// waitForByte returns when a socket has a byte to read, which it leaves there, or none
// will come.
func waitForByte(fd int) {
	var b [1]byte
	for {
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), 1, syscall.MSG_PEEK, 0, 0)
		if errno != syscall.EINTR {
			return // what went wrong, reading it shows again
		}
	}
}
