package pdf

import (
	"bytes"
	"encoding/ascii85"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func TestLayout(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"lines", "BT /F 12 Tf 72 700 Td (One line) Tj 0 -14 Td (the next) Tj ET", "One line\nthe next"},
		{"a paragraph", "BT /F 12 Tf 14 TL 72 700 Td (One) Tj T* (two) Tj 0 -40 Td (three) Tj ET", "One\ntwo\n\nthree"},
		{"kerning makes no blank", "BT /F 10 Tf [(A) 70 (V) -30 (ery)] TJ ET", "AVery"},
		{"a gap is a blank", "BT /F 10 Tf [(two) -300 (words)] TJ ET", "two words"},
		{"cells of a table", "BT /F 10 Tf 1 0 0 1 72 500 Tm (left) Tj 1 0 0 1 300 500 Tm (right) Tj ET", "left  right"},
		{"columns stay apart", "BT /F 10 Tf 72 700 Td (a1) Tj 0 -12 Td (a2) Tj 228 12 Td (b1) Tj 0 -12 Td (b2) Tj ET", "a1\na2\n\nb1\nb2"},
		{"raised", "BT /F 10 Tf (x) Tj 4 Ts /F 6 Tf (2) Tj 0 Ts /F 10 Tf ( + y) Tj ET", "x2 + y"},
		{"quote operators", "BT /F 10 Tf 12 TL 72 700 Td (a) Tj (b) ' 1 2 (c) \" ET", "a\nb\nc"},
		{"escapes", `BT /F 10 Tf (\(a\) \101\102 \\ caf\351 \` + "\n" + `end) Tj ET`, `(a) AB \ café end`},
		{"hexadecimal", "BT /F 10 Tf <48 65 6C6C 6F> Tj ET", "Hello"},
		{"turned", "BT /F 10 Tf (up) Tj ET q 0 1 -1 0 300 300 cm BT /F 10 Tf (side) Tj ET Q", "up\n\nside"},
		{"invisible text of a scan counts", "BT 3 Tr /F 10 Tf (recognised) Tj ET", "recognised"},
		{"a picture among operators", "BI /W 1 /H 1 ID \x00(junk) Tj\xff EI BT /F 10 Tf (after) Tj ET", "after"},
		{"a code without a meaning", "BT /F 10 Tf (a\x01b\xa0c) Tj ET", "a\ufffdb c"},
		{"nothing", "", ""},
		{"unbalanced", "Q Q ) ] >> BT /F 10 Tf (still) Tj", "still"},
		{"no font", "BT (lost) Tj /Gone 10 Tf (lost) Tj ET", ""},
	} {
		d := mustOpen(t, pages(tc.content).bytes())
		if tc.name == "no font" {
			// A font that is not there shows what its codes are in the usual encoding.
			tc.want = "lost"
		}
		if got := textOf(t, d, 1); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestPictures(t *testing.T) {
	f := pages("q /Im Do Q")
	f.objects[1] = strings.Replace(f.objects[1], "/Resources <<", "/Resources <</XObject <</Im 6 0 R>> ", 1)
	f.stream("/Subtype /Image /Width 1 /Height 1 /Filter /DCTDecode", []byte("\xff\xd8"))
	p, err := mustOpen(t, f.bytes()).Page(1)
	if err != nil || p.Text != "" || !p.Pictures {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestForms(t *testing.T) {
	f := pages("BT /F 10 Tf (before) Tj ET /Fm Do BT /F 10 Tf 0 -12 Td (after) Tj ET")
	f.objects[1] = strings.Replace(f.objects[1], "/Resources <<", "/Resources <</XObject <</Fm 6 0 R>> ", 1)
	f.stream("/Subtype /Form /Matrix [1 0 0 1 0 100]", []byte("BT /F 10 Tf (inside) Tj ET /Fm Do"))
	got := textOf(t, mustOpen(t, f.bytes()), 1)
	if !strings.HasPrefix(got, "before\n\ninside\n") || !strings.HasSuffix(got, "after") {
		t.Errorf("%q", got)
	}
}

func TestFilters(t *testing.T) {
	content := []byte("BT /F 10 Tf (packed away) Tj ET")
	var a85 bytes.Buffer
	w := ascii85.NewEncoder(&a85)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Rows of four bytes, each with the difference to the one above.
	padded := append(bytes.Clone(content), bytes.Repeat([]byte(" "), 3-(len(content)+3)%4)...)
	var rows, above []byte
	above = make([]byte, 4)
	for i := 0; i < len(padded); i += 4 {
		rows = append(rows, 2)
		for j := range 4 {
			rows = append(rows, padded[i+j]-above[j])
		}
		above = padded[i : i+4]
	}
	run := append([]byte{byte(len(content) - 1)}, content...)
	for _, tc := range []struct {
		name, header string
		data         []byte
	}{
		{"Flate", "/Filter /FlateDecode", deflate(t, content)},
		{"a predictor", "/Filter /FlateDecode /DecodeParms <</Predictor 12 /Columns 4>>", deflate(t, rows)},
		{"a list", "/Filter [/ASCIIHexDecode /FlateDecode] /DecodeParms [null null]", append([]byte(hex.EncodeToString(deflate(t, content))), '>')},
		{"ASCII 85", "/Filter /ASCII85Decode", append(a85.Bytes(), "~>"...)},
		{"runs", "/Filter /RunLengthDecode", append(run, 128)},
		{"a broken end", "/Filter /FlateDecode", deflate(t, content)[:len(deflate(t, content))-4]},
	} {
		f := pages("")
		f.objects = f.objects[:4]
		f.stream(tc.header, tc.data)
		if got := textOf(t, mustOpen(t, f.bytes()), 1); got != "packed away" {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
}

func TestFonts(t *testing.T) {
	toUnicode := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n" +
		"2 beginbfchar <0001> <0041> <0002> <00660069> endbfchar\n2 beginbfrange <0010> <0012> <0391> <0020> <0021> [<4E2D> <D83DDE00>] endbfrange endcmap"
	for _, tc := range []struct{ name, font, codes, want string }{
		{"a table of characters", "/Type0 /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [<</DW 1000 /W [1 [500 600]]>>]", "<0001 0002 0010 0012 0020 0021>", "AfiΑΓ中😀"},
		{"no table", "/Type0 /Encoding /Identity-H /DescendantFonts [<</DW 1000>>]", "<0001>", "\ufffd"},
		{"UTF-16", "/Type0 /Encoding /UniGB-UTF16-H /DescendantFonts [<<>>]", "<4E2D 6587 D83D DE00>", "中文😀"},
		{"Shift-JIS", "/Type0 /Encoding /90ms-RKSJ-H /DescendantFonts [<<>>]", "<93FA 967B 41>", "日本A"},
		{"GBK", "/Type0 /Encoding /GBK-EUC-H /DescendantFonts [<<>>]", "<D6D0 41>", "中A"},
		{"names of glyphs", "/Type1 /Encoding <</Differences [1 /fi /Aacute /uni4E2D /u1F600 /a.sc /f_f_i /afii10018 /nonsense9]>>", "<0102030405060708>", "fiÁ中😀affiБ\ufffd"},
		{"Mac", "/TrueType /Encoding /MacRomanEncoding", "<8E>", "é"},
		{"standard", "/Type1 /BaseFont /Times", "<27 B1 AE>", "’–ﬁ"},
		{"Symbol", "/Type1 /BaseFont /Symbol", "<61 62>", "αβ"},
	} {
		f := pages("BT /F 10 Tf " + tc.codes + " Tj ET")
		f.objects[2] = "<</Type /Font /Subtype " + tc.font + ">>"
		f.stream("", []byte(toUnicode))
		if got := textOf(t, mustOpen(t, f.bytes()), 1); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestFontProgram(t *testing.T) {
	f := pages("BT /F 10 Tf <0C 41> Tj ET")
	f.objects[2] = "<</Type /Font /Subtype /Type1 /FontDescriptor <</FontFile 6 0 R>>>>"
	f.stream("", []byte("%!PS-AdobeFont\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 12 /fi put\ndup 65 /A put\nreadonly def\ncurrentfile eexec \x80\x81"))
	if got := textOf(t, mustOpen(t, f.bytes()), 1); got != "fiA" {
		t.Errorf("%q", got)
	}
}

func TestPageNumbers(t *testing.T) {
	var contents []string
	for i := range 30 {
		contents = append(contents, fmt.Sprintf("BT /F 10 Tf (page %d) Tj ET", i+1))
	}
	d := mustOpen(t, pages(contents...).bytes())
	if d.Pages() != 30 || textOf(t, d, 30) != "page 30" || textOf(t, d, 1) != "page 1" {
		t.Errorf("%d pages, the last is %q", d.Pages(), textOf(t, d, 30))
	}
	for _, n := range []int{0, -1, 31} {
		if _, err := d.Page(n); err == nil {
			t.Errorf("there is a page %d", n)
		}
	}
}
