// Package sse reads a stream of server-sent events (the WHATWG HTML standard,
// section 9.2) as model servers send them.
//
// It reads bytes and returns events; it never dials, reconnects, waits by the
// clock or looks into an event's data. The fields id and retry are ignored: a
// model's stream is never resumed.
package sse

import (
	"bytes"
	"errors"
	"io"
)

// MaxEvent bounds the data of one event, in bytes; a longer one is ErrTooLarge.
const MaxEvent = 32 << 20

// ErrTooLarge is returned for an event, or a line, longer than MaxEvent.
var ErrTooLarge = errors.New("event stream: one event is larger than 32 MB")

const (
	window  = 32 << 10
	keepCap = 1 << 20 // a buffer that one huge event made larger is let go
)

// Event is one event. Its slices are valid until the next call of Next.
type Event struct {
	// Name is the event field, empty when there was none.
	Name []byte
	// Data is the data lines, joined by newlines.
	Data []byte
	// Unterminated is true when the stream ended before the blank line that
	// closes an event. The standard drops such an event; servers that forget the
	// last blank line are common, so the caller decides, by whether Data is whole.
	Unterminated bool
}

// Reader splits a stream into events. Lines end in LF, CR or CRLF; a leading
// byte order mark is skipped; comments and unknown fields are dropped.
type Reader struct {
	src      io.Reader
	buf      []byte // what was read; buf[pos:] is not yet consumed
	pos      int
	err      error // what ended src
	skipLF   bool  // the last line ended in CR: a following LF belongs to it
	begun    bool  // the byte order mark was looked for
	line     []byte
	name     []byte
	data     []byte
	hasData  bool
	maxEvent int
}

// NewReader returns a Reader of src.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, maxEvent: MaxEvent}
}

// Next returns the next event. It returns io.EOF when the stream ended, and the
// stream's own error when it broke.
func (r *Reader) Next() (Event, error) {
	r.reset()
	for {
		line, err := r.nextLine()
		if err != nil {
			if errors.Is(err, io.EOF) && r.hasData {
				return Event{Name: r.name, Data: r.data, Unterminated: true}, nil
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if r.hasData {
				return Event{Name: r.name, Data: r.data}, nil
			}
			r.name = r.name[:0]
			continue
		}
		if err := r.field(line); err != nil {
			return Event{}, err
		}
	}
}

func (r *Reader) reset() {
	if cap(r.data) > keepCap {
		r.data = nil
	}
	if cap(r.line) > keepCap {
		r.line = nil
	}
	r.name, r.data, r.hasData = r.name[:0], r.data[:0], false
}

func (r *Reader) field(line []byte) error {
	key, value, _ := bytes.Cut(line, colon)
	value = bytes.TrimPrefix(value, space)
	switch string(key) {
	case "data":
		if len(r.data)+len(value) >= r.maxEvent {
			return ErrTooLarge
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	case "event":
		r.name = append(r.name[:0], value...)
	}
	return nil
}

var (
	colon = []byte(":")
	space = []byte(" ")
	bom   = []byte("\xef\xbb\xbf")
)

// nextLine returns the next line without its end. What follows the last line
// end counts as a line at the end of the stream.
func (r *Reader) nextLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if r.pos == len(r.buf) {
			if err := r.fill(); err != nil {
				if errors.Is(err, io.EOF) && len(r.line) > 0 {
					return r.line, nil
				}
				return nil, err
			}
		}
		rest := r.buf[r.pos:]
		if r.skipLF {
			r.skipLF = false
			if rest[0] == '\n' {
				r.pos++
				continue
			}
		}
		end := lineEnd(rest)
		if end < 0 {
			if len(r.line)+len(rest) > r.maxEvent {
				return nil, ErrTooLarge
			}
			r.line = append(r.line, rest...)
			r.pos = len(r.buf)
			continue
		}
		r.skipLF = rest[end] == '\r'
		r.pos += end + 1
		if len(r.line) == 0 {
			return rest[:end], nil
		}
		r.line = append(r.line, rest[:end]...)
		return r.line, nil
	}
}

// lineEnd is the offset of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill reads until there is something to consume, and skips a byte order mark.
func (r *Reader) fill() error {
	if r.buf == nil {
		r.buf = make([]byte, 0, window)
	}
	r.buf, r.pos = r.buf[:0], 0
	for r.err == nil {
		n, err := r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+n]
		r.err = err
		if !r.begun {
			if len(r.buf) < len(bom) && bytes.HasPrefix(bom, r.buf) && err == nil {
				continue
			}
			r.begun = true
			if bytes.HasPrefix(r.buf, bom) {
				r.pos = len(bom)
			}
		}
		if r.pos < len(r.buf) {
			return nil
		}
	}
	if r.pos < len(r.buf) {
		return nil
	}
	return r.err
}
