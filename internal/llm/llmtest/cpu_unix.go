//go:build unix

package llmtest

import (
	"syscall"
	"time"
)

// cpuTime is what this process has spent so far, itself and the kernel for it, on
// all cores together: other work on the machine does not count.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
