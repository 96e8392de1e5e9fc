package workspace

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/testkit"
)

// utf16Bytes writes text in UTF-16 with a mark.
func utf16Bytes(enc Encoding, text string) []byte {
	raw, err := Style{Encoding: enc, BOM: true}.Encode(text)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name, raw, lf, style string
		broken               bool
	}{
		{"empty", "", "", "UTF-8", false},
		{"plain", "a\nb\n", "a\nb\n", "UTF-8", false},
		{"no newline at the end", "a\nb", "a\nb", "UTF-8", false},
		{"CRLF", "a\r\nb\r\n", "a\nb\n", "UTF-8, CRLF newlines", false},
		{"mixed", "a\r\nb\nc\r\n", "a\nb\nc\n", "UTF-8, mixed LF and CRLF newlines", false},
		{"lone CR is text", "a\rb\r\n", "a\rb\n", "UTF-8, CRLF newlines", false},
		{"CR CR LF", "a\r\r\nb", "a\r\nb", "UTF-8, CRLF newlines", false},
		{"VT and FF are text", "a\vb\fc\n", "a\vb\fc\n", "UTF-8", false},
		{"CR at the end", "a\r", "a\r", "UTF-8", false},
		{"mark", "\xef\xbb\xbfa\n", "a\n", "UTF-8 with a byte order mark", false},
		{"only a mark", "\xef\xbb\xbf", "", "UTF-8 with a byte order mark", false},
		{"a mark inside is text", "a\ufeffb", "a\ufeffb", "UTF-8", false},
		{"broken", "a\xffb\n", "a\ufffdb\n", "UTF-8", true},
		{"cut rune", "a\xe2\x82", "a\ufffd\ufffd", "UTF-8", true},
		{"real U+FFFD", "a\ufffdb", "a\ufffdb", "UTF-8", false},
		{"UTF-16 LE", "\xff\xfea\x00\r\x00\n\x00", "a\n", "UTF-16 LE with a byte order mark, CRLF newlines", false},
		{"UTF-16 BE", "\xfe\xff\x00a\x00\n\xd8\x3d\xde\x00", "a\n😀", "UTF-16 BE with a byte order mark", false},
		{"UTF-16 odd", "\xff\xfea\x00b", "a\ufffd", "UTF-16 LE with a byte order mark", true},
		{"UTF-16 half pair", "\xff\xfe\x3d\xd8a\x00", "\ufffda", "UTF-16 LE with a byte order mark", true},
	} {
		text := Decode([]byte(tc.raw))
		if text.LF != tc.lf || text.String() != tc.style || text.Broken != tc.broken {
			t.Errorf("%s: %q, %s, broken %v; want %q, %s, %v", tc.name, text.LF, text, text.Broken, tc.lf, tc.style, tc.broken)
		}
	}
}

func TestSplice(t *testing.T) {
	for _, tc := range []struct {
		name, raw, old, with, want string
		err                        error
	}{
		{"plain", "a\nb\nc\n", "b", "x\ny", "a\nx\ny\nc\n", nil},
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n", nil},
		{"newline removed whole", "a\r\nb\r\n", "a\n", "", "b\r\n", nil},
		{"mixed takes the place's", "a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n", nil},
		{"mixed, last line", "a\nb\r\nc", "c", "x\ny", "a\nb\r\nx\r\ny", nil},
		{"mixed, other bytes kept", "a\r\nb\nc\r\n", "b\nc", "B\nC", "a\r\nB\nC\r\n", nil},
		{"no newline yet", "a", "a", "a\nb", "a\nb", nil},
		{"mark kept", "\xef\xbb\xbfa\n", "a", "b", "\xef\xbb\xbfb\n", nil},
		{"broken bytes elsewhere", "\xff\na\n\xfe", "a", "b", "\xff\nb\n\xfe", nil},
		{"broken bytes beside", "\xffa\xfe", "a", "b", "\xffb\xfe", nil},
		{"broken bytes inside", "x\xffy", "x\ufffdy", "z", "", ErrBrokenSpan},
		{"a real U+FFFD", "x\ufffdy", "x\ufffdy", "z", "z", nil},
		{"lone CR kept", "a\rb\r\nc\r\n", "b", "x", "a\rx\r\nc\r\n", nil},
		{"UTF-16", string(utf16Bytes(UTF16LE, "a😀\r\nb")), "😀\nb", "ä\n𝄞", string(utf16Bytes(UTF16LE, "aä\r\n𝄞")), nil},
		{"UTF-16 BE insert", string(utf16Bytes(UTF16BE, "ab")), "a", "a\nc", string(utf16Bytes(UTF16BE, "a\ncb")), nil},
	} {
		text := Decode([]byte(tc.raw))
		at := strings.Index(text.LF, tc.old)
		if at < 0 {
			t.Fatalf("%s: %q is not in %q", tc.name, tc.old, text.LF)
		}
		raw, lf, err := text.Splice([]Edit{{at, at + len(tc.old), tc.with}})
		if !errors.Is(err, tc.err) {
			t.Errorf("%s: error %v, want %v", tc.name, err, tc.err)
			continue
		}
		if string(raw) != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, raw, tc.want)
		}
		if want := strings.Replace(text.LF, tc.old, tc.with, 1); err == nil && lf != want {
			t.Errorf("%s: text %q, want %q", tc.name, lf, want)
		}
	}
}

