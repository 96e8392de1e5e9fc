package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

const hello = "BT /F 10 Tf (hello) Tj ET"

// Damage that other readers live with.
func TestDamaged(t *testing.T) {
	whole := pages(hello, hello).bytes()
	beforeTable, _, _ := bytes.Cut(whole, []byte("xref\n"))
	with := func(old, text string) []byte { return bytes.ReplaceAll(whole, []byte(old), []byte(text)) }
	for name, data := range map[string][]byte{
		"sound":                    whole,
		"no table":                 with("startxref", "startxxxx"),
		"a table that leads away":  with("startxref\n", "startxref\n9"),
		"wrong offsets":            with("00000 n", "00001 n")[:len(whole)],
		"other text before":        append([]byte("HTTP/1.1 200\r\n\r\n"), whole...),
		"other text behind":        append(bytes.Clone(whole), bytes.Repeat([]byte("\n\x00"), 900)...),
		"wrong lengths":            with("/Length 25", "/Length 99"),
		"a length beyond the file": with("/Length 25", "/Length 99999999"),
		"cut before the table":     beforeTable,
		"shifted":                  bytes.Replace(whole, []byte("1 0 obj"), []byte("       1 0 obj"), 1),
	} {
		d, err := Open(context.Background(), data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := textOf(t, d, 1); d.Pages() != 2 || got != "hello" {
			t.Errorf("%s: %d pages, %q", name, d.Pages(), got)
		}
	}
	// Without the tree the pages stand for themselves.
	lost := with("/Type /Pages", "/Type /Gone")
	lost = bytes.ReplaceAll(lost, []byte("/Kids ["), []byte("/Lost ["))
	lost = bytes.ReplaceAll(lost, []byte("/Pages 2 0 R"), []byte("/Pages 9 0 R"))
	if d := mustOpen(t, lost); d.Pages() != 2 {
		t.Errorf("%d pages without a tree", d.Pages())
	}
}

func TestRefused(t *testing.T) {
	noPages := &file{}
	noPages.add("<</Type /Catalog /Pages 2 0 R>>")
	noPages.add("<</Type /Pages /Kids [] /Count 5>>")
	locked := pages(hello)
	locked.trailer = "/Encrypt <</Filter /Standard /V 2 /R 3 /Length 128 /O (" + strings.Repeat("o", 32) + ") /U (" + strings.Repeat("u", 32) + ") /P -4>> /ID [(1) (1)]"
	foreign := pages(hello)
	foreign.trailer = "/Encrypt <</Filter /Other>>"
	for name, tc := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":              {nil, ErrNotPDF},
		"text":                 {[]byte("hello"), ErrNotPDF},
		"a mark alone":         {[]byte("%PDF-1.7"), ErrNoPages},
		"no pages":             {noPages.bytes(), ErrNoPages},
		"a password":           {locked.bytes(), ErrEncrypted},
		"another kind of lock": {foreign.bytes(), ErrEncrypted},
	} {
		if _, err := Open(context.Background(), tc.data); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// Files that are made to keep a reader busy or to fill its memory come to an end.
func TestHostile(t *testing.T) {
	zeros := deflate(t, make([]byte, 2*maxStream))
	bomb := pages("")
	bomb.objects = bomb.objects[:4]
	bomb.stream("/Filter /FlateDecode", zeros)
	twice := pages("")
	twice.objects = twice.objects[:4]
	twice.stream("/Filter [/FlateDecode /FlateDecode /FlateDecode]", deflate(t, zeros))
	circle := pages(hello)
	circle.objects[1] = "<</Type /Pages /Kids [2 0 R 2 0 R 4 0 R]>>"
	lengths := pages(hello)
	lengths.objects[4] = "<</Length 5 0 R>>\nstream\n" + hello + "\nendstream"
	references := pages(hello)
	references.objects[0] = "<</Type /Catalog /Pages 6 0 R>>"
	references.add("7 0 R")
	references.add("6 0 R")
	tables := bytes.Replace(pages(hello).bytes(), []byte("trailer\n<<"), []byte("trailer\n<</Prev 0 "), 1)
	forms := pages(strings.Repeat("/Fm Do ", 10))
	forms.objects[1] = strings.Replace(forms.objects[1], "/Resources <<", "/Resources <</XObject <</Fm 6 0 R>> ", 1)
	forms.stream("/Subtype /Form", []byte(strings.Repeat("/Fm Do ", 10)))
	many := bytes.Repeat([]byte("1 0 obj <</Length 9>> stream\n"), 200_000)
	packed := pages(hello)
	packed.stream("/Type /ObjStm /N 99999999 /First 0", []byte("1 0 1 0"))
	table := &file{}
	table.stream("/Type /XRef /W [0 0 0] /Size 99999999 /Root 1 0 R", []byte("x"))
	for name, data := range map[string][]byte{
		"a stream that unpacks to much": bomb.bytes(), "packed three times": twice.bytes(),
		"a page tree in a circle": circle.bytes(), "a length that is the stream itself": lengths.bytes(),
		"references in a circle": references.bytes(), "tables in a circle": tables, "forms in themselves": forms.bytes(),
		"nested arrays": pages(strings.Repeat("[", 1<<20)).bytes(), "nested dictionaries": []byte("%PDF-1.7\n1 0 obj\n" + strings.Repeat("<</A ", 1<<20)),
		"objects without an end": append([]byte("%PDF-1.4\n"), many...), "a list of objects that is not there": packed.bytes(),
		"a table of nothing":     table.bytes(),
		"a table that is huge":   []byte("%PDF-1.4\nxref\n0 999999999\ntrailer <</Root 1 0 R>>\nstartxref\n9\n"),
		"a string without end":   pages("BT /F 10 Tf (" + strings.Repeat("(", 1<<20)).bytes(),
		"a picture without end":  pages("BI ID " + strings.Repeat("EIx", 1<<20)).bytes(),
		"much text":              pages("BT /F 1 Tf (" + strings.Repeat("a", 4<<20) + ") Tj ET").bytes(),
		"numbers beyond numbers": pages("BT /F 9e9 Tf 99999999999999999999999 " + strings.Repeat("9", 500) + " Td (a) Tj 0 0 0 0 0 0 Tm (b) Tj ET").bytes(),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Open(context.Background(), data)
		if err == nil {
			for n := 1; n <= min(d.Pages(), 20); n++ {
				if p, err := d.Page(n); err == nil && len(p.Text) > 4*maxGlyphs {
					t.Errorf("%s: page %d has %d bytes", name, n, len(p.Text))
				}
			}
		}
		runtime.ReadMemStats(&after)
		if grown := (after.TotalAlloc - before.TotalAlloc) >> 20; grown > 600 {
			t.Errorf("%s: %d MB were taken", name, grown)
		}
	}
}

func TestManyPages(t *testing.T) {
	contents := make([]string, 10_000)
	for i := range contents {
		contents[i] = fmt.Sprintf("BT /F 10 Tf (page %d) Tj ET", i+1)
	}
	d := mustOpen(t, pages(contents...).bytes())
	if d.Pages() != len(contents) || textOf(t, d, 9_999) != "page 9999" {
		t.Errorf("%d pages, %q", d.Pages(), textOf(t, d, 9_999))
	}
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, pages(strings.Repeat(hello+" ", 200_000)).bytes()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	d := mustOpen(t, pages(strings.Repeat(hello+" ", 400_000)).bytes())
	d.b.ctx = ctx
	if _, err := d.Page(1); !errors.Is(err, context.Canceled) {
		t.Errorf("a page after the end of its context: %v", err)
	}
	d = mustOpen(t, pages(hello).bytes())
	d.b.steps = 10
	if _, err := d.Page(1); !errors.Is(err, errWork) {
		t.Errorf("a page beyond the budget: %v", err)
	}
}

// FuzzDocument calls what stands behind the guard, so that a panic shows.
func FuzzDocument(f *testing.F) {
	f.Add(pages(hello, "BT /F 10 Tf [(a) -300 (b)] TJ ET").bytes())
	packed := pages("")
	packed.objects = packed.objects[:4]
	packed.stream("/Filter /FlateDecode", deflate(f, []byte(hello)))
	f.Add(packed.bytes())
	composite := pages("BT /F 10 Tf <00010002> Tj ET")
	composite.objects[2] = "<</Type /Font /Subtype /Type0 /Encoding 6 0 R /ToUnicode 6 0 R /DescendantFonts [<</W [1 [500] 2 9 600]>>]>>"
	composite.stream("", []byte("1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfrange <01> <09> <0041> endbfrange"))
	f.Add(composite.bytes())
	f.Add([]byte("%PDF-1.5\n1 0 obj <</Type /XRef /W [1 2 1] /Size 3 /Root 1 0 R /Index [0 3]>> stream\n\x01\x00\x09\x00\nendstream endobj\nstartxref\n9"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &Document{data: data, b: budget{ctx: context.Background(), steps: 2_000_000, memory: 64 << 20}}
		if d.open() != nil {
			return
		}
		for i := range min(len(d.pages), 3) {
			if p, err := d.readPage(&d.pages[i]); err == nil && strings.Contains(p.Text, "\x00") {
				t.Errorf("page %d has a NUL", i)
			}
		}
	})
}
