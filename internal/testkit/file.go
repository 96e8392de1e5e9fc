package testkit

import (
	"io"
	"os"
	"sync"
	"syscall"
)

// Errors that disks give.
const (
	ErrFull = syscall.ENOSPC // no space left on device
	ErrIO   = syscall.EIO
)

// FileFaults say what goes wrong with a File. The zero value is a file that works.
type FileFaults struct {
	// Space is how many more bytes fit, when Full is set; the write that does not
	// fit stores what does and gives Full's error, as a full disk does. A negative
	// Space makes it store nothing.
	Space int64
	Full  error
	// ShortBy, when positive, makes the next write store that many bytes less than
	// it was given, with io.ErrShortWrite; the writes after it work.
	ShortBy int
	// Sync, Truncate and Close are what these calls give. A Close that fails closes
	// the file all the same.
	Sync, Truncate, Close error
	// SyncsLeft is how many calls of Sync work before Sync's error comes.
	SyncsLeft int
}

// File is a file on disk that fails as it is told to. It stands in for an
// *os.File wherever one is used behind an interface. Methods may be called from
// any goroutine.
type File struct {
	*os.File

	mu     sync.Mutex
	faults FileFaults
	syncs  int
}

// NewFile makes f fail.
func NewFile(f *os.File, faults FileFaults) *File { return &File{File: f, faults: faults} }

// Fail replaces what goes wrong from now on; FileFaults{} mends the file.
func (f *File) Fail(faults FileFaults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

// Syncs is how many times Sync was called, the failed ones too.
func (f *File) Syncs() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncs
}

// Write stores p, or what the faults leave of it.
func (f *File) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep, fail := f.plan(len(p))
	n, err := f.File.Write(p[:keep])
	if err == nil {
		err = fail
	}
	return n, err
}

// WriteAt does the same at a place.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keep, fail := f.plan(len(p))
	n, err := f.File.WriteAt(p[:keep], off)
	if err == nil {
		err = fail
	}
	return n, err
}

// WriteString is Write of a string.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// ReadFrom writes what r has; *os.File's own would go past the faults.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{f}, r)
}

// plan decides how much of n bytes is stored, and with which error.
func (f *File) plan(n int) (keep int, err error) {
	if short := f.faults.ShortBy; short > 0 && n > 0 {
		f.faults.ShortBy = 0
		return max(0, n-short), io.ErrShortWrite
	}
	if f.faults.Full == nil {
		return n, nil
	}
	if int64(n) <= f.faults.Space {
		f.faults.Space -= int64(n)
		return n, nil
	}
	keep = int(max(0, f.faults.Space))
	f.faults.Space -= int64(keep)
	return keep, f.faults.Full
}

// Sync flushes the file, or fails.
func (f *File) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	if f.faults.Sync != nil && f.faults.SyncsLeft <= 0 {
		return f.faults.Sync
	}
	f.faults.SyncsLeft--
	return f.File.Sync()
}

// Truncate cuts the file, or fails.
func (f *File) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults.Truncate != nil {
		return f.faults.Truncate
	}
	return f.File.Truncate(size)
}

// Close closes the file, and may say that it failed.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.File.Close()
	if f.faults.Close != nil {
		return f.faults.Close
	}
	return err
}
