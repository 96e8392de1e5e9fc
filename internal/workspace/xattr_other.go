//go:build !linux

package workspace

import "os"

// keepXattrs: only Linux's are kept.
func keepXattrs(_, _ *os.File) []string { return nil }
