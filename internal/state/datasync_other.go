//go:build !linux

package state

import "os"

// Datasync puts a file's content on the disk.
func Datasync(file *os.File) error { return file.Sync() }
