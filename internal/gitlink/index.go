package gitlink

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"garuda/internal/userfile"
)

const (
	// modeLink is the mode of an entry that is a submodule.
	modeLink = 0o160000
	// statLen are the bytes of an entry before the object's id: times, device, inode,
	// mode, owner, size.
	statLen, modeAt = 40, 24
	// maxName is how long a name in an index may be.
	maxName = 32 << 10
	// sha1Len and sha256Len are the lengths of ids, in bytes.
	sha1Len, sha256Len = 20, 32
)

// ErrIndex is in the error of an index that cannot be understood.
var ErrIndex = errors.New("git's index is not understood")

// index names the submodules in the index of a repository's folder, such as .git,
// sorted, as paths from the top of its work tree, with slashes; none without an index.
// split is set where a part of it lies in another file.
//
// Format: gitformat-index(5), versions 2 to 4, and the shared part of a split index.
// The folders that a sparse index leaves out are not looked into.
func index(gitDir string, sha256 bool) (links []string, split bool, err error) {
	idLen := sha1Len
	if sha256 {
		idLen = sha256Len
	}
	links, shared, err := read(filepath.Join(gitDir, "index"), idLen)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil && shared != "" {
		var more []string
		// Of an entry that the upper part removes nothing is lost: it is looked at in vain.
		more, _, err = read(filepath.Join(gitDir, "sharedindex."+shared), idLen)
		links = append(links, more...)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read which submodules there are: %w", err)
	}
	slices.Sort(links)
	return slices.Compact(links), shared != "", nil
}

// read reads one file. shared is the id of the file with the rest of a split index.
func read(path string, idLen int) (links []string, shared string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s: %w: it is no regular file", path, ErrIndex)
	}
	f, err := userfile.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	links, shared, err = parse(f, idLen)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return links, shared, err
}

// parse reads an index. It keeps no more of it in memory than the submodules.
func parse(from io.Reader, idLen int) (links []string, shared string, err error) {
	r := bufio.NewReaderSize(from, 2*maxName)
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, "", fmt.Errorf("%w: it ends in its head", ErrIndex)
	}
	version := binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "DIRC" || version < 2 || version > 4 {
		return nil, "", fmt.Errorf("%w: its format is none of 2 to 4", ErrIndex)
	}
	p := parser{r: r, idLen: idLen, version: version}
	for range binary.BigEndian.Uint32(head[8:]) {
		link, err := p.entry()
		if err != nil {
			return nil, "", err
		}
		if link {
			links = append(links, string(p.name))
		}
	}
	shared, err = p.sharedIndex()
	return links, shared, err
}

type parser struct {
	r       *bufio.Reader
	idLen   int
	version uint32
	// name is that of the entry before.
	name []byte
}

// entry reads one entry, of which name is the name then, and tells whether it is a
// submodule.
func (p *parser) entry() (link bool, err error) {
	fixed := statLen + p.idLen + 2
	head, err := p.r.Peek(fixed)
	if err != nil {
		return false, p.broken(err)
	}
	mode := binary.BigEndian.Uint32(head[modeAt:])
	extended := binary.BigEndian.Uint16(head[fixed-2:])&0x4000 != 0
	if extended && p.version < 3 {
		return false, fmt.Errorf("%w: an entry is of a later format", ErrIndex)
	}
	if extended {
		fixed += 2
	}
	if _, err := p.r.Discard(fixed); err != nil {
		return false, p.broken(err)
	}
	if p.version == 4 {
		err = p.compressedName()
	} else {
		err = p.paddedName(fixed)
	}
	return mode == modeLink, err
}

// paddedName reads a name after which NULs fill the entry to a multiple of 8 bytes.
func (p *parser) paddedName(fixed int) error {
	name, err := p.r.ReadSlice(0)
	if err != nil {
		return p.broken(err)
	}
	p.name = append(p.name[:0], name[:len(name)-1]...)
	// One NUL is read already.
	_, err = p.r.Discard((8 - (fixed+len(name))%8) % 8)
	if err != nil {
		return p.broken(err)
	}
	return nil
}

// compressedName reads how much of the last name's end to take off, and what follows.
func (p *parser) compressedName() error {
	var off uint64
	for i := 0; ; i++ {
		c, err := p.r.ReadByte()
		if err != nil {
			return p.broken(err)
		}
		if off = off<<7 | uint64(c&0x7f); c&0x80 == 0 {
			break
		}
		if off++; i > 4 {
			return fmt.Errorf("%w: a number is too long", ErrIndex)
		}
	}
	if off > uint64(len(p.name)) {
		return fmt.Errorf("%w: a name is shorter than nothing", ErrIndex)
	}
	name, err := p.r.ReadSlice(0)
	if err != nil {
		return p.broken(err)
	}
	p.name = append(p.name[:uint64(len(p.name))-off], name[:len(name)-1]...)
	if len(p.name) > maxName {
		return fmt.Errorf("%w: a name is too long", ErrIndex)
	}
	return nil
}

func (p *parser) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, bufio.ErrBufferFull) {
		return fmt.Errorf("%w: it ends in an entry, or a name is too long", ErrIndex)
	}
	return err
}

// sharedIndex finds the extension of a split index: what it is called, its length, and
// at its beginning the id of the shared file. "" without one, or for no file.
func (p *parser) sharedIndex() (string, error) {
	for {
		head, err := p.r.Peek(8)
		if err != nil || bytes.ContainsFunc(head[:4], func(r rune) bool { return r < 'A' || r > 'z' }) {
			return "", nil //nolint:nilerr // what is left is the sum
		}
		length := int64(binary.BigEndian.Uint32(head[4:]))
		isLink := string(head[:4]) == "link"
		if _, err := p.r.Discard(8); err != nil {
			return "", p.broken(err)
		}
		if !isLink {
			if _, err := io.CopyN(io.Discard, p.r, length); err != nil {
				return "", nil //nolint:nilerr // it was the sum, which may look like an extension
			}
			continue
		}
		id := make([]byte, p.idLen)
		if _, err := io.ReadFull(p.r, id); err != nil {
			return "", fmt.Errorf("%w: it ends in an extension", ErrIndex)
		}
		if bytes.Count(id, []byte{0}) == len(id) {
			return "", nil
		}
		return hex.EncodeToString(id), nil
	}
}
