//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident size of the process and those it waited for, in bytes.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss * 1024
}
