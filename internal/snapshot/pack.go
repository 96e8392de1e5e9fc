package snapshot

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"garuda/internal/state"
)

// Packs are git's: version 2 of both files, the object format sha256, and no
// deltas, which would save little of a work tree and cost much time.
const (
	packMagic   = "PACK"
	packVersion = 2
	idxMagic    = "\xfftOc"
	packHeader  = 12

	// maxObject is the largest object in bytes. Files end at MaxFile; the lists of
	// what was left out may be larger.
	maxObject = 64 << 20
)

// packed is where an object lies in a pack that is being written.
type packed struct {
	id     id
	crc    uint32
	offset int64
}

// packWriter writes objects into a new pack. Its methods may be called from
// several goroutines.
type packWriter struct {
	folder *state.Folder
	name   string
	limit  int64

	mu      sync.Mutex
	file    *os.File
	buffer  []byte
	size    int64
	objects []packed
	has     map[id]bool
}

// newPack begins a pack of at most limit bytes.
func newPack(folder *state.Folder, limit int64) *packWriter {
	return &packWriter{folder: folder, limit: limit, size: packHeader, has: map[id]bool{}}
}

// packBuffer is how many bytes are written at once.
const packBuffer = 1 << 20

// deflater compresses one object after the other, for one goroutine.
type deflater struct {
	out bytes.Buffer
	z   *zlib.Writer
}

// object is an object as it stands in a pack.
func (d *deflater) object(k kind, data []byte) ([]byte, error) {
	d.out.Reset()
	d.out.Write(packedHeader(k, len(data)))
	if d.z == nil {
		z, err := zlib.NewWriterLevel(&d.out, zlib.BestSpeed)
		if err != nil {
			return nil, err
		}
		d.z = z
	} else {
		d.z.Reset(&d.out)
	}
	if _, err := d.z.Write(data); err != nil {
		return nil, err
	}
	if err := d.z.Close(); err != nil {
		return nil, err
	}
	return d.out.Bytes(), nil
}

// packedHeader has the kind in bits 4 to 6 of its first byte and the size in what is
// left, seven bits a byte from the lowest on, the first time four.
func packedHeader(k kind, size int) []byte {
	b := []byte{byte(k)<<4 | byte(size&0xf)}
	for size >>= 4; size > 0; size >>= 7 {
		b[len(b)-1] |= 0x80
		b = append(b, byte(size&0x7f))
	}
	return b
}

// claim reports whether the object is not in this pack yet; whoever claims it adds it.
func (p *packWriter) claim(o id) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.has[o] {
		return false
	}
	p.has[o] = true
	return true
}

// add appends an object that deflater.object made.
func (p *packWriter) add(o id, raw []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size+int64(len(raw)) > p.limit {
		return errFull
	}
	p.has[o] = true
	p.objects = append(p.objects, packed{id: o, crc: crc32.ChecksumIEEE(raw), offset: p.size})
	p.size += int64(len(raw))
	p.buffer = append(p.buffer, raw...)
	if len(p.buffer) < packBuffer {
		return nil
	}
	return p.spill()
}

// spill writes the buffer; the lock is held.
func (p *packWriter) spill() error {
	if p.file == nil {
		p.name = tempMark + randomName()
		if err := p.folder.WriteNew(p.name, make([]byte, packHeader)); err != nil {
			return err
		}
		f, err := p.folder.OpenUpdate(p.name)
		if err != nil {
			return err
		}
		p.file = f
		if _, err := f.Seek(packHeader, io.SeekStart); err != nil {
			return err
		}
	}
	_, err := p.file.Write(p.buffer)
	p.buffer = p.buffer[:0]
	return err
}

// finish puts the pack and its index on the disk, and returns their common name
// without an ending; "" when the pack holds nothing.
func (p *packWriter) finish() (string, error) {
	if len(p.objects) == 0 {
		return "", nil
	}
	if err := p.spill(); err != nil {
		return "", err
	}
	slices.SortFunc(p.objects, func(a, b packed) int { return bytes.Compare(a.id[:], b.id[:]) })
	sum, err := p.seal()
	if err != nil {
		return "", err
	}
	base := "pack-" + hex.EncodeToString(sum[:])
	// The index comes last: without it the pack does not count.
	if err := p.folder.Rename(p.name, base+".pack"); err != nil {
		return "", err
	}
	p.name = base + ".pack"
	if err := p.folder.Replace(base+".idx", encodeIdx(p.objects, sum), true); err != nil {
		return "", err
	}
	p.name = ""
	return base, nil
}

// seal writes the number of objects and the checksum at the end, and closes the file.
func (p *packWriter) seal() (sum [sha256.Size]byte, err error) {
	f := p.file
	p.file = nil
	defer func() { err = errors.Join(err, f.Close()) }()
	head := append([]byte(packMagic), 0, 0, 0, packVersion)
	head = binary.BigEndian.AppendUint32(head, uint32(len(p.objects)))
	if _, err := f.WriteAt(head, 0); err != nil {
		return sum, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, p.size)); err != nil {
		return sum, err
	}
	sum = [sha256.Size]byte(h.Sum(nil))
	if _, err := f.WriteAt(sum[:], p.size); err != nil {
		return sum, err
	}
	return sum, f.Sync()
}

// drop ends an unfinished pack and removes it.
func (p *packWriter) drop() error {
	var err error
	if p.file != nil {
		err = p.file.Close()
		p.file = nil
	}
	if p.name != "" {
		err = errors.Join(err, p.folder.Remove(p.name))
		p.name = ""
	}
	return err
}

