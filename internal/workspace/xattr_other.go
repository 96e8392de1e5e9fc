//go:build !linux

package workspace

import "os"

// keepXattrs: only Linux's are kept.
func keepXattrs(*os.File, file) []string { return nil }
