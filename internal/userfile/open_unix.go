//go:build unix

package userfile

import "syscall"

// NonBlocking is the flag with which the opening of a FIFO does not wait for a writer.
const NonBlocking = syscall.O_NONBLOCK
