//go:build !linux && !darwin && !freebsd && !netbsd

package gitlink

import (
	"io/fs"
	"time"
)

// changedAt is when a file was last changed. There is no sandbox here whose commands
// could set that.
func changedAt(info fs.FileInfo) time.Time { return info.ModTime() }
