package pdf

import (
	"bytes"
	"strconv"
)

const (
	// maxSections is how many tables of objects may follow each other, one for
	// each time that the document was saved.
	maxSections = 10_000
	// maxNumber is the highest number of an object that the format lets be.
	maxNumber = 8_388_607
)

// readXref reads the tables of objects, the newest first. What is wrong with them
// shows when nothing is found through them.
func (d *Document) readXref() {
	d.xref, d.trailer = map[int]place{}, nil
	at := bytes.LastIndex(d.data, []byte("startxref"))
	if at < 0 {
		return
	}
	l := &lexer{data: d.data, pos: at + len("startxref"), b: &d.b}
	offset, ok := l.next().(int)
	seen := map[int]bool{}
	for range maxSections {
		if !ok || offset < 0 || offset >= len(d.data) || seen[offset] {
			return
		}
		seen[offset] = true
		section := d.readSection(offset)
		if section == nil {
			return
		}
		if hybrid, isSet := section["XRefStm"].(int); isSet && !seen[hybrid] && hybrid >= 0 && hybrid < len(d.data) {
			seen[hybrid] = true
			d.readSection(hybrid)
		}
		if d.trailer == nil {
			d.trailer = section
		}
		offset, ok = section["Prev"].(int)
	}
}

// readSection reads one table and gives its trailer, or nil.
func (d *Document) readSection(offset int) dict {
	l := &lexer{data: d.data, pos: offset, b: &d.b}
	if l.skipSpace(); l.at("xref") {
		l.pos += len("xref")
		return d.readTable(l)
	}
	num, gen, ok := l.header()
	if !ok {
		return nil
	}
	header, ok := l.next().(dict)
	if !ok || l.next() != keyword("stream") {
		return nil
	}
	s := d.streamAt(l, header, ref{num, gen})
	if d.readPackedTable(s) {
		return header
	}
	return nil
}

// readTable reads a table that is written out, 20 bytes for each object.
func (d *Document) readTable(l *lexer) dict {
	for {
		switch first := l.next().(type) {
		case int:
			count, ok := l.next().(int)
			if !ok {
				return nil
			}
			for i := range max(count, 0) {
				offset, ok1 := l.next().(int)
				_, ok2 := l.next().(int)
				kind, ok3 := l.next().(keyword)
				if !ok1 || !ok2 || !ok3 {
					return nil
				}
				if kind == "n" {
					d.note(first+i, place{offset: offset})
				}
			}
		case keyword:
			if first != "trailer" {
				return nil
			}
			trailer, _ := l.next().(dict)
			return trailer
		default:
			return nil
		}
	}
}

// note keeps where an object is, unless a newer table has said it.
func (d *Document) note(num int, at place) {
	if num < 0 || num > maxNumber {
		return
	}
	if _, known := d.xref[num]; !known && d.b.hold(sizePlace) {
		d.xref[num] = at
	}
}

// readPackedTable reads a table that is a stream.
func (d *Document) readPackedTable(s *stream) bool {
	widths, _ := s.dict["W"].(array)
	if len(widths) < 3 {
		return false
	}
	var w [3]int
	total := 0
	for i := range w {
		n, ok := widths[i].(int)
		if !ok || n < 0 || n > 8 {
			return false
		}
		w[i] = n
		total += n
	}
	data, err := d.decode(&stream{dict: s.dict, raw: s.raw}) // tables are never encrypted
	if err != nil || total == 0 {
		return false
	}
	size, _ := s.dict["Size"].(int)
	index, ok := s.dict["Index"].(array)
	if !ok {
		index = array{0, size}
	}
	for i := 0; i+1 < len(index); i += 2 {
		first, ok1 := index[i].(int)
		count, ok2 := index[i+1].(int)
		if !ok1 || !ok2 {
			return false
		}
		for n := first; n-first < count && len(data) >= total && d.b.take(2); n++ {
			d.notePacked(n, data, w)
			data = data[total:]
		}
	}
	return true
}

