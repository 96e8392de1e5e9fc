package snapshot

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// id names an object: the SHA-256 of its kind, length and contents, as in git's
// repositories of the object format sha256. Git's older SHA-1 would let a hostile
// project bring two files with one name.
type id [sha256.Size]byte

func (o id) String() string { return hex.EncodeToString(o[:]) }

func parseID(s string) (id, error) {
	var o id
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(o) {
		return o, fmt.Errorf("%q is no name of an object", s)
	}
	copy(o[:], raw)
	return o, nil
}

// kind is what an object holds.
type kind byte

// The numbers are those of git's packs.
const (
	kindTree kind = 2
	kindBlob kind = 3
)

func (k kind) String() string {
	if k == kindTree {
		return "tree"
	}
	return "blob"
}

// header stands before an object's contents where its name is computed.
func header(k kind, size int) []byte {
	return append(strconv.AppendInt([]byte(k.String()+" "), int64(size), 10), 0)
}

func nameOf(k kind, data []byte) id {
	h := sha256.New()
	h.Write(header(k, len(data)))
	h.Write(data)
	return id(h.Sum(nil))
}

// errCorrupt is in every error that says that the store does not hold what this
// package wrote.
var errCorrupt = errors.New("the store of snapshots is damaged")

// Modes of tree entries, as git writes them.
const (
	modeFolder  = 0o040000
	modeFile    = 0o100644
	modeProgram = 0o100755
	modeLink    = 0o120000
)

// treeEntry is one line of a tree.
type treeEntry struct {
	mode uint32
	name string
	id   id
}

// appendEntry writes a tree entry in git's form. Trees are made with their entries
// in git's order: by name, folders as if a slash ended theirs.
func appendEntry(to []byte, e treeEntry) []byte {
	to = strconv.AppendUint(to, uint64(e.mode), 8)
	to = append(to, ' ')
	to = append(to, e.name...)
	to = append(to, 0)
	return append(to, e.id[:]...)
}

// parseTree reads a tree. Names that could lead elsewhere are refused: what comes out
// of the store is written into the project.
func parseTree(data []byte) ([]treeEntry, error) {
	var out []treeEntry
	for len(data) > 0 {
		space, nul := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
		if space < 0 || nul < space || len(data) < nul+1+len(id{}) {
			return nil, fmt.Errorf("%w: a folder's list is cut off", errCorrupt)
		}
		mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
		e := treeEntry{mode: uint32(mode), name: string(data[space+1 : nul]), id: id(data[nul+1 : nul+1+len(id{})])}
		switch e.mode {
		case modeFolder, modeFile, modeProgram, modeLink:
		default:
			return nil, cmp.Or(err, fmt.Errorf("%w: an entry of the mode %o", errCorrupt, e.mode))
		}
		if !validName(e.name) {
			return nil, fmt.Errorf("%w: an entry with the name %q", errCorrupt, e.name)
		}
		if n := len(out); n > 0 && sortName(out[n-1]) >= sortName(e) {
			return nil, fmt.Errorf("%w: a folder's list is out of order at %q", errCorrupt, e.name)
		}
		out = append(out, e)
		data = data[nul+1+len(id{}):]
	}
	return out, nil
}

func sortName(e treeEntry) string {
	if e.mode == modeFolder {
		return e.name + "/"
	}
	return e.name
}

func validName(name string) bool {
	return name != "" && name != "." && name != ".." && name != ".git" && !strings.ContainsAny(name, "/\x00")
}