// An edit that would make the bytes around it read as something else is refused.
func TestSpliceRefusesToJoinBytes(t *testing.T) {
	for name, c := range map[string]struct{ raw, old string }{
		"halves of a character": {"\xe2X\x82\xac", "X"},
		"a lone CR and an LF":   {"a\rX\nb", "X"},
		"a mark":                {"\xefX\xbb\xbfa", "X"},
	} {
		text := Decode([]byte(c.raw))
		at := strings.Index(text.LF, c.old)
		if raw, _, err := text.Splice([]Edit{{at, at + len(c.old), ""}}); err == nil {
			t.Errorf("%s: %q became %q", name, c.raw, raw)
		}
	}
}

func TestSpliceChecksItsInput(t *testing.T) {
	text := Decode([]byte("a\r\nä\r\n"))
	for _, edits := range [][]Edit{
		{{0, 99, ""}}, {{2, 1, ""}}, {{2, 3, ""}, {1, 2, ""}}, {{3, 4, ""}},
	} {
		if _, _, err := text.Splice(edits); err == nil {
			t.Errorf("%v was accepted", edits)
		}
	}
}

// spliceCase is a file, the legacy charset that is declared for it or UTF8, and
// some edits of it.
func spliceCase(t *rapid.T) ([]byte, Encoding, []Edit) {
	piece := rapid.SampledFrom([]string{"a", "b", "ä", "€", "😀", "\n", "\r\n", "\r", "\t", "\xff", "\xe2\x82", "\ufffd", "\ufeff"})
	raw := []byte(strings.Join(rapid.SliceOf(piece).Draw(t, "raw"), ""))
	declared := UTF8
	with := []string{"x", "ö", "\n", "𝄞"}
	switch rapid.IntRange(0, 5).Draw(t, "encoding") {
	case 1:
		raw = append([]byte("\xef\xbb\xbf"), raw...)
	case 2:
		raw = utf16Bytes(UTF16LE, string(raw))
	case 3:
		raw = append(utf16Bytes(UTF16BE, string(raw)), rapid.SampledFrom([]string{"", "\xd8\x3d", "x"}).Draw(t, "tail")...)
	case 4:
		declared = Latin1 + Encoding(rapid.IntRange(0, len(legacyCharsets())-1).Draw(t, "declared"))
		raw = legacyBytes(t, declared)
		with = []string{"x", "\n", "ö", "Ж", "の", "中", "\\"}
	case 5: // told from the bytes, perhaps
		raw = rapid.SampledFrom([][]byte{
			[]byte("Gr\xf6\xdfe f\xfcr sp\xe4ter\r\n"), []byte("\x83t\x83@\x83C\x83\x8b\x82\xf0\n"),
			[]byte("\xb4\xf2\xbf\xaa\xce\xc4\xbc\xfe\xa3\xac\xb3\xf5\xca\xbc\xbb\xaf\r\n"),
		}).Draw(t, "certain")
	}
	lf := decodeAs(raw, declared).LF
	var edits []Edit
	at := 0
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		start := runeStart(lf, rapid.IntRange(at, len(lf)).Draw(t, "start"))
		end := runeStart(lf, rapid.IntRange(max(at, start), len(lf)).Draw(t, "end"))
		if start < at || end < start {
			continue
		}
		with := strings.Join(rapid.SliceOfN(rapid.SampledFrom(with), 0, 4).Draw(t, "new"), "")
		edits = append(edits, Edit{start, end, with})
		at = end
	}
	return raw, declared, edits
}

