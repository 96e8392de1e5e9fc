// Package pdf gets the text out of PDF files, page by page.
//
// It is a reader of its own because files come from anywhere: the libraries there
// are either follow a hostile file into endless loops and memory without bound, or
// bring a whole viewer along (docs/dependencies.md has the measurements). Here
// every loop takes from one budget of work, every stream and every list has a
// limit, and references cannot go round in circles. What is damaged is read as far
// as it can be.
//
// It draws nothing, runs no script of a document, follows no link, opens no file,
// and writes none. Text in pictures is not recognised.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Limits of a document; each is far beyond what real ones have.
const (
	// maxPages is how many pages are found.
	maxPages = 100_000
	// maxTreeDepth is how deep the tree of pages may be.
	maxTreeDepth = 64
	// maxCached is how many objects are kept, maxPacked how many bytes of objects
	// that stood packed together.
	maxCached = 50_000
	maxPacked = 32 << 20
	// maxReferences is how many references may lead to one value, maxLoading how
	// many objects may need each other to be read, as a stream its length and the
	// stream that it is packed in.
	maxReferences = 32
	maxLoading    = 16
)

var (
	// ErrNotPDF says that the bytes are no PDF document.
	ErrNotPDF = errors.New("it is no PDF document")
	// ErrEncrypted says that a password is needed.
	ErrEncrypted = errors.New("it is encrypted, and opens only with a password")
	// ErrNoPages says that no page was found.
	ErrNoPages = errors.New("no page was found in it; it may be damaged or cut short")
)

// Document is a PDF document whose pages were found. It is for one goroutine.
type Document struct {
	data    []byte
	b       budget
	xref    map[int]place
	trailer dict
	objects map[int]any
	// loading are the objects that are being read, to notice circles.
	loading map[int]bool
	packed  map[int]*packedObjects
	// packedBytes are held in packed.
	packedBytes int
	fonts       map[int]*font
	pages       []pageObject
	key         *fileKey
	rebuilt     bool
}

// place is where an object stands: at an offset, or as one of those that are
// packed in another object.
type place struct {
	offset        int
	inside, index int
}

// pageObject is one page with what it inherits.
type pageObject struct {
	dict      dict
	resources any
}

// HeadSize is how many first bytes of a file decide whether it is a PDF document.
const HeadSize = 1024

// Is reports whether a file that begins so is a PDF document; at most blanks
// may stand before its mark, so that a text that speaks of one is none.
func Is(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimLeft(head[:min(len(head), HeadSize)], "\r\n\t \x00"), []byte("%PDF-"))
}

// Open finds the pages of a document, of which data are the bytes. The document
// keeps data, and works until ctx ends.
func Open(ctx context.Context, data []byte) (*Document, error) {
	at := bytes.Index(data[:min(len(data), HeadSize)], []byte("%PDF-"))
	if at < 0 {
		return nil, ErrNotPDF
	}
	// Offsets count from the mark, also where something stands before it.
	d := &Document{data: data[at:], b: newBudget(ctx)}
	err := d.guarded(d.open)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// guarded turns what no reader should do into an error: a document from a stranger
// must not end the program.
func (d *Document) guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the reader failed on it: %v", v)
		}
	}()
	return f()
}

func (d *Document) open() error {
	d.forget()
	d.readXref()
	err := d.findPages()
	if err != nil && d.b.err == nil && !errors.Is(err, ErrEncrypted) {
		d.rebuild()
		err = d.findPages()
	}
	if d.b.err != nil {
		return d.b.err
	}
	return err
}

func (d *Document) forget() {
	d.objects, d.loading = map[int]any{}, map[int]bool{}
	d.packed, d.packedBytes = map[int]*packedObjects{}, 0
	d.fonts = map[int]*font{}
}

// Pages is how many pages there are.
func (d *Document) Pages() int { return len(d.pages) }

func (d *Document) findPages() error {
	d.pages = nil
	if err := d.unlock(); err != nil {
		return err
	}
	root := d.dict(d.trailer["Root"])
	w := treeWalk{d: d, seen: map[int]bool{}}
	w.node(root["Pages"], nil, 0)
	if len(d.pages) == 0 && d.rebuilt {
		d.loosePages()
	}
	if len(d.pages) == 0 {
		return ErrNoPages
	}
	return nil
}

// loosePages takes every page that is there, where the tree that leads to them is
// lost.
func (d *Document) loosePages() {
	for _, num := range slices.Sorted(maps.Keys(d.xref)) {
		page, ok := d.load(num).(dict)
		if !ok || d.resolve(page["Type"]) != name("Page") {
			continue
		}
		if len(d.pages) >= maxPages || !d.b.take(20) {
			return
		}
		d.pages = append(d.pages, pageObject{page, page["Resources"]})
	}
}

// treeWalk goes through the tree of pages.
type treeWalk struct {
	d    *Document
	seen map[int]bool
}

func (w *treeWalk) node(v, resources any, depth int) {
	if r, ok := v.(ref); ok {
		if w.seen[r.num] {
			return // a circle, or a page that stands in the tree twice
		}
		w.seen[r.num] = true
	}
	node, ok := w.d.resolve(v).(dict)
	if !ok || depth > maxTreeDepth || len(w.d.pages) >= maxPages || !w.d.b.take(20) {
		return
	}
	if own := node["Resources"]; own != nil {
		resources = own
	}
	kids, isTree := w.d.resolve(node["Kids"]).(array)
	if kind, _ := w.d.resolve(node["Type"]).(name); !isTree || kind == "Page" {
		w.d.pages = append(w.d.pages, pageObject{node, resources})
		return
	}
	for _, kid := range kids {
		if !w.d.b.take(2) {
			return
		}
		w.node(kid, resources, depth+1)
	}
}

