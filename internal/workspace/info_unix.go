//go:build unix

package workspace

import (
	"io/fs"
	"syscall"
)

func infoFrom(fi fs.FileInfo) Info {
	info := Info{
		Kind: kindOf(fi.Mode()), Mode: fi.Mode() & keptModeBits,
		Size: fi.Size(), ModTime: fi.ModTime(),
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		info.dev, info.ino = uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // types differ between systems
		info.Links = uint64(st.Nlink)                       //nolint:unconvert // types differ between systems
		info.uid, info.gid = st.Uid, st.Gid
		info.changed = changeTime(st)
	} else {
		info.file = fi
	}
	return info
}
