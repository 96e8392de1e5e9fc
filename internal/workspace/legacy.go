package workspace

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// legacyCharset is a charset from before Unicode.
type legacyCharset struct {
	name string
	// labels are the names that .editorconfig files give it, in lower case, the
	// usual one first.
	labels []string
	codec  func() codec
}

// legacyOf describes a legacy charset.
func legacyOf(e Encoding) *legacyCharset {
	return &legacyCharsets()[e-Latin1]
}

// legacyCharsets are in the order of the constants.
var legacyCharsets = sync.OnceValue(func() []legacyCharset {
	single := func(m *charmap.Charmap) func() codec { return func() codec { return byteCodec{m} } }
	double := func(e encoding.Encoding) func() codec {
		return sync.OnceValue(func() codec { return newPairCodec(e) })
	}
	return []legacyCharset{
		{"ISO-8859-1 (Latin-1)", []string{"latin1", "iso-8859-1"}, single(charmap.ISO8859_1)},
		{"ISO-8859-15 (Latin-9)", []string{"iso-8859-15", "latin9"}, single(charmap.ISO8859_15)},
		{"Windows-1250", []string{"windows-1250", "cp1250"}, single(charmap.Windows1250)},
		{"Windows-1251", []string{"windows-1251", "cp1251"}, single(charmap.Windows1251)},
		{"Windows-1252", []string{"windows-1252", "cp1252"}, single(charmap.Windows1252)},
		{"KOI8-R", []string{"koi8-r"}, single(charmap.KOI8R)},
		{"Shift-JIS", []string{"shift_jis", "sjis", "windows-31j", "cp932"}, double(japanese.ShiftJIS)},
		{"GBK", []string{"gbk", "gb2312", "cp936"}, double(simplifiedchinese.GBK)},
	}
})

// label is the name by which .editorconfig gives the charset.
func (e Encoding) label() string {
	if e.legacy() {
		return legacyOf(e).labels[0]
	}
	return strings.ReplaceAll(strings.ToLower(e.String()), " ", "")
}

// legacyLabels are the legacy charsets by all of their names, as plainLabel has them.
var legacyLabels = sync.OnceValue(func() map[string]Encoding {
	out := map[string]Encoding{}
	for i, c := range legacyCharsets() {
		for _, label := range c.labels {
			out[plainLabel(label)] = Latin1 + Encoding(i)
		}
	}
	return out
})

// plainLabel is text in which the names of charsets are looked for.
func plainLabel(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// charsetLabeled finds the legacy charset of a name in .editorconfig.
func charsetLabeled(label string) (Encoding, bool) {
	enc, ok := legacyLabels()[plainLabel(label)]
	return enc, ok
}

// namesLegacyCharset reports whether such a name stands anywhere in a text.
func namesLegacyCharset(text []byte) bool {
	plain := plainLabel(string(text))
	for label := range legacyLabels() {
		if strings.Contains(plain, label) {
			return true
		}
	}
	return false
}

// byteCodec is a charset in which each byte is a character.
type byteCodec struct{ m *charmap.Charmap }

func (c byteCodec) decode(b []byte) (rune, int, bool) {
	r := c.m.DecodeByte(b[0])
	return r, 1, r != utf8.RuneError
}

func (c byteCodec) encode(dst []byte, r rune) ([]byte, bool) {
	b, ok := c.m.EncodeRune(r)
	if !ok || c.m.DecodeByte(b) != r {
		return dst, false
	}
	return append(dst, b), true
}

// pairCodec is a charset with ASCII, and with characters of one or two bytes
// that begin with a byte from 0x80 on. Its tables are made from the library's,
// which gives no way to tell how many bytes a broken character has.
type pairCodec struct {
	charset encoding.Encoding
	single  [128]rune     // of the bytes from 0x80 on; 0 is none
	pairs   [1 << 15]rune // of first byte - 0x80 and second byte; 0 is none
}

func newPairCodec(charset encoding.Encoding) *pairCodec {
	c := &pairCodec{charset: charset}
	decoder := charset.NewDecoder()
	var dst [16]byte
	one := func(src ...byte) rune {
		decoder.Reset()
		n, used, err := decoder.Transform(dst[:], src, true)
		r, size := utf8.DecodeRune(dst[:n])
		if err != nil || used != len(src) || size != n || r == utf8.RuneError {
			return 0
		}
		return r
	}
	for i := range c.single {
		c.single[i] = one(byte(0x80 + i))
		if _, ok := c.encode(nil, c.single[i]); !ok {
			c.single[i] = 0 // a byte that means nothing, read as a control character
		}
	}
	for i := range c.pairs {
		if c.single[i>>8] == 0 {
			c.pairs[i] = one(byte(0x80+i>>8), byte(i))
		}
	}
	return c
}

func (c *pairCodec) decode(b []byte) (rune, int, bool) {
	if b[0] < utf8.RuneSelf {
		return rune(b[0]), 1, true
	}
	if r := c.single[b[0]-0x80]; r != 0 {
		return r, 1, true
	}
	if len(b) > 1 {
		if r := c.pairs[int(b[0]-0x80)<<8|int(b[1])]; r != 0 {
			return r, 2, true
		}
	}
	return utf8.RuneError, 1, false
}

func (c *pairCodec) encode(dst []byte, r rune) ([]byte, bool) {
	if r < utf8.RuneSelf {
		return append(dst, byte(r)), true
	}
	raw, err := c.charset.NewEncoder().Bytes(utf8.AppendRune(nil, r))
	if err != nil || len(raw) == 0 {
		return dst, false
	}
	// Some encoders write a near character, such as \\ for ¥.
	if back, n, ok := c.decode(raw); !ok || n != len(raw) || back != r {
		return dst, false
	}
	return append(dst, raw...), true
}
