package workspace

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"
)

// MaxWhole is the size in bytes up to which a file is read as a whole.
const MaxWhole = 10 << 20

// Snapshot is how a file looked at one moment, to tell later whether it changed.
type Snapshot struct {
	ModTime time.Time
	Size    int64
	Inode   uint64
	// Hash is the SHA-256 of the contents; zero when the file was too large to
	// be read as a whole.
	Hash [sha256.Size]byte
}

// Same reports whether both are of the same contents: by the hash when both
// have one, else by size, time and inode.
func (s Snapshot) Same(other Snapshot) bool {
	var none [sha256.Size]byte
	if s.Hash != none && other.Hash != none {
		return s.Hash == other.Hash
	}
	return s.Size == other.Size && s.ModTime.Equal(other.ModTime) && s.Inode == other.Inode
}

func snapshotOf(info Info) Snapshot {
	return Snapshot{ModTime: info.ModTime, Size: info.Size, Inode: info.ino}
}

// File is an open regular file with how it looked when it was opened.
type File struct {
	Info     Info
	Snapshot Snapshot // without a hash

	file file
}

func (f *File) Read(p []byte) (int, error) { return f.file.Read(p) }

// Close gives the file back; it is called once. A file that was only read has
// nothing to lose by it.
func (f *File) Close() { _ = f.file.Close() }

// Open opens the file that p.Real names for reading. Pipes, devices and sockets
// are refused without being opened, and no link is followed. Errors: as
// Resolve, and *NotFoundError, *FolderError, *ChangedError.
func (w *Workspace) Open(p Path) (*File, error) {
	f, info, err := p.mount.dir.open(p.rel)
	return w.opened(p, f, info, err)
}

// Open opens a file that a walk came across, with fewer looks at it than
// Workspace.Open takes: the walk has just seen that it is a regular file.
func (e *Entry) Open() (*File, error) {
	if e.Kind != KindFile {
		return nil, e.w.failure("read", e.Path(), &kindError{e.Kind})
	}
	f, info, err := e.dir.openListed(e.Name)
	if err != nil {
		return e.w.opened(e.Path(), f, info, err)
	}
	return &File{Info: info, Snapshot: snapshotOf(info), file: f}, nil
}

func (w *Workspace) opened(p Path, f file, info Info, err error) (*File, error) {
	if err != nil {
		return nil, w.failure("read", p, err)
	}
	return &File{Info: info, Snapshot: snapshotOf(info), file: f}, nil
}

// Contents are a whole file's bytes as they are on the disk.
type Contents struct {
	Raw      []byte
	Info     Info
	Snapshot Snapshot

	place Path
}

// Text decodes the contents, in the charset that .editorconfig gives for their
// place if it gives a legacy one.
func (c *Contents) Text() *Text { return decodeAs(c.Raw, c.place.declaredCharset()) }

// LegacyCharset reports whether .editorconfig says that the file at p is in a
// charset from before Unicode.
func (p Path) LegacyCharset() bool { return p.declaredCharset().legacy() }

// ReadFile reads a whole file of at most MaxWhole bytes; a larger one, also one
// that grows while it is read, is a *TooLargeError.
func (w *Workspace) ReadFile(p Path) (*Contents, error) {
	f, err := w.Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if f.Info.Size > MaxWhole {
		return nil, &TooLargeError{Path: p.Rel, Size: f.Info.Size, Limit: MaxWhole}
	}
	raw, err := readUpTo(f, f.Info.Size, MaxWhole)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, &TooLargeError{Path: p.Rel, Size: int64(len(raw)), Limit: MaxWhole}
	case err != nil:
		return nil, &PathError{Doing: "read", Path: p.Rel, Err: plainCause(err)}
	}
	c := &Contents{Raw: raw, Info: f.Info, Snapshot: f.Snapshot, place: p}
	c.Snapshot.Hash = sha256.Sum256(raw)
	return c, nil
}

var errTooLarge = errors.New("too large")

// readUpTo reads to the end; expect is a hint. More than limit bytes is
// errTooLarge: the size that a file system tells cannot be trusted.
func readUpTo(r io.Reader, expect, limit int64) ([]byte, error) {
	buf := make([]byte, 0, min(expect, limit)+1)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return buf, errTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return buf, err
		case len(buf) == cap(buf):
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// binaryHead is how many first bytes of a file decide whether it is text.
const binaryHead = 8 << 10

// IsBinary reports whether the beginning of a file shows that it is no text: a
// NUL in its first 8 KB, unless a byte order mark says that it is UTF-16.
func IsBinary(head []byte) bool {
	if enc, _ := MarkOf(head); enc == UTF16LE || enc == UTF16BE {
		return false
	}
	return bytes.IndexByte(head[:min(len(head), binaryHead)], 0) >= 0
}

// FileType names what a binary file holds, from its first bytes.
func FileType(head []byte) string {
	for _, t := range [...]struct{ magic, name string }{
		{"\x7fELF", "an ELF program or library"},
		{"MZ", "a Windows program or library"},
		{"\xcf\xfa\xed\xfe", "a Mach-O program or library"},
		{"\xca\xfe\xba\xbe", "a Java class or universal Mach-O file"},
		{"\x00asm", "a WebAssembly module"},
		{"!<arch>\n", "an object archive"},
		{"\x89PNG\r\n\x1a\n", "a PNG image"},
		{"\xff\xd8\xff", "a JPEG image"},
		{"GIF8", "a GIF image"},
		{"%PDF-", "a PDF document"},
		{"PK\x03\x04", "a ZIP archive (or a document of that form)"},
		{"\x1f\x8b", "gzip data"},
		{"BZh", "bzip2 data"},
		{"\xfd7zXZ\x00", "xz data"},
		{"\x28\xb5\x2f\xfd", "zstd data"},
		{"SQLite format 3\x00", "an SQLite database"},
		{"OggS", "Ogg media"},
		{"ID3", "MP3 audio"},
		{"\x00\x00\xfe\xff", "UTF-32 text"},
		{"\xff\xfe\x00\x00", "UTF-32 text"},
		{"wOF", "a web font"},
	} {
		if bytes.HasPrefix(head, []byte(t.magic)) {
			return t.name
		}
	}
	switch {
	case len(head) >= 12 && string(head[:4]) == "RIFF":
		return fmt.Sprintf("RIFF media (%q)", head[8:12])
	case len(head) >= 12 && string(head[4:8]) == "ftyp":
		return "MP4 media"
	case len(head) >= 262 && string(head[257:262]) == "ustar":
		return "a tar archive"
	}
	return "binary data"
}
