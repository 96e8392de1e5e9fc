package redact

import (
	"fmt"
	"io"
	"strings"
)

const (
	// holdBack is how many bytes a Writer keeps until it has seen what follows:
	// longer than any key, so that none is cut in two.
	holdBack = 16 << 10
	// writeAt is how many bytes gather before some are passed on; each is
	// searched a little more than once.
	writeAt = 4 * holdBack
)

// Writer redacts a stream, such as a command's output on its way to a file. It
// passes text on in pieces that end with a line where there are lines, and
// keeps the newest of it back until Close. It is for one goroutine at a time.
type Writer struct {
	to   io.Writer
	r    *Redactor
	held []byte
	err  error
}

// NewWriter makes a writer that passes what it redacted to another.
func NewWriter(to io.Writer, r *Redactor) *Writer { return &Writer{to: to, r: r} }

// Write takes all of p, or returns the error of the writer behind it, from the
// first failure on.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.held = append(w.held, p...)
	if len(w.held) < writeAt {
		return len(p), nil
	}
	s := string(w.held)
	w.pass(s[:w.cut(s)])
	return len(p), w.err
}

// Close passes on what was kept back. It does not close the writer behind it.
func (w *Writer) Close() error {
	if w.err == nil {
		w.pass(string(w.held))
	}
	return w.err
}

// cut is where s may be divided: after a line or a word, and never in a secret.
func (w *Writer) cut(s string) int {
	at := len(s) - holdBack
	if n := strings.LastIndexByte(s[:at], '\n'); n >= 0 {
		at = n + 1
	} else if n := strings.LastIndexByte(s[:at], ' '); n >= 0 {
		at = n + 1
	}
	for _, sp := range w.r.find(s) {
		if sp.start < at && at < sp.end {
			if sp.start == 0 { // a secret longer than all that is held: nothing else to be done
				return sp.end
			}
			return sp.start
		}
	}
	return at
}

func (w *Writer) pass(s string) {
	w.held = w.held[:copy(w.held, w.held[len(s):])]
	out, _ := w.r.String(s)
	if _, err := io.WriteString(w.to, out); err != nil {
		w.err = fmt.Errorf("write redacted text: %w", err)
	}
}