func (d *Document) notePacked(num int, row []byte, w [3]int) {
	field := func(i, without int) int {
		if w[i] == 0 {
			return without
		}
		n := 0
		for _, c := range row[:w[i]] {
			n = n<<8 | int(c)
		}
		row = row[w[i]:]
		return n
	}
	kind := field(0, 1)
	a, b := field(1, 0), field(2, 0)
	switch kind {
	case 1:
		d.note(num, place{offset: a})
	case 2:
		if a > 0 && a <= maxNumber {
			d.note(num, place{inside: a, index: b})
		}
	}
}

// rebuild finds the objects by looking through the whole file, where its tables
// are missing or wrong.
func (d *Document) rebuild() {
	if d.rebuilt {
		return
	}
	d.rebuilt = true
	d.forget()
	found, before := map[int]place{}, d.trailer
	d.xref, d.trailer = found, nil
	var packed []int
	d.b.take(len(d.data) / 4)
	for at := 0; d.b.take(10); {
		n := bytes.Index(d.data[at:], []byte("obj"))
		if n < 0 {
			break
		}
		at += n + len("obj")
		num, start, ok := headerBefore(d.data, at-len("obj"))
		if !ok {
			continue
		}
		if _, known := found[num]; !known && !d.b.hold(sizePlace) {
			break
		}
		found[num] = place{offset: start} // the last one counts
		head := d.data[at:min(len(d.data), at+400)]
		if bytes.Contains(head, []byte("/ObjStm")) {
			packed = append(packed, num)
		}
		if d.trailer == nil && bytes.Contains(head, []byte("/Catalog")) {
			d.trailer = dict{"Root": ref{num: num}}
		}
	}
	d.readTrailers()
	if d.trailer == nil || d.trailer["Root"] == nil {
		d.trailer = before
	}
	d.key = nil
	_ = d.unlock() // else what is packed cannot be read; findPages says why
	for _, num := range packed {
		for i, n := range d.unpack(num).numbers {
			d.note(n, place{inside: num, index: i})
		}
	}
}

// readTrailers takes up the last trailer of the file that names a root.
func (d *Document) readTrailers() {
	for at := len(d.data); d.b.take(10); {
		at = bytes.LastIndex(d.data[:at], []byte("trailer"))
		if at < 0 {
			break
		}
		l := &lexer{data: d.data, pos: at + len("trailer"), b: &d.b}
		if t, ok := l.next().(dict); ok && t["Root"] != nil {
			d.trailer = t
			return
		}
	}
	// Newer files have none, but a table that is an object; the last one counts.
	last := -1
	for _, at := range d.xref {
		if !d.b.take(10) {
			return
		}
		l := &lexer{data: d.data, pos: at.offset, b: &d.b}
		if _, _, ok := l.header(); at.offset <= last || !ok || !bytes.Contains(d.data[l.pos:min(len(d.data), l.pos+400)], []byte("/XRef")) {
			continue
		}
		if t, ok := l.next().(dict); ok && t["Root"] != nil && t["Type"] == name("XRef") {
			d.trailer, last = t, at.offset
		}
	}
}

// headerBefore reads the two numbers before the word obj.
func headerBefore(data []byte, at int) (num, start int, ok bool) {
	back := func(end int) (int, int, bool) {
		for end > 0 && isSpace(data[end-1]) {
			end--
		}
		begin := end
		for begin > 0 && end-begin < 10 && data[begin-1] >= '0' && data[begin-1] <= '9' {
			begin--
		}
		n, err := strconv.Atoi(string(data[begin:end]))
		return n, begin, err == nil
	}
	_, begin, ok := back(at)
	if !ok || begin == at {
		return 0, 0, false
	}
	num, start, ok = back(begin)
	return num, start, ok && num <= maxNumber && start < begin
}
