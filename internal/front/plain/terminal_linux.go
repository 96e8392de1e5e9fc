package plain

import "golang.org/x/sys/unix"

// flushInput fails only where fd is no terminal, and then nothing is half typed.
func flushInput(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
