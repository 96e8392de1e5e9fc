package workspace

import (
	"errors"
	"syscall"
)

const nonBlocking = 0

// syncUnsupported: a folder's handle cannot be flushed on Windows, which writes
// directory entries through.
func syncUnsupported(err error) bool {
	return errors.Is(err, syscall.ERROR_ACCESS_DENIED) || errors.Is(err, syscall.EINVAL)
}
