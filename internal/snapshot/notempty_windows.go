package snapshot

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isNotEmpty reports whether a folder could not be removed for what is in it.
func isNotEmpty(err error) bool { return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) }