// legacyBytes are characters of a charset, and bytes that are none.
func legacyBytes(t *rapid.T, enc Encoding) []byte {
	var raw []byte
	for range rapid.IntRange(0, 12).Draw(t, "chars") {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			raw = append(raw, rapid.SampledFrom([]string{"a", "\n", "\r\n", "\r", "\\"}).Draw(t, "ascii")...)
		case 1:
			raw = append(raw, rapid.Byte().Draw(t, "byte"))
		default:
			r := rapid.SampledFrom([]rune("äéčжのソ表中文ｱ€")).Draw(t, "char")
			raw, _ = enc.codec().encode(raw, r) // or nothing, where the charset lacks it
		}
	}
	return raw
}

func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// Whatever the file, an edit changes the text as asked, and no byte outside.
func TestSpliceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, declared, edits := spliceCase(t)
		checkSplice(t, raw, declared, edits)
	})
}

type failer interface{ Fatalf(string, ...any) }

func checkSplice(t failer, raw []byte, declared Encoding, edits []Edit) {
	before := bytes.Clone(raw)
	text := decodeAs(raw, declared)
	out, lf, err := text.Splice(edits)
	if !bytes.Equal(before, raw) {
		t.Fatalf("the input was changed")
	}
	if err != nil {
		return
	}
	want, at := "", 0
	for _, e := range edits {
		want += text.LF[at:e.Start] + e.New
		at = e.End
	}
	want += text.LF[at:]
	if lf != want {
		t.Fatalf("text %q, want %q", lf, want)
	}
	back := decodeAs(out, declared)
	if certain := declared == UTF8 && text.Encoding.legacy() || back.Encoding != text.Encoding; certain {
		// What is told from the bytes may not be told any more; the bytes are right.
		back = &Text{raw: out, Style: Style{Encoding: text.Encoding}}
		back.decode(false)
	}
	if back.LF != want || back.Encoding != text.Encoding || back.BOM != text.BOM {
		t.Fatalf("%q edited by %v reads as %q, want %q", raw, edits, back.LF, want)
	}
	spans, err := text.locate(edits)
	if err != nil {
		t.Fatalf("locate: %v", err)
	}
	if len(spans) == 0 {
		return
	}
	head, tail := raw[:spans[0].at], raw[spans[len(spans)-1].end:]
	if !bytes.HasPrefix(out, head) || !bytes.HasSuffix(out, tail) {
		t.Fatalf("bytes outside the edits changed: %q became %q", raw, out)
	}
}

func FuzzSplice(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzSplice.corpus")
	f.Add([]byte("a\r\nb\n\xff"), byte(0), 1, 2, "x\ny")
	f.Add([]byte("\xff\xfea\x00\n\x00"), byte(0), 0, 1, "ä")
	f.Add([]byte("\x83\\\x82\xf0a"), byte(ShiftJIS), 3, 4, "表")
	f.Fuzz(func(t *testing.T, raw []byte, charset byte, start, end int, with string) {
		declared := declarable(charset)
		lf := decodeAs(raw, declared).LF
		if start < 0 || end < start || end > len(lf) || !utf8.ValidString(with) {
			return
		}
		checkSplice(t, raw, declared, []Edit{{start, end, ToLF(with)}})
	})
}

