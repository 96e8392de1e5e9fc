//go:build unix

package wire

import "golang.org/x/sys/unix"

// signalNumber is the number of a signal's name, or 0.
func signalNumber(name string) int { return int(unix.SignalNum(name)) }
