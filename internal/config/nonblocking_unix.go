//go:build unix

package config

import "syscall"

// nonBlocking keeps the opening of a FIFO that someone put in a file's place from
// waiting for a writer; what is not a regular file is refused once it is open.
const nonBlocking = syscall.O_NONBLOCK