// FuzzDecode holds that reading loses nothing: what is decoded and encoded again
// in its own style is the same file, when it has only one newline style.
func FuzzDecode(f *testing.F) {
	testkit.AddCorpus(f, "testdata/FuzzDecode.corpus")
	f.Add([]byte("a\r\nb"), byte(0))
	f.Add([]byte("\xfe\xff\x00a"), byte(0))
	f.Add([]byte("Gr\xf6\xdfe f\xfcr sp\xe4ter"), byte(0))
	f.Add([]byte("\xed\x40\xfa\x5c"), byte(ShiftJIS))
	f.Fuzz(func(t *testing.T, raw []byte, charset byte) {
		text := decodeAs(raw, declarable(charset))
		if !utf8.ValidString(text.LF) {
			t.Fatalf("%q decodes to invalid UTF-8", raw)
		}
		if text.Broken || text.Newline == MixedNewlines {
			return
		}
		back, err := text.Style.Encode(text.LF)
		same := bytes.Equal(back, raw)
		if text.Encoding == ShiftJIS || text.Encoding == GBK { // some characters have two places, in GBK € one of a byte
			same = decodeAs(back, text.Encoding).LF == text.LF
		}
		if err != nil || !same {
			t.Fatalf("%q is written back as %q, %v", raw, back, err)
		}
	})
}

// declarable is the legacy charset of a number, or UTF8.
func declarable(charset byte) Encoding {
	if e := Encoding(charset); e.legacy() && int(e-Latin1) < len(legacyCharsets()) {
		return e
	}
	return UTF8
}

func TestEncode(t *testing.T) {
	raw, err := Style{Newline: MixedNewlines, Mostly: CRLF}.Encode("a\nb")
	if err != nil || string(raw) != "a\r\nb" {
		t.Errorf("%q, %v", raw, err)
	}
	if raw, err = (Style{Encoding: UTF16BE, BOM: true, Newline: CRLF}).Encode("a\n"); err != nil || string(raw) != "\xfe\xff\x00a\x00\r\x00\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestTextReader(t *testing.T) {
	long := strings.Repeat("ä😀x\r\n", 30_000)
	for name, raw := range map[string][]byte{
		"UTF-8": []byte(long), "mark": []byte("\xef\xbb\xbf" + long),
		"LE": utf16Bytes(UTF16LE, long), "BE": utf16Bytes(UTF16BE, long), "empty": nil,
	} {
		want := long
		if name == "empty" {
			want = ""
		}
		for _, r := range []io.Reader{bytes.NewReader(raw), iotest.OneByteReader(bytes.NewReader(raw)), iotest.DataErrReader(bytes.NewReader(raw))} {
			text, style, _, binary, err := TextReader(r)
			if err != nil || binary {
				t.Fatalf("%s: %v, binary %v", name, err, binary)
			}
			got, err := io.ReadAll(text)
			if err != nil || string(got) != want {
				t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
			}
			if style.BOM != (name != "UTF-8" && name != "empty") {
				t.Errorf("%s: style %v", name, style)
			}
		}
	}
	if _, _, head, binary, err := TextReader(strings.NewReader("\x7fELF\x00")); err != nil || !binary || FileType(head) != "an ELF program or library" {
		t.Errorf("binary %v, %q, %v", binary, head, err)
	}
	if _, _, _, _, err := TextReader(iotest.ErrReader(errDisk)); !errors.Is(err, errDisk) {
		t.Errorf("a failing reader: %v", err)
	}
}

func TestIsBinary(t *testing.T) {
	for head, want := range map[string]bool{
		"": false, "text": false, "a\x00b": true, "\xff\xfea\x00": false, "\xfe\xff\x00a": false,
		"\xff\xfe\x00\x00a\x00\x00\x00": true, strings.Repeat("a", binaryHead) + "\x00": false,
	} {
		if got := IsBinary([]byte(head)); got != want {
			t.Errorf("IsBinary(%.20q) = %v", head, got)
		}
	}
}

func TestCountLines(t *testing.T) {
	got := map[string]int{}
	for _, s := range []string{"", "a", "a\n", "a\nb", "\n", "\n\n"} {
		got[s] = CountLines(s)
	}
	if diff := cmp.Diff(map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1, "\n\n": 2}, got); diff != "" {
		t.Error(diff)
	}
}
