package wire

import (
	"io"
	"net/http"
)

// Body is an encoded request. Its parts are never written to again, so the
// transport may go on reading it after an early answer.
type Body struct {
	parts [][]byte
	size  int
	hash  string
}

// Size is the number of bytes that are sent.
func (b *Body) Size() int { return b.size }

// Hash is the hex SHA-256 of the body without its cache marks.
func (b *Body) Hash() string { return b.hash }

// attach makes the body req's, with its length, and lets the transport send it
// anew over another connection when a kept one turns out to be dead.
func (b *Body) attach(req *http.Request) {
	req.ContentLength = int64(b.size)
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(&bodyReader{parts: b.parts}), nil }
	req.Body, _ = req.GetBody()
}

type bodyReader struct {
	parts [][]byte
	pos   int
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(r.parts) > 0 {
		m := copy(p[n:], r.parts[0][r.pos:])
		n += m
		r.pos += m
		if r.pos == len(r.parts[0]) {
			r.parts, r.pos = r.parts[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
