package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"strings"
	"testing"
)

// file writes documents by hand: objects in the order given, from 1.
type file struct {
	objects []string
	// trailer is added to the trailer.
	trailer string
}

func (f *file) add(text string) int {
	f.objects = append(f.objects, text)
	return len(f.objects)
}

// stream adds a stream with its length.
func (f *file) stream(header string, data []byte) int {
	return f.add(fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", header, len(data), data))
}

// bytes is the file with a table of its objects.
func (f *file) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	offsets := make([]int, len(f.objects))
	for i, text := range f.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, text)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, f.trailer, at)
	return b.Bytes()
}

// pages is a document of pages with these operators, in Helvetica named F.
func pages(contents ...string) *file {
	f := &file{}
	var kids []string
	for i := range contents {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	f.add("<</Type /Catalog /Pages 2 0 R>>")
	f.add(fmt.Sprintf("<</Type /Pages /Count %d /Kids [%s] /Resources <</Font <</F 3 0 R>>>>>>", len(kids), strings.Join(kids, " ")))
	f.add("<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>")
	for i, c := range contents {
		f.add(fmt.Sprintf("<</Type /Page /Parent 2 0 R /Contents %d 0 R>>", 5+2*i))
		f.stream("", []byte(c))
	}
	return f
}

func deflate(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func mustOpen(t testing.TB, data []byte) *Document {
	t.Helper()
	d, err := Open(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// textOf is the text of a page.
func textOf(t testing.TB, d *Document, page int) string {
	t.Helper()
	p, err := d.Page(page)
	if err != nil {
		t.Fatalf("page %d: %v", page, err)
	}
	return p.Text
}
