//go:build !linux && !darwin && !freebsd && !netbsd

package userfile

import (
	"io/fs"
	"time"
)

// ChangedAt is when a file was last changed. There is no sandbox here whose commands
// could set that.
func ChangedAt(info fs.FileInfo) time.Time { return info.ModTime() }
