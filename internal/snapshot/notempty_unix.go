//go:build unix

package snapshot

import (
	"errors"
	"syscall"
)

// isNotEmpty reports whether a folder could not be removed for what is in it.
func isNotEmpty(err error) bool {
	return errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST)
}
