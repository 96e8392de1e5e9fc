//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package plain

import "golang.org/x/sys/unix"

// flushRead is FREAD of <sys/fcntl.h>: the queue of what was typed.
const flushRead = 1

// flushInput fails only where fd is no terminal, and then nothing is half typed.
func flushInput(fd uintptr) { _ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, flushRead) }
