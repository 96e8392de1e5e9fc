package workspace

import (
	"io/fs"
	"os"
	"time"
)

// Kind is what a directory entry is.
type Kind uint8

const (
	KindFile Kind = iota
	KindFolder
	KindLink
	KindPipe
	KindSocket
	KindDevice
	// KindOther is anything else, such as a file of the kernel's own trees.
	KindOther
)

// String names the kind as an error text does.
func (k Kind) String() string {
	switch k {
	case KindFile:
		return "a file"
	case KindFolder:
		return "a folder"
	case KindLink:
		return "a symbolic link"
	case KindPipe:
		return "a named pipe"
	case KindSocket:
		return "a socket"
	case KindDevice:
		return "a device"
	}
	return "not a regular file"
}

func kindOf(mode fs.FileMode) Kind {
	switch {
	case mode.IsRegular():
		return KindFile
	case mode.IsDir():
		return KindFolder
	case mode&fs.ModeSymlink != 0:
		return KindLink
	case mode&fs.ModeNamedPipe != 0:
		return KindPipe
	case mode&fs.ModeSocket != 0:
		return KindSocket
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0:
		return KindDevice
	}
	return KindOther
}

// Info is what the file system says of one entry.
type Info struct {
	Kind Kind
	// Mode holds the permission bits, and setuid, setgid and sticky.
	Mode    fs.FileMode
	Size    int64 // bytes
	ModTime time.Time
	// Links is the number of names a file has; 0 where that is not known.
	Links uint64

	dev, ino uint64
	uid, gid uint32
	changed  int64       // ctime in nanoseconds, 0 where there is none
	file     fs.FileInfo // kept where only os.SameFile can tell files apart
}

// sameFile reports whether both describe one file, whatever its contents.
func (i Info) sameFile(other Info) bool {
	if i.file != nil && other.file != nil {
		return os.SameFile(i.file, other.file)
	}
	return i.dev == other.dev && i.ino == other.ino
}

// sameState reports whether the file also looks untouched.
func (i Info) sameState(other Info) bool {
	return i.sameFile(other) && i.Size == other.Size && i.ModTime.Equal(other.ModTime) && i.changed == other.changed
}

const keptModeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
