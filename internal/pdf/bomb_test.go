package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// manyFonts is a page that uses n fonts, each an object of this text; what they
// share is object 6.
func manyFonts(n int, shared []byte, text string) []byte {
	f := pages("")
	f.objects = f.objects[:4]
	var operators, fonts strings.Builder
	for i := range n {
		fmt.Fprintf(&operators, "/F%d 1 Tf ", i)
		fmt.Fprintf(&fonts, "/F%d %d 0 R ", i, 7+i)
	}
	f.stream("", []byte(operators.String()))
	f.stream("", shared)
	for range n {
		f.add(text)
	}
	f.objects[1] = strings.Replace(f.objects[1], "/F 3 0 R", fonts.String(), 1)
	return f.bytes()
}

// packedDicts are n objects that all stand in the same place of a stream: a list of
// many dictionaries.
func packedDicts(t *testing.T, n, each int) []byte {
	f := &file{}
	var kids, head strings.Builder
	for i := range n {
		fmt.Fprintf(&kids, "%d 0 R ", 5+i)
		fmt.Fprintf(&head, "%d 0 ", 5+i)
	}
	f.add("<</Type /Catalog /Pages 2 0 R>>")
	f.add("<</Type /Pages /Kids [" + kids.String() + "]>>")
	f.add("null")
	body := head.String() + "[" + strings.Repeat("<</a/b>>", each) + "]"
	f.stream(fmt.Sprintf("/Type /ObjStm /Filter /FlateDecode /N %d /First %d", n, head.Len()), deflate(t, []byte(body)))
	return bytes.Replace(f.bytes(), []byte("startxref"), []byte("startxxxx"), 1)
}

// hugeTable says of n objects where they are, in a few bytes.
func hugeTable(t *testing.T, n int) []byte {
	f := &file{}
	f.stream(fmt.Sprintf("/Type /XRef /W [0 1 0] /Size %d /Root 1 0 R /Filter /FlateDecode", n), deflate(t, make([]byte, n)))
	b := f.bytes()
	at := bytes.LastIndex(b, []byte("startxref"))
	return fmt.Appendf(b[:at], "startxref\n%d\n", bytes.Index(b, []byte("1 0 obj")))
}

// What small files would keep in memory is counted.
func TestMemoryIsBounded(t *testing.T) {
	span := []byte("1 beginbfrange <0000> <FFFF> <" + strings.Repeat("0041", 100) + "> endbfrange")
	for name, data := range map[string][]byte{
		"characters of fonts": manyFonts(30, span, "<</Type /Font /Subtype /Type1 /ToUnicode 6 0 R>>"),
		"widths of fonts":     manyFonts(30, nil, "<</Type /Font /Subtype /Type0 /DescendantFonts [<</W [0 99999999 5]>>]>>"),
		"lists of widths":     manyFonts(300, nil, "<</Type /Font /Subtype /Type0 /DescendantFonts [<</W [0 ["+strings.Repeat("1 ", 1000)+"]]>>]>>"),
		"fonts":               manyFonts(1000, nil, "<</Type /Font /Subtype /Type1>>"),
		"packed objects":      packedDicts(t, 30, 4000),
		"a table of objects":  hugeTable(t, 200_000),
		"objects in the file": []byte("%PDF-1.7\n" + strings.Repeat("1 0 obj [("+strings.Repeat("a", 100)+")] endobj 2 0 obj [/"+strings.Repeat("a", 100)+" <00>] endobj\n", 100) + strings.Repeat("[", 60) + strings.Repeat("<</a/b>>", 50)),
	} {
		d := &Document{data: data, b: newBudget(context.Background())}
		if name == "objects in the file" {
			// It is small; what it takes must still have been counted.
			_ = d.open()
			for num := range d.xref {
				d.load(num)
			}
			if left := maxMemory - d.b.memory; left < 2*sizePlace+3*100 {
				t.Errorf("%s: only %d bytes were counted", name, left)
			}
			continue
		}
		d.b.memory = 8 << 20
		err := d.open()
		if err == nil {
			_, err = d.readPage(&d.pages[0])
		}
		if !errors.Is(err, errMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The operators of a page are not kept, and so not counted.
	d := mustOpen(t, pages("BT /F 10 Tf "+strings.Repeat("[(abcdefgh) -3] TJ /N <</a/b>> DP ", 50_000)+"ET").bytes())
	d.b.memory = 1 << 20
	if _, err := d.Page(1); err != nil {
		t.Errorf("a page with much text: %v", err)
	}
	if d = mustOpen(t, manyFonts(1, []byte(strings.Repeat("1 beginbfchar <41> <0042> endbfchar\n", 50_000)), "<</Type /Font /Subtype /Type1 /ToUnicode 6 0 R>>")); d.b.err == nil {
		d.b.memory = 5 << 20
		if _, err := d.Page(1); err != nil {
			t.Errorf("a font that says the same many times: %v", err)
		}
	}
}

// What gives nothing, and what is gone through many times, is paid for as well.
func TestWorkIsBounded(t *testing.T) {
	form := func(header string, raw []byte) []byte {
		f := pages(strings.Repeat("/Fm Do ", 1000))
		f.objects[1] = strings.Replace(f.objects[1], "/Resources <<", "/Resources <</XObject <</Fm 6 0 R>> ", 1)
		f.stream("/Subtype /Form "+header, raw)
		return f.bytes()
	}
	nothing := append([]byte{0x78, 0x9c}, bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 20_000)...)
	kids := pages("")
	var nodes strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&nodes, "%d 0 R ", 7+i)
	}
	kids.objects[1] = "<</Type /Pages /Kids [" + nodes.String() + "]>>"
	kids.add("[" + strings.Repeat("1 ", 20_000) + "]")
	for range 1000 {
		kids.add("<</Type /Pages /Kids 6 0 R>>")
	}
	names := pages(strings.Repeat("/F 1 Tf ", 1000))
	names.objects[1] = strings.Replace(names.objects[1], "/F 3 0 R", "/F <</Type /Font /Encoding <</Differences 6 0 R>>>>", 1)
	names.add("[" + strings.Repeat("1 ", 20_000) + "]")
	for name, data := range map[string][]byte{
		"blanks":                form("/Filter /ASCII85Decode", bytes.Repeat([]byte{' '}, 100_000)),
		"blocks of no length":   form("/Filter /FlateDecode", nothing),
		"what is not unpacked":  form("/Filter /DCTDecode", nothing),
		"a list of many nodes":  kids.bytes(),
		"names for a font each": names.bytes(),
	} {
		d := &Document{data: data, b: newBudget(context.Background())}
		d.b.steps = 3_000_000
		err := d.open()
		if err == nil {
			_, err = d.readPage(&d.pages[0])
		}
		if !errors.Is(err, errWork) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Objects that need each other do not fill the stack, which would end the program.
func TestLoadingIsNotDeep(t *testing.T) {
	f := pages(hello)
	for i := range 1000 {
		f.add(fmt.Sprintf("<</Length %d 0 R>>\nstream\nx\nendstream", 7+i))
	}
	d := mustOpen(t, f.bytes())
	if d.load(6); len(d.objects) > 2*maxLoading {
		t.Errorf("%d objects were read for one", len(d.objects))
	}
	d = mustOpen(t, pages(hello).bytes())
	for i := range 1000 {
		d.xref[100+i] = place{inside: 101 + i}
	}
	if d.load(100); len(d.objects) > 2*maxLoading {
		t.Errorf("%d objects were read for one that is packed", len(d.objects))
	}
}
