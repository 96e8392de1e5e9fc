package snapshot

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// entry is one file, link or folder of a snapshot. A folder's path ends in a slash,
// so that in the order of bytes it stands directly before what is in it.
type entry struct {
	path string
	mode uint32 // git's type and, in the last nine bits, the permissions
	id   id     // of a folder: its tree's
}

const (
	typeMask = 0o170000
	permMask = 0o777
)

func (e *entry) isFolder() bool { return e.mode&typeMask == modeFolder }
func (e *entry) isLink() bool   { return e.mode&typeMask == modeLink }
func (e *entry) perm() fs.FileMode {
	return fs.FileMode(e.mode & permMask)
}

// gitMode is the mode that git knows of the entry.
func (e *entry) gitMode() uint32 {
	switch {
	case e.isFolder():
		return modeFolder
	case e.isLink():
		return modeLink
	case e.mode&0o100 != 0:
		return modeProgram
	}
	return modeFile
}

// Reason is why something is in no snapshot.
type Reason byte

const (
	// Ignored is what the ignore files name.
	Ignored Reason = 'i'
	// Large is a file of more than MaxFile bytes.
	Large Reason = 'l'
	// Secret is a file that holds secrets by its name, or that the policy hides.
	Secret Reason = 's'
	// Special is what is no file, folder or link.
	Special Reason = 'o'
	// Unreadable is what this user may not read.
	Unreadable Reason = 'u'
)

// LeftOut is an entry that is in no snapshot. A folder's path ends in a slash, and
// all that is in it is left out too.
type LeftOut struct {
	Path   string
	Reason Reason
}

// manifest is what a tree in git's form cannot say: the permissions, and what was
// left out.
type manifest struct {
	// usual are the permissions of most files, programs and folders.
	usual [3]uint32
	// modes are the permissions of the others.
	modes map[string]uint32
	left  []LeftOut // sorted by path
}

// manifestHead begins a manifest and tells its version. Records follow that end in a
// NUL: "d" and three modes, "m" with a mode and a path, "x" with a reason and a path.
const manifestHead = "garuda snapshot 1\n"

func class(gitMode uint32) int {
	switch gitMode {
	case modeProgram:
		return 1
	case modeFolder:
		return 2
	}
	return 0
}

// encodeManifest writes what trees of the entries do not tell.
func encodeManifest(entries []entry, left []LeftOut) []byte {
	usual := usualModes(entries)
	b := fmt.Appendf(nil, "%sd %o %o %o\x00", manifestHead, usual[0], usual[1], usual[2])
	for i := range entries {
		e := &entries[i]
		if perm := e.mode & permMask; !e.isLink() && perm != usual[class(e.gitMode())] {
			b = append(strconv.AppendUint(append(b, "m "...), uint64(perm), 8), ' ')
			b = append(append(b, e.path...), 0)
		}
	}
	for _, l := range left {
		b = append(append(b, 'x', ' ', byte(l.Reason), ' '), l.Path...)
		b = append(b, 0)
	}
	return b
}

func usualModes(entries []entry) [3]uint32 {
	usual := [3]uint32{0o644, 0o755, 0o755}
	var counts [3][permMask + 1]int
	for i := range entries {
		if e := &entries[i]; !e.isLink() {
			counts[class(e.gitMode())][e.mode&permMask]++
		}
	}
	for c := range counts {
		for perm, n := range counts[c] {
			if n > counts[c][usual[c]] {
				usual[c] = uint32(perm)
			}
		}
	}
	return usual
}

// parseManifest reads what encodeManifest wrote.
func parseManifest(data []byte) (*manifest, error) {
	rest, ok := bytes.CutPrefix(data, []byte(manifestHead))
	if !ok {
		return nil, fmt.Errorf("%w: a snapshot's manifest has a form that this Garuda does not know", errCorrupt)
	}
	m := &manifest{modes: map[string]uint32{}}
	for len(rest) > 0 {
		record, more, whole := bytes.Cut(rest, []byte{0})
		what, value, ok := strings.Cut(string(record), " ")
		if ok = ok && whole; ok {
			ok = m.take(what, value)
		}
		if !ok {
			return nil, fmt.Errorf("%w: a line of a snapshot's manifest is not readable", errCorrupt)
		}
		rest = more
	}
	return m, nil
}

func (m *manifest) take(what, value string) bool {
	switch what {
	case "d":
		fields := strings.Split(value, " ")
		for i, f := range fields {
			perm, err := strconv.ParseUint(f, 8, 32)
			if err != nil || perm > permMask || len(fields) != len(m.usual) {
				return false
			}
			m.usual[i] = uint32(perm)
		}
	case "m":
		mode, path, _ := strings.Cut(value, " ")
		perm, err := strconv.ParseUint(mode, 8, 32)
		if err != nil || perm > permMask || path == "" {
			return false
		}
		m.modes[path] = uint32(perm)
	case "x":
		reason, path, _ := strings.Cut(value, " ")
		if len(reason) != 1 || path == "" {
			return false
		}
		m.left = append(m.left, LeftOut{Path: path, Reason: Reason(reason[0])})
	default:
		return false
	}
	return true
}

// mode is an entry's type and permissions.
func (m *manifest) mode(path string, gitMode uint32) uint32 {
	if gitMode == modeLink {
		return modeLink
	}
	perm, ok := m.modes[path]
	if !ok {
		perm = m.usual[class(gitMode)]
	}
	return gitMode&typeMask | perm
}

// leftOut reports whether the entry, or a folder that holds it, was left out.
func leftOut(left []LeftOut, path string) bool {
	has := func(p string) bool {
		_, ok := slices.BinarySearchFunc(left, p, func(l LeftOut, p string) int { return strings.Compare(l.Path, p) })
		return ok
	}
	for i, c := range []byte(path) {
		// As a folder, and as what has another kind by now.
		if c == '/' && (has(path[:i+1]) || has(path[:i])) {
			return true
		}
	}
	return has(path) || has(path+"/")
}
