package stage

import (
	"syscall"
	"unsafe"
)

// System calls and constants that package syscall does not know. The numbers of
// calls from 424 on are the same on every architecture. Tests compare all of them
// with golang.org/x/sys/unix, which is not imported here because of its init.
const (
	sysOpenTree     = 428
	sysMoveMount    = 429
	sysFsopen       = 430
	sysFsconfig     = 431
	sysFsmount      = 432
	sysCloseRange   = 436
	sysOpenat2      = 437
	sysMountSetattr = 442

	openTreeClone  = 1
	atEmptyPath    = 0x1000
	atRecursive    = 0x8000
	atRemoveDir    = 0x200
	moveFromEmpty  = 4
	moveToEmpty    = 0x40
	fsconfigString = 1
	fsconfigCreate = 6

	attrReadOnly = 1
	attrNoSuid   = 2
	attrNoDev    = 4
	attrNoExec   = 8

	oPath           = 0x200000
	oTmpfile        = 0x400000
	resolveNoMagic  = 2
	resolveNoLinks  = 4
	resolveBeneath  = 8
	soDomain        = 39
	prSetDumpable   = 4
	prCapbsetRead   = 23
	prCapbsetDrop   = 24
	prSetNoNewPrivs = 38
	prGetNoNewPrivs = 39
	prCapAmbient    = 47
	ambientClearAll = 4
	prGetSeccomp    = 21
	rlimitNproc     = 6
	capVersion3     = 0x20080522
	siocgifflags    = 0x8913
	siocsifflags    = 0x8914
	seccompSetMode  = 1
	seccompTsync    = 1
	tiocsetd        = 0x5423
	tioclinux       = 0x541c
	tiocsti         = 0x5412
	hardErrno       = 0x50000
	allowCall       = 0x7fff0000
	killProcess     = 0x80000000
)

func call(err syscall.Errno) error {
	if err != 0 {
		return err
	}
	return nil
}

func prctl(option, a, b uintptr) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0)
	return call(errno)
}

// cstring is a text for the kernel. Texts of a policy hold no NUL. Few different
// lengths are asked for, since the first use of each takes the allocator some time.
func cstring(s string) unsafe.Pointer {
	b := make([]byte, (len(s)+64)&^63)
	copy(b, s)
	return unsafe.Pointer(&b[0])
}

// openBeneath opens a place of the view, or of the machine when dir is the root of
// it. A link anywhere in the path is an error. path begins with '/'.
func openBeneath(dir int, path string) (int, error) { return openPlace(dir, path, 0) }

// openPlace is openBeneath that with O_NOFOLLOW opens a link at the end of the path
// itself.
func openPlace(dir int, path string, flags uint64) (int, error) {
	how := struct{ flags, mode, resolve uint64 }{
		oPath | syscall.O_CLOEXEC | flags, 0, resolveNoLinks | resolveNoMagic | resolveBeneath,
	}
	relative := "."
	if len(path) > 1 {
		relative = path[1:]
	}
	for {
		fd, _, errno := syscall.RawSyscall6(sysOpenat2, uintptr(dir), uintptr(cstring(relative)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
		if errno != syscall.EAGAIN && errno != syscall.EINTR { // a rename somewhere got in the way
			if errno == syscall.ENOSYS { // within a sandbox of this kind
				return walkTo(dir, relative, flags)
			}
			return int(fd), call(errno)
		}
	}
}

// walkTo does the same part by part, where there is no such call. The paths that it is
// given have no part that leads up.
func walkTo(dir int, path string, flags uint64) (int, error) {
	at, err := syscall.Openat(dir, ".", oPath|syscall.O_CLOEXEC, 0)
	for rest := path; err == nil && rest != "" && rest != "."; {
		var part string
		part, rest = cut(rest, '/')
		within := at
		at, err = stepTo(within, part, rest == "" && flags&syscall.O_NOFOLLOW != 0)
		_ = closeFile(within) // it only named a place
	}
	return at, err
}

// stepTo opens what has this name in a folder; a link only where it is wanted itself.
func stepTo(dir int, name string, link bool) (int, error) {
	fd, err := syscall.Openat(dir, name, oPath|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return -1, err
	}
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK && !link {
		err = syscall.ELOOP
	}
	if err != nil {
		_ = closeFile(fd) // as above
		return -1, err
	}
	return fd, nil
}

// cloneTree takes the tree at an open place, with all that is mounted in it.
func cloneTree(fd int, path string) (int, error) {
	tree, _, errno := syscall.RawSyscall(sysOpenTree, uintptr(fd), uintptr(cstring(path)),
		openTreeClone|syscall.O_CLOEXEC|atEmptyPath|atRecursive)
	return int(tree), call(errno)
}

// setAttributes adds attributes to every mount of a tree.
func setAttributes(tree int, attributes uint64, flags uintptr) error {
	attr := struct{ set, clear, propagation, userns uint64 }{set: attributes}
	_, _, errno := syscall.RawSyscall6(sysMountSetattr, uintptr(tree), uintptr(cstring("")), atEmptyPath|flags,
		uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	return call(errno)
}

// attach puts a tree at an open place.
func attach(tree, place int) error {
	_, _, errno := syscall.RawSyscall6(sysMoveMount, uintptr(tree), uintptr(cstring("")), uintptr(place), uintptr(cstring("")),
		moveFromEmpty|moveToEmpty, 0)
	return call(errno)
}

// newFilesystem makes one; options are pairs.
func newFilesystem(kind string, attributes uintptr, options ...string) (int, error) {
	fs, _, errno := syscall.RawSyscall(sysFsopen, uintptr(cstring(kind)), 1, 0) // FSOPEN_CLOEXEC
	if errno != 0 {
		return -1, errno
	}
	defer func() { _ = closeFile(int(fs)) }()
	for ; len(options) > 1; options = options[2:] {
		_, _, errno := syscall.RawSyscall6(sysFsconfig, fs, fsconfigString, uintptr(cstring(options[0])), uintptr(cstring(options[1])), 0, 0)
		if errno != 0 {
			return -1, errno
		}
	}
	if _, _, errno := syscall.RawSyscall6(sysFsconfig, fs, fsconfigCreate, 0, 0, 0, 0); errno != 0 {
		return -1, errno
	}
	mount, _, errno := syscall.RawSyscall(sysFsmount, fs, 1, attributes) // FSMOUNT_CLOEXEC
	return int(mount), call(errno)
}

// releaseAtLeast reports whether the kernel is of that version or later.
func releaseAtLeast(major, minor int) bool {
	var u syscall.Utsname
	if syscall.Uname(&u) != nil {
		return false
	}
	var numbers [2]int
	field := 0
	for _, c := range u.Release {
		if c >= '0' && c <= '9' {
			numbers[field] = numbers[field]*10 + int(c-'0')
			continue
		}
		if field++; field == len(numbers) {
			break
		}
	}
	return numbers[0] > major || numbers[0] == major && numbers[1] >= minor
}
