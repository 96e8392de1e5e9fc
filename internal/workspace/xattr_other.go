//go:build !linux && !darwin

package workspace

// keepXattrs: only those of Linux and macOS are kept.
func keepXattrs(newFile, file) []string { return nil }
