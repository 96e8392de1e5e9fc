package workspace

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func changeTime(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }

func infoFromStat(st *unix.Stat_t) Info {
	info := Info{
		Mode: fs.FileMode(st.Mode & 0o777),
		Size: st.Size, ModTime: time.Unix(st.Mtim.Unix()), Links: uint64(st.Nlink), //nolint:unconvert // differs between architectures
		dev: uint64(st.Dev), ino: st.Ino, uid: st.Uid, gid: st.Gid, //nolint:unconvert // differs between architectures
		changed: st.Ctim.Nano(),
	}
	if st.Mode&unix.S_ISUID != 0 {
		info.Mode |= fs.ModeSetuid
	}
	if st.Mode&unix.S_ISGID != 0 {
		info.Mode |= fs.ModeSetgid
	}
	if st.Mode&unix.S_ISVTX != 0 {
		info.Mode |= fs.ModeSticky
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		info.Kind = KindFile
	case unix.S_IFDIR:
		info.Kind = KindFolder
	case unix.S_IFLNK:
		info.Kind = KindLink
	case unix.S_IFIFO:
		info.Kind = KindPipe
	case unix.S_IFSOCK:
		info.Kind = KindSocket
	case unix.S_IFCHR, unix.S_IFBLK:
		info.Kind = KindDevice
	default:
		info.Kind = KindOther
	}
	return info
}