// encodeIdx writes the index of a pack: how many ids begin with at most each byte,
// the ids, their checksums, their offsets, those above 31 bits in a table of their
// own, then the pack's checksum and its own.
func encodeIdx(objects []packed, sum [sha256.Size]byte) []byte {
	b := append([]byte(idxMagic), 0, 0, 0, packVersion)
	n := 0
	for first := range 256 {
		for n < len(objects) && int(objects[n].id[0]) <= first {
			n++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	for i := range objects {
		b = append(b, objects[i].id[:]...)
	}
	for i := range objects {
		b = binary.BigEndian.AppendUint32(b, objects[i].crc)
	}
	var large []byte
	for i := range objects {
		at := objects[i].offset
		if at > math.MaxInt32 {
			at, large = int64(len(large)/8)|1<<31, binary.BigEndian.AppendUint64(large, uint64(at))
		}
		b = binary.BigEndian.AppendUint32(b, uint32(at))
	}
	b = append(b, large...)
	b = append(b, sum[:]...)
	own := sha256.Sum256(b)
	return append(b, own[:]...)
}

// pack is a finished pack.
type pack struct {
	name string
	file *os.File
	size int64
	// idx is the whole index file; fan is where its ids begin.
	idx   []byte
	count int
}

const (
	fanAt = 8
	idsAt = fanAt + 256*4
)

// parseIdx checks an index's form and checksum.
func parseIdx(b []byte) (count int, err error) {
	const tail = 2 * sha256.Size
	if len(b) < idsAt+tail || string(b[:4]) != idxMagic || binary.BigEndian.Uint32(b[4:]) != packVersion {
		return 0, fmt.Errorf("%w: a pack's index has another form", errCorrupt)
	}
	last := 0
	for first := range 256 {
		n := int(binary.BigEndian.Uint32(b[fanAt+4*first:]))
		if n < last {
			return 0, fmt.Errorf("%w: a pack's index counts down", errCorrupt)
		}
		last = n
	}
	if need := idsAt + last*(len(id{})+4+4) + tail; len(b) < need || (len(b)-need)%8 != 0 {
		return 0, fmt.Errorf("%w: a pack's index is cut off", errCorrupt)
	}
	own := sha256.Sum256(b[:len(b)-sha256.Size])
	if !bytes.Equal(own[:], b[len(b)-sha256.Size:]) {
		return 0, fmt.Errorf("%w: a pack's index has another checksum", errCorrupt)
	}
	return last, nil
}

func (p *pack) idAt(i int) []byte { return p.idx[idsAt+i*len(id{}):][:len(id{})] }

// offsetAt is where the i-th object begins; 0 for one that cannot be.
func (p *pack) offsetAt(i int) int64 {
	table := idsAt + p.count*(len(id{})+4)
	at := binary.BigEndian.Uint32(p.idx[table+4*i:])
	if at < 1<<31 {
		return int64(at)
	}
	large := table + 4*p.count + 8*int(at&math.MaxInt32)
	if large+8 > len(p.idx)-2*sha256.Size {
		return 0
	}
	return int64(binary.BigEndian.Uint64(p.idx[large:]))
}

// find is the number of an object, or -1.
func (p *pack) find(o id) int {
	lo := 0
	if o[0] > 0 {
		lo = int(binary.BigEndian.Uint32(p.idx[fanAt+4*(int(o[0])-1):]))
	}
	hi := int(binary.BigEndian.Uint32(p.idx[fanAt+4*int(o[0]):]))
	for lo < hi {
		mid := lo + (hi-lo)/2
		switch c := bytes.Compare(p.idAt(mid), o[:]); {
		case c == 0:
			return mid
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return -1
}

// read gives the contents of the i-th object.
func (p *pack) read(i int) (kind, []byte, error) {
	at := p.offsetAt(i)
	if at < packHeader || at >= p.size {
		return 0, nil, fmt.Errorf("%w: an object lies outside of its pack", errCorrupt)
	}
	return readPacked(io.NewSectionReader(p.file, at, p.size-at))
}

// readPacked reads one object of a pack.
func readPacked(r io.Reader) (kind, []byte, error) {
	in := bufio.NewReader(r)
	first, err := in.ReadByte()
	if err != nil {
		return 0, nil, fmt.Errorf("%w: an object is cut off", errCorrupt)
	}
	k, size := kind(first>>4&7), int64(first&0xf)
	for shift := 4; first&0x80 != 0; shift += 7 {
		if first, err = in.ReadByte(); err != nil || shift > 32 {
			return 0, nil, fmt.Errorf("%w: an object's size is not readable", errCorrupt)
		}
		size |= int64(first&0x7f) << shift
	}
	if (k != kindTree && k != kindBlob) || size > maxObject {
		return 0, nil, fmt.Errorf("%w: an object of the kind %d and %d bytes", errCorrupt, k, size)
	}
	data, err := inflate(in, size)
	return k, data, err
}

// inflate reads exactly size bytes.
func inflate(in io.Reader, size int64) ([]byte, error) {
	z, err := zlib.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCorrupt, err)
	}
	defer z.Close()
	var out bytes.Buffer
	out.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	if n, err := io.Copy(&out, io.LimitReader(z, size+1)); err != nil || n != size {
		return nil, errors.Join(fmt.Errorf("%w: an object has another size than it says", errCorrupt), err)
	}
	return out.Bytes(), nil
}
