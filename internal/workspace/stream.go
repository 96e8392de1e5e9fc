package workspace

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"garuda/internal/core"
)

// CharsetOf tells the charset of a file from its beginning, of which the first
// 8 KB count, and how many bytes its byte order mark has. Without a mark it is
// UTF-8 unless the bytes leave no doubt that it is something else.
func CharsetOf(head []byte) (enc Encoding, mark int) {
	if enc, mark = MarkOf(head); mark > 0 {
		return enc, mark
	}
	cut := len(head) >= binaryHead
	head = head[:min(len(head), binaryHead)]
	whole := head
	if cut {
		whole = core.WholeAtEnd(head)
	}
	if utf8.Valid(whole) {
		return UTF8, 0
	}
	return certainCharset(head, cut), 0
}

// TextReader reads a file of any size as UTF-8 without a byte order mark;
// newlines and bytes that encode nothing in UTF-8 come as they are. It reports
// the encoding, and whether the beginning shows that the file is binary; then
// head holds that beginning and there is nothing to read.
func TextReader(r io.Reader) (text io.Reader, style Style, head []byte, binary bool, err error) {
	head = make([]byte, binaryHead)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, Style{}, head, false, err
	}
	if IsBinary(head) {
		return nil, Style{}, head, true, nil
	}
	enc, mark := CharsetOf(head)
	style = Style{Encoding: enc, BOM: mark > 0}
	text = io.MultiReader(bytes.NewReader(head[mark:]), r)
	if enc != UTF8 {
		text = &transcoder{r: text, c: enc.codec()}
	}
	return text, style, head, false, nil
}

// transcoder turns another charset into UTF-8.
type transcoder struct {
	r   io.Reader
	c   codec
	in  []byte // not decoded yet
	out []byte // not delivered yet
	err error
}

// longest is the number of bytes that the longest character of any charset takes.
const longest = 4

func (t *transcoder) Read(p []byte) (int, error) {
	for len(t.out) == 0 {
		if t.err != nil && len(t.in) == 0 {
			return 0, t.err
		}
		t.fill()
	}
	n := copy(p, t.out)
	t.out = t.out[n:]
	return n, nil
}

func (t *transcoder) fill() {
	if t.err == nil {
		const chunk = 32 << 10
		have := len(t.in)
		t.in = append(t.in, make([]byte, chunk)...)
		n, err := t.r.Read(t.in[have:])
		t.in, t.err = t.in[:have+n], err
	}
	t.out = t.out[:0]
	at := 0
	for len(t.in)-at >= longest || t.err != nil && at < len(t.in) {
		r, n, _ := t.c.decode(t.in[at:])
		t.out = utf8.AppendRune(t.out, r)
		at += n
	}
	t.in = append(t.in[:0], t.in[at:]...)
}
