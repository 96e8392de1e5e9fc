package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// fdFolder is a folder by its descriptor. openat2 resolves a whole path below
// it and refuses links, ".." and jumps in the kernel, so there is nothing to
// compare afterwards.
type fdFolder struct{ fd int }

// openFolder opens a folder by its real path. Kernels before 5.6, and sandboxes
// that refuse openat2, get the slower way.
func openFolder(path string) (folder, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := &fdFolder{fd}
	probe, err := f.openat2(".", unix.O_PATH, 0)
	if err != nil {
		f.close()
		return openRootFolder(path)
	}
	_ = unix.Close(probe)
	return f, nil
}

// longestPath is how many bytes of a path one call takes, less some to spare.
const longestPath = unix.PathMax - 64

func (f *fdFolder) openat2(rel string, flags int, perm uint64) (int, error) {
	if len(rel) > longestPath {
		return f.openFar(rel, flags, perm)
	}
	how := unix.OpenHow{
		Flags: uint64(flags) | unix.O_CLOEXEC, Mode: perm,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := retry(func() (int, error) { return unix.Openat2(f.fd, rel, &how) })
	switch {
	case err == nil:
		return fd, nil
	case errors.Is(err, unix.ELOOP):
		err = errLink
	case errors.Is(err, unix.EXDEV):
		err = errOutsideHandle
	}
	return -1, &fs.PathError{Op: "open", Path: rel, Err: err}
}

// openFar opens what lies deeper than one call can name, in several steps.
func (f *fdFolder) openFar(rel string, flags int, perm uint64) (int, error) {
	at := f
	for len(rel) > longestPath {
		cut := strings.LastIndexByte(rel[:longestPath], '/')
		if cut < 0 {
			return -1, &fs.PathError{Op: "open", Path: rel, Err: unix.ENAMETOOLONG}
		}
		fd, err := at.openat2(rel[:cut], unix.O_PATH|unix.O_DIRECTORY, 0)
		if at != f {
			at.close()
		}
		if err != nil {
			return -1, err
		}
		at, rel = &fdFolder{fd}, rel[cut+1:]
	}
	defer at.close()
	return at.openat2(rel, flags, perm)
}

var errOutsideHandle = errors.New("it leads out of the folder")

// retry repeats a call that a signal interrupted, and a few times one that lost
// a race with a rename.
func retry(call func() (int, error)) (int, error) {
	for again := 0; ; {
		n, err := call()
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN) && again < 32:
			again++
		default:
			return n, err
		}
	}
}

func (f *fdFolder) lstat(rel string) (Info, error) {
	if !strings.Contains(rel, "/") {
		var st unix.Stat_t
		if err := unix.Fstatat(f.fd, rel, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return Info{}, &fs.PathError{Op: "stat", Path: rel, Err: err}
		}
		return infoFromStat(&st), nil
	}
	fd, info, err := f.look(rel)
	if err == nil {
		_ = unix.Close(fd)
	}
	return info, err
}

