package workspace

import (
	"bytes"
	"encoding/binary"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readEntries reads a folder with getdents64. The os package would do, but it
// wraps every descriptor for polling and sorts, and a search lists thousands of
// folders.
func readEntries(fd int, rel string) ([]dirEntry, error) {
	buf := direntBuffers.Get().(*[]byte)
	defer direntBuffers.Put(buf)
	var out []dirEntry
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, *buf) })
		if err != nil {
			return out, atError("list", rel, err)
		}
		if n <= 0 {
			return out, nil
		}
		out = parseEntries(out, (*buf)[:n])
	}
}

var direntBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// parseEntries reads the kernel's struct linux_dirent64: inode and offset of 8
// bytes each, record length of 2, type of 1, then the name with a NUL.
func parseEntries(out []dirEntry, buf []byte) []dirEntry {
	const (
		inoAt  = int(unsafe.Offsetof(unix.Dirent{}.Ino))
		lenAt  = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
		typeAt = int(unsafe.Offsetof(unix.Dirent{}.Type))
		nameAt = int(unsafe.Offsetof(unix.Dirent{}.Name))
	)
	for len(buf) >= nameAt {
		size := int(binary.NativeEndian.Uint16(buf[lenAt:]))
		if size < nameAt || size > len(buf) {
			return out
		}
		record := buf[:size]
		buf = buf[size:]
		if binary.NativeEndian.Uint64(record[inoAt:]) == 0 {
			continue // removed while the folder was read
		}
		name := record[nameAt:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if string(name) == "." || string(name) == ".." {
			continue
		}
		out = append(out, dirEntry{string(name), entryKind(record[typeAt])})
	}
	return out
}

func entryKind(t byte) Kind {
	switch t {
	case unix.DT_REG:
		return KindFile
	case unix.DT_DIR:
		return KindFolder
	case unix.DT_LNK:
		return KindLink
	case unix.DT_FIFO:
		return KindPipe
	case unix.DT_SOCK:
		return KindSocket
	case unix.DT_CHR, unix.DT_BLK:
		return KindDevice
	}
	return KindOther
}
