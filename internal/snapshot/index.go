package snapshot

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"garuda/internal/workspace"
)

// index is the newest snapshot of a project with how each file looked when it was
// read, so that only files are read again that look otherwise.
type index struct {
	// top is the object that the snapshot is.
	top     id
	entries []cached // sorted by path
	left    []LeftOut

	at map[string]int32 // path to its number in entries
}

// cached is an entry with its stamp.
type cached struct {
	entry
	stamp workspace.Stamp
	// racy is set for what was changed so shortly before it was read that a change
	// right after that could have left the same stamp.
	racy bool
	// may is set once it was found, in this process, that the entry may be kept.
	may bool
}

// The file: a head with the version, the top, how many entries and left-out ones
// there are, the entries, the left-out ones, and the CRC-32C of all that. Paths are
// written as how many bytes they share with the one before, and the rest.
const (
	indexHead   = "garuda index 1\n"
	indexName   = "index"
	racyFlag    = 1
	smallest    = 1 + 1 + 4 + 1 + len(id{}) // an entry takes at least that
	maxIndex    = 1 << 30
	longestPath = 1 << 16
)

func encodeIndex(x *index) []byte {
	const guess = 120 // bytes an entry
	b := make([]byte, 0, len(indexHead)+guess*len(x.entries))
	b = append(append(b, indexHead...), x.top[:]...)
	b = binary.AppendUvarint(b, uint64(len(x.entries)))
	b = binary.AppendUvarint(b, uint64(len(x.left)))
	last := ""
	for i := range x.entries {
		e := &x.entries[i]
		b = appendPath(b, last, e.path)
		last = e.path
		b = binary.LittleEndian.AppendUint32(b, e.mode)
		b = append(b, e.id[:]...)
		flags := byte(0)
		if e.racy {
			flags = racyFlag
		}
		b = append(b, flags)
		for _, n := range [...]uint64{uint64(e.stamp.Size), uint64(e.stamp.Modified), uint64(e.stamp.Changed), e.stamp.Device, e.stamp.Inode} {
			b = binary.AppendUvarint(b, n)
		}
	}
	last = ""
	for _, l := range x.left {
		b = append(appendPath(b, last, l.Path), byte(l.Reason))
		last = l.Path
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) } // made once by the package

func appendPath(b []byte, last, path string) []byte {
	shared := 0
	for shared < len(last) && shared < len(path) && last[shared] == path[shared] {
		shared++
	}
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(path)-shared))
	return append(b, path[shared:]...)
}

// indexReader reads an index; after the first thing that cannot be it gives zeros.
type indexReader struct {
	rest []byte
	bad  bool
}

func (r *indexReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *indexReader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.bad, r.rest = true, nil
		return make([]byte, min(n, len(id{})))
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

func (r *indexReader) path(last string) string {
	shared, more := r.uvarint(), r.uvarint()
	if shared > uint64(len(last)) || more > longestPath || more > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return ""
	}
	return last[:shared] + string(r.bytes(int(more)))
}

func parseIndex(b []byte) (*index, error) {
	bad := fmt.Errorf("%w: its index is not readable", errCorrupt)
	body := b[:max(len(b)-4, 0)]
	rest, ok := bytes.CutPrefix(body, []byte(indexHead))
	if !ok || crc32.Checksum(body, castagnoli()) != binary.LittleEndian.Uint32(b[len(body):]) {
		return nil, bad
	}
	r := &indexReader{rest: rest}
	x := &index{top: id(r.bytes(len(id{})))}
	entries, left := r.uvarint(), r.uvarint()
	if entries > uint64(len(rest)/smallest) || left > uint64(len(rest)) || entries > math.MaxInt32 {
		return nil, bad
	}
	x.entries = make([]cached, entries)
	last := ""
	for i := range x.entries {
		e := &x.entries[i]
		e.path = r.path(last)
		if r.bad || i > 0 && e.path <= last {
			return nil, bad
		}
		last = e.path
		e.mode = binary.LittleEndian.Uint32(r.bytes(4))
		copy(e.id[:], r.bytes(len(id{})))
		e.racy = r.bytes(1)[0]&racyFlag != 0
		e.stamp = workspace.Stamp{
			Size: int64(r.uvarint()), Modified: int64(r.uvarint()), Changed: int64(r.uvarint()), Device: r.uvarint(), Inode: r.uvarint(),
		}
	}
	last = ""
	for range left {
		l := LeftOut{Path: r.path(last)}
		l.Reason = Reason(r.bytes(1)[0])
		if r.bad || l.Path <= last {
			return nil, bad
		}
		last, x.left = l.Path, append(x.left, l)
	}
	if r.bad || len(r.rest) > 0 {
		return nil, bad
	}
	return x, nil
}

// number fills at.
func (x *index) number() {
	x.at = make(map[string]int32, len(x.entries))
	for i := range x.entries {
		x.at[x.entries[i].path] = int32(i)
	}
}

const (
	// tick is how far apart two changes may be and still get the same time from the
	// system; coarse is that of file systems that keep whole seconds.
	tick   = 20e6 // ns
	coarse = 2e9
)

// isRacy reports whether a file with this stamp may have been changed after it was
// read, which began at now in nanoseconds, without that showing in its stamp.
func isRacy(s workspace.Stamp, now int64) bool {
	slack := int64(tick)
	if s.Modified%1e9 == 0 && s.Changed%1e9 == 0 {
		slack = coarse
	}
	return s.Modified >= now-slack || s.Changed >= now-slack
}
