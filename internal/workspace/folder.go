package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// folder is an open directory. Its methods take slash-separated paths below it
// ("." is the folder itself) and follow no symbolic link in any component: one
// that stands in the way is errLink. This is stricter than os.Root, which
// follows links that stay inside, so that a decision about one file cannot be
// turned into the use of another.
//
// Two implementations pass the same tests: rootFolder, on os.Root, for every
// system; and on Linux fdFolder, which asks the kernel for the whole path in
// one call.
type folder interface {
	// lstat describes the entry itself; only a link before it is in the way.
	lstat(rel string) (Info, error)
	readlink(rel string) (string, error)
	// open opens a regular file for reading, without ever waiting; anything else
	// is a *kindError and was not opened.
	open(rel string) (file, Info, error)
	// openListed is open for an entry that listing just told to be a regular file.
	openListed(rel string) (file, Info, error)
	// listOpen reads a folder's entries, in no order, and gives the folder itself,
	// in which what is then done with them needs no way down to it; nil when it
	// could not be opened.
	listOpen(rel string) (folder, []dirEntry, error)
	sub(rel string) (folder, error)

	// The rest takes plain names of this very folder.

	// create makes a new file for reading and writing; the umask applies.
	create(name string, perm fs.FileMode) (newFile, error)
	mkdir(name string, perm fs.FileMode) error
	rename(from, to string) error
	// move gives an entry another name in another folder, where none is taken
	// (else fs.ErrExist). errCopy: that cannot be done in one step here.
	move(name string, to folder, toName string) error
	link(from, to string) error
	// symlink makes a link that leads to target, as that is written.
	symlink(target, name string) error
	remove(name string) error
	// chmod sets the permission bits of the file or folder that was described so.
	chmod(name string, was Info, mode fs.FileMode) error
	// rmdir removes an empty folder.
	rmdir(name string) error
	// sync makes the folder's entries durable, where the system can.
	sync() error
	close()
}

// list reads the entries of a folder below dir, in no order.
func list(dir folder, rel string) ([]dirEntry, error) {
	sub, entries, err := dir.listOpen(rel)
	if sub != nil {
		sub.close()
	}
	return entries, err
}

// file is a file open for reading.
type file interface {
	io.ReadCloser
	// control lends the descriptor to f.
	control(f func(fd uintptr)) error
}

// newFile is a file that is being written. An *os.File is one.
type newFile interface {
	io.Writer
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
	SyscallConn() (syscall.RawConn, error)
}

// dirEntry is one name in a folder. The kind is KindOther where reading the
// folder did not tell it.
type dirEntry struct {
	name string
	kind Kind
}

var (
	// errLink: a symbolic link stands where none may be followed.
	errLink = errors.New("a symbolic link is in the way")
	// errCopy: the two places are on different file systems, or the system has
	// no way to move without overwriting.
	errCopy = errors.New("it can only be copied there")
	// errSwapped: the entry was exchanged for another between two looks at it.
	errSwapped = errors.New("it was exchanged for something else at this moment")
)

// kindError is a thing that is not what the operation needs.
type kindError struct{ kind Kind }

func (e *kindError) Error() string { return "it is " + e.kind.String() }

// plainCause strips the operation and the path from a system error, for
// messages that name both in their own words.
func plainCause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	var se *os.SyscallError
	if errors.As(err, &se) {
		return se.Err
	}
	return err
}