// look opens an entry only as a place, which has no effect on it, and describes it.
func (f *fdFolder) look(rel string) (int, Info, error) {
	fd, err := f.openat2(rel, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, Info{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return -1, Info{}, &fs.PathError{Op: "stat", Path: rel, Err: err}
	}
	return fd, infoFromStat(&st), nil
}

func (f *fdFolder) readlink(rel string) (string, error) {
	fd, _, err := f.look(rel)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(fd, "", buf)
		if err != nil {
			return "", &fs.PathError{Op: "readlink", Path: rel, Err: err}
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

func (f *fdFolder) open(rel string) (file, Info, error) {
	place, before, err := f.look(rel)
	if err != nil {
		return nil, Info{}, err
	}
	defer unix.Close(place)
	switch before.Kind {
	case KindFile:
	case KindLink:
		return nil, Info{}, errLink
	default:
		return nil, Info{}, &kindError{before.Kind}
	}
	if kernelFiles(place) {
		return nil, Info{}, &kindError{KindOther}
	}
	opened, after, err := f.openListed(rel)
	if err == nil && !after.sameFile(before) {
		_ = opened.Close()
		return nil, Info{}, errSwapped
	}
	return opened, after, err
}

// kernelFiles reports whether a descriptor lies in proc or sysfs, which may be
// mounted inside the root too.
func kernelFiles(fd int) bool {
	var fsys unix.Statfs_t
	return unix.Fstatfs(fd, &fsys) == nil && (fsys.Type == unix.PROC_SUPER_MAGIC || fsys.Type == unix.SYSFS_MAGIC)
}

func (f *fdFolder) openListed(rel string) (file, Info, error) {
	fd, err := f.openat2(rel, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, Info{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, Info{}, &fs.PathError{Op: "stat", Path: rel, Err: err}
	}
	info := infoFromStat(&st)
	if info.Kind != KindFile {
		_ = unix.Close(fd)
		return nil, Info{}, &kindError{info.Kind}
	}
	return &fdFile{fd: fd}, info, nil
}

// fdFile is a regular file by its descriptor. An os.File would try to have it
// polled, which costs two calls to the kernel for each of a search's thousands
// of files and never works for regular ones.
type fdFile struct{ fd int }

func (f *fdFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	const most = 1 << 30 // what every system takes in one call
	n, err := retry(func() (int, error) { return unix.Read(f.fd, p[:min(len(p), most)]) })
	switch {
	case err != nil:
		return 0, &fs.PathError{Op: "read", Path: "file", Err: err}
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Close may be called once.
func (f *fdFile) Close() error {
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}

func (f *fdFile) control(use func(fd uintptr)) error {
	use(uintptr(f.fd))
	return nil
}

func (f *fdFolder) listOpen(rel string) (folder, []dirEntry, error) {
	fd, err := f.openat2(rel, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, nil, err
	}
	if kernelFiles(fd) {
		_ = unix.Close(fd)
		return nil, nil, &kindError{KindOther}
	}
	entries, err := readEntries(fd, rel)
	return &fdFolder{fd}, entries, err
}

func (f *fdFolder) sub(rel string) (folder, error) {
	fd, err := f.openat2(rel, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	return &fdFolder{fd}, nil
}

func (f *fdFolder) create(name string, perm fs.FileMode) (newFile, error) {
	fd, err := f.openat2(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, uint64(perm.Perm()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (f *fdFolder) mkdir(name string, perm fs.FileMode) error {
	return atError("mkdir", name, unix.Mkdirat(f.fd, name, uint32(perm.Perm())))
}

func (f *fdFolder) rename(from, to string) error {
	return atError("rename", to, unix.Renameat(f.fd, from, f.fd, to))
}

func (f *fdFolder) move(name string, to folder, toName string) error {
	t, ok := to.(*fdFolder)
	if !ok {
		return errCopy
	}
	switch err := unix.Renameat2(f.fd, name, t.fd, toName, unix.RENAME_NOREPLACE); {
	case err == nil:
		return nil
	case errors.Is(err, unix.EXDEV), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return errCopy
	default:
		return atError("move", toName, err)
	}
}

func (f *fdFolder) link(from, to string) error {
	return atError("link", to, unix.Linkat(f.fd, from, f.fd, to, 0))
}

func (f *fdFolder) symlink(target, name string) error {
	return atError("symlink", name, unix.Symlinkat(target, f.fd, name))
}

func (f *fdFolder) remove(name string) error {
	return atError("remove", name, unix.Unlinkat(f.fd, name, 0))
}

func (f *fdFolder) chmod(name string, was Info, mode fs.FileMode) error {
	place, now, err := f.look(name)
	if err != nil {
		return err
	}
	defer unix.Close(place)
	if !now.sameFile(was) || now.Kind != was.Kind {
		return errSwapped
	}
	// By way of /proc a file that may not be read can be changed too.
	err = unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", place), uint32(mode.Perm()))
	if !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
		return atError("chmod", name, err)
	}
	opened, err := f.openat2(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(opened)
	var st unix.Stat_t
	if err := unix.Fstat(opened, &st); err != nil || !infoFromStat(&st).sameFile(was) {
		return cmp.Or(err, errSwapped)
	}
	return atError("chmod", name, unix.Fchmod(opened, uint32(mode.Perm())))
}

func (f *fdFolder) rmdir(name string) error {
	return atError("remove", name, unix.Unlinkat(f.fd, name, unix.AT_REMOVEDIR))
}

func atError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (f *fdFolder) sync() error {
	fd, err := f.openat2(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that may be written but not read cannot be flushed
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fsync(fd); err != nil && !syncUnsupported(err) {
		return atError("sync", ".", err)
	}
	return nil
}

func (f *fdFolder) close() { _ = unix.Close(f.fd) }
