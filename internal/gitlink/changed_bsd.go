//go:build darwin || freebsd || netbsd

package gitlink

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt is when a file was last changed, which no program can set.
func changedAt(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}
