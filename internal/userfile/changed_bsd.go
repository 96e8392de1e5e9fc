//go:build darwin || freebsd || netbsd

package userfile

import (
	"io/fs"
	"syscall"
	"time"
)

// ChangedAt is when a file was last changed, which no program can set.
func ChangedAt(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}
