package pdf

import (
	"bytes"
	"math"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// font tells what the codes of a string mean, and how wide their glyphs are.
type font struct {
	// composite fonts have codes of several bytes.
	composite bool
	vertical  bool
	codes     *charMap // how long codes are; nil for two bytes
	toUnicode *charMap
	codec     encoding.Encoding // of a legacy charset
	utf16     bool
	simple    [256]string
	widths    map[int]float64 // in thousandths of the size
	width     float64         // of the others; negative to guess from the character
	// scale of the widths to the size of the text; em is how large that size looks,
	// which is not 1 where a font has units of its own.
	scale, em float64
}

const maxWidths = 1 << 17

// fontOf reads a font, once for each object that is one.
func (d *Document) fontOf(v any) *font {
	r, isRef := v.(ref)
	if isRef {
		if f, ok := d.fonts[r.num]; ok {
			return f
		}
	}
	f := d.readFont(d.dict(v))
	if isRef && d.b.hold(sizeFont) {
		const most = 2000
		if len(d.fonts) >= most {
			clear(d.fonts)
		}
		d.fonts[r.num] = f
	}
	return f
}

func (d *Document) readFont(from dict) *font {
	d.b.take(500)
	f := &font{scale: 0.001, em: 1, widths: map[int]float64{}, width: -1}
	if s, ok := d.resolve(from["ToUnicode"]).(*stream); ok {
		f.toUnicode = d.readCharMap(s)
	}
	switch kind, _ := d.resolve(from["Subtype"]).(name); kind {
	case "Type0":
		f.composite = true
		d.readComposite(f, from)
	case "Type3":
		if m, ok := d.resolve(from["FontMatrix"]).(array); ok && len(m) > 0 {
			f.scale = d.number(m[0])
		}
		d.readSimple(f, from)
		f.em = f.looks()
	default:
		d.readSimple(f, from)
	}
	return f
}

// looks is how large the glyphs of a font of its own units are: letters are about
// half as wide as the size says.
func (f *font) looks() float64 {
	sum, n := 0.0, 0
	for _, w := range f.widths {
		if w > 0 {
			sum += w
			n++
		}
	}
	if em := 2 * sum / float64(max(n, 1)) * math.Abs(f.scale); em > 0 {
		return em
	}
	return 1
}

func (d *Document) number(v any) float64 {
	switch n := d.resolve(v).(type) {
	case int:
		return float64(n)
	case float64:
		return n
	}
	return 0
}

func (d *Document) readComposite(f *font, from dict) {
	var descendant dict
	if list, ok := d.resolve(from["DescendantFonts"]).(array); ok && len(list) > 0 {
		descendant = d.dict(list[0])
	}
	switch e := d.resolve(from["Encoding"]).(type) {
	case name:
		f.codec, f.utf16 = knownCharMap(string(e))
		f.vertical = strings.HasSuffix(string(e), "-V")
	case *stream:
		f.codes = d.readCharMap(e)
		f.vertical = d.resolve(e.dict["WMode"]) == 1
	}
	f.width = 1000
	if w := d.resolve(descendant["DW"]); w != nil {
		f.width = d.number(w)
	}
	list, _ := d.resolve(descendant["W"]).(array)
	for i := 0; i+1 < len(list) && d.b.take(2); {
		first, ok := d.resolve(list[i]).(int)
		if !ok {
			return
		}
		switch next := d.resolve(list[i+1]).(type) {
		case array: // first [w1 w2 …]
			for j, w := range next {
				if len(f.widths) < maxWidths && d.b.take(2) && d.b.hold(sizeMapped) {
					f.widths[first+j] = d.number(w)
				}
			}
			i += 2
		case int: // first last w
			if i+2 >= len(list) {
				return
			}
			w := d.number(list[i+2])
			for c := first; c <= next && len(f.widths) < maxWidths && d.b.take(2) && d.b.hold(sizeMapped); c++ {
				f.widths[c] = w
			}
			i += 3
		default:
			return
		}
	}
}

func (d *Document) readSimple(f *font, from dict) {
	descriptor := d.dict(from["FontDescriptor"])
	base, _ := d.resolve(from["BaseFont"]).(name)
	var differences array
	switch e := d.resolve(from["Encoding"]).(type) {
	case name:
		f.simple = baseEncoding(e)
	case dict:
		if of, ok := d.resolve(e["BaseEncoding"]).(name); ok {
			f.simple = baseEncoding(of)
		} else {
			f.simple = d.builtIn(base, descriptor)
		}
		differences, _ = d.resolve(e["Differences"]).(array)
	default:
		f.simple = d.builtIn(base, descriptor)
	}
	at := 0
	for _, v := range differences {
		if !d.b.take(2) {
			return
		}
		switch v := d.resolve(v).(type) {
		case int:
			at = v
		case name:
			if at >= 0 && at < len(f.simple) {
				f.simple[at] = glyphText(string(v))
			}
			at++
		}
	}
	first, _ := d.resolve(from["FirstChar"]).(int)
	widths, ok := d.resolve(from["Widths"]).(array)
	if !ok {
		return
	}
	f.width = d.number(descriptor["MissingWidth"])
	for i, w := range widths[:min(len(widths), 256)] {
		f.widths[first+i] = d.number(w)
	}
}

// builtIn is the encoding that the font itself has.
func (d *Document) builtIn(base name, descriptor dict) [256]string {
	if s, ok := d.resolve(descriptor["FontFile"]).(*stream); ok {
		return d.programEncoding(s)
	}
	if strings.HasSuffix(string(base), "Symbol") {
		out := [256]string{}
		at := 0x20
		for _, r := range symbolLower {
			out[at] = string(r)
			at++
		}
		return out
	}
	if _, isTrueType := d.resolve(descriptor["FontFile2"]).(*stream); isTrueType {
		return baseEncoding("WinAnsiEncoding")
	}
	return baseEncoding("StandardEncoding")
}

// programEncoding reads "dup 12 /fi put" from the head of a Type 1 font.
func (d *Document) programEncoding(s *stream) [256]string {
	out := baseEncoding("StandardEncoding")
	data, err := d.decode(s)
	if err != nil {
		return out
	}
	if at := bytes.Index(data, []byte("eexec")); at >= 0 {
		data = data[:at]
	}
	_, data, ok := bytes.Cut(data, []byte("/Encoding"))
	if !ok || bytes.HasPrefix(bytes.TrimSpace(data), []byte("StandardEncoding")) {
		return out
	}
	out = [256]string{}
	l := &lexer{data: data, b: &d.b}
	for {
		l.release() // nothing of it is kept
		switch v := l.borrow().(type) {
		case end:
			return out
		case keyword:
			if v == "def" || v == "readonly" {
				return out
			}
			if v != "dup" {
				continue
			}
			at, ok1 := l.borrow().(int)
			glyph, ok2 := l.borrow().(name)
			if ok1 && ok2 && at >= 0 && at < len(out) {
				out[at] = glyphText(string(glyph))
			}
		}
	}
}

// baseEncoding is one of the encodings that have a name.
func baseEncoding(of name) [256]string {
	var out [256]string
	for i := 0x20; i < 0x7f; i++ {
		out[i] = string(rune(i))
	}
	switch of {
	case "WinAnsiEncoding":
		for i := 0x80; i < len(out); i++ {
			out[i] = string(charmap.Windows1252.DecodeByte(byte(i)))
		}
		out[0x7f], out[0x81], out[0xad] = "•", "•", "-"
	case "MacRomanEncoding":
		for i := 0x80; i < len(out); i++ {
			out[i] = string(charmap.Macintosh.DecodeByte(byte(i)))
		}
	default:
		out['\''], out['`'] = "’", "‘"
		i := 0xa1
		for _, r := range standardUpper {
			if r != ' ' {
				out[i] = string(r)
			}
			i++
		}
	}
	return out
}

// glyph is one code of a string: its text, its width in units of the size, and
// whether it is the blank that word spacing widens.
type glyph struct {
	text  string
	width float64
	blank bool
}

// next takes the glyph at the beginning of a string.
func (f *font) next(s chars) (glyph, chars) {
	if !f.composite {
		c := int(s[0])
		g := glyph{text: f.simple[c], blank: c == ' '}
		if text, ok := f.toUnicode.text(uint32(c)); ok {
			g.text = text
		}
		g.width = f.widthOf(c, g.text)
		return g, s[1:]
	}
	if f.codec != nil {
		text, n := firstCode(f.codec, s)
		return glyph{text: text, width: f.widthOf(-1, text), blank: n == 1 && text == " "}, s[n:]
	}
	c, n := f.codes.next(s)
	g := glyph{width: f.widthOf(int(c), ""), blank: n == 1 && c == ' '}
	text, ok := f.toUnicode.text(c)
	switch {
	case ok:
		g.text = text
	case f.utf16:
		if c >= 0xd800 && c < 0xdc00 && len(s) >= 4 {
			n = 4
		}
		g.text = utf16Text(s[:n])
	}
	return g, s[n:]
}

func (m *charMap) text(c uint32) (string, bool) {
	if m == nil {
		return "", false
	}
	text, ok := m.texts[c]
	return text, ok
}

func (f *font) widthOf(code int, text string) float64 {
	if w, ok := f.widths[code]; ok {
		return w * f.scale
	}
	if f.width >= 0 {
		return f.width * f.scale
	}
	return guessWidth(text)
}

// guessWidth is near what the fonts have that every viewer knows, and that files
// therefore say no widths of.
func guessWidth(text string) float64 {
	switch {
	case text == "":
		return 0.5
	case strings.Contains(" .,:;!|'`()[]{}/\\ijltfrI-", text):
		return 0.29
	case strings.Contains("mwMWO@%—", text):
		return 0.83
	case text >= "A" && text <= "Z":
		return 0.69
	}
	return 0.53
}
