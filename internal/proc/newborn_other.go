//go:build !linux

package proc

import "os"

// startProcess starts what a launch says.
func startProcess(l *Launch, files []*os.File) (*os.Process, error) { return l.start(files) }