// resolve follows references to a value.
func (d *Document) resolve(v any) any {
	for range maxReferences {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.load(r.num)
	}
	return nil
}

func (d *Document) dict(v any) dict {
	switch v := d.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

// load reads an object, once; nil for one that is not there.
func (d *Document) load(num int) any {
	if v, ok := d.objects[num]; ok {
		return v
	}
	if d.loading[num] || len(d.loading) >= maxLoading || !d.b.take(10) {
		return nil
	}
	at, ok := d.xref[num]
	if !ok {
		return nil
	}
	d.loading[num] = true
	defer delete(d.loading, num)
	var v any
	if at.inside > 0 {
		v = d.unpack(at.inside).object(d, num, at.index)
	} else if v, ok = d.objectAt(at.offset, num); !ok && !d.rebuilt {
		d.rebuild() // the table is wrong
		if at, ok = d.xref[num]; ok && at.inside == 0 {
			v, _ = d.objectAt(at.offset, num)
		}
	}
	if len(d.objects) >= maxCached {
		clear(d.objects)
	}
	d.objects[num] = v
	return v
}

// objectAt reads "num gen obj …" at an offset; ok is false when it is not there.
func (d *Document) objectAt(offset, num int) (v any, ok bool) {
	if offset < 0 || offset >= len(d.data) {
		return nil, false
	}
	l := &lexer{data: d.data, pos: offset, b: &d.b}
	id, gen, ok := l.header()
	if !ok || id != num {
		return nil, false
	}
	v = l.next()
	afterFirst := l.pos
	switch next := l.next(); next := next.(type) {
	case keyword:
		if next == "stream" {
			if dict, isDict := v.(dict); isDict {
				return d.streamAt(l, dict, ref{num, gen}), true
			}
		}
	case int: // a reference: "5 0 R"
		l.pos = afterFirst
		if n, isNumber := v.(int); isNumber {
			if g, isNumber := l.next().(int); isNumber && l.next() == keyword("R") {
				return ref{n, g}, true
			}
		}
	}
	switch v.(type) {
	case end, keyword:
		return nil, true
	}
	return v, true
}

// header reads "num gen obj".
func (l *lexer) header() (num, gen int, ok bool) {
	num, ok1 := l.next().(int)
	gen, ok2 := l.next().(int)
	return num, gen, ok1 && ok2 && l.next() == keyword("obj")
}

// streamAt takes the bytes of a stream, whose keyword was read. Where the length
// is wrong, the closing word decides.
func (d *Document) streamAt(l *lexer, header dict, id ref) *stream {
	if l.pos < len(l.data) && l.data[l.pos] == '\r' {
		l.pos++
	}
	if l.pos < len(l.data) && l.data[l.pos] == '\n' {
		l.pos++
	}
	rest := l.data[l.pos:]
	s := &stream{dict: header, id: id}
	if n, ok := d.resolve(header["Length"]).(int); ok && n >= 0 && n <= len(rest) {
		after := bytes.TrimLeft(rest[n:min(len(rest), n+32)], " \r\n\t\x00")
		if bytes.HasPrefix(after, []byte("endstream")) || bytes.HasPrefix(after, []byte("endobj")) {
			s.raw = rest[:n]
			return s
		}
	}
	n := bytes.Index(rest, []byte("endstream"))
	if n < 0 {
		n = len(rest)
	}
	d.b.take(n / 16)
	s.raw = rest[:n]
	return s
}

// packedObjects is a stream that holds objects.
type packedObjects struct {
	data    []byte
	numbers []int
	offsets []int
}

func (d *Document) unpack(num int) *packedObjects {
	if p, ok := d.packed[num]; ok {
		return p
	}
	p := &packedObjects{}
	s, ok := d.load(num).(*stream)
	if !ok {
		return p
	}
	data, err := d.decode(s)
	if err != nil {
		return p // its objects are missing then, as in any damaged file
	}
	first, _ := d.resolve(s.dict["First"]).(int)
	count, _ := d.resolve(s.dict["N"]).(int)
	l := &lexer{data: data, b: &d.b}
	for range max(count, 0) {
		n, ok1 := l.next().(int)
		at, ok2 := l.next().(int)
		if !ok1 || !ok2 {
			break
		}
		if !d.b.hold(2 * sizeText) {
			break
		}
		p.numbers, p.offsets = append(p.numbers, n), append(p.offsets, first+at)
	}
	p.data = data
	if d.packedBytes += len(data); d.packedBytes > maxPacked {
		clear(d.packed)
		d.packedBytes = len(data)
	}
	d.packed[num] = p
	return p
}

// object reads one of the objects; index is where it should be.
func (p *packedObjects) object(d *Document, num, index int) any {
	if index < 0 || index >= len(p.numbers) || p.numbers[index] != num {
		index = -1
		for i, n := range p.numbers {
			if n == num {
				index = i
			}
		}
		d.b.take(len(p.numbers))
	}
	if index < 0 || p.offsets[index] < 0 || p.offsets[index] > len(p.data) {
		return nil
	}
	l := &lexer{data: p.data, pos: p.offsets[index], b: &d.b}
	switch v := l.next().(type) {
	case end, keyword:
		return nil
	default:
		return v
	}
}

// quoted shows a word of the file.
func quoted(s string) string {
	const most = 40
	return strconv.QuoteToASCII(s[:min(len(s), most)])
}
