//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// catchBrokenPipe makes a reader that closed our output an error of the write,
// so that what runs is ended in order. The signal is caught and not ignored,
// since commands inherit what is ignored: there `yes | head -1` would never end
// as it should.
func catchBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
