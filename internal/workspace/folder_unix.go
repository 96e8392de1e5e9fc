//go:build unix

package workspace

import (
	"errors"
	"syscall"
)

// nonBlocking keeps the opening of a pipe that took a file's place from waiting
// for a writer.
const nonBlocking = syscall.O_NONBLOCK

// syncUnsupported reports whether the file system has no way to flush a folder.
func syncUnsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EBADF)
}
