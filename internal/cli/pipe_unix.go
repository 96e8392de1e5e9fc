//go:build unix

package cli

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe makes a reader that closed our output an error of the write,
// so that what runs is ended in order.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
