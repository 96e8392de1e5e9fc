package workspace

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// certainCharset tells the legacy charset of bytes that are not UTF-8 where they
// leave no doubt; then every byte has a meaning in it. Else it is UTF8. It knows
// the charsets whose text looks like no other's:
//
//   - Shift-JIS by its kana, whose bytes are in GBK rare characters and in
//     Western text odd marks;
//   - GBK by its most frequent characters, which other charsets of East Asia have
//     elsewhere;
//   - Windows-1252 (and with it Latin-1) by single letters with accents inside
//     words of ASCII letters, all of one language's alphabet.
//
// A wrong guess could not damage a file, as bytes outside an edit stay and every
// character goes back to its own byte. cut says that more bytes follow.
func certainCharset(raw []byte, cut bool) Encoding {
	const tooFew = 3
	high := 0
	for _, b := range raw {
		switch {
		case b >= utf8.RuneSelf:
			high++
		case b < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(b)), b == 0x7f:
			return UTF8
		}
	}
	switch {
	case high < tooFew:
		return UTF8
	case isShiftJIS(raw, cut):
		return ShiftJIS
	case isGBK(raw, cut):
		return GBK
	case isWestern(raw):
		return Windows1252
	}
	return UTF8
}

// pairsOf goes through the characters of more than ASCII. It reports false for
// bytes that encode nothing; cut forgives that at the very end.
func pairsOf(raw []byte, e Encoding, cut bool, visit func(r rune, char []byte)) bool {
	c := e.codec()
	for at := 0; at < len(raw); {
		r, n, ok := c.decode(raw[at:])
		if !ok && !(cut && at == len(raw)-1) {
			return false
		}
		if ok && r >= utf8.RuneSelf {
			visit(r, raw[at:at+n])
		}
		at += n
	}
	return true
}

// isShiftJIS: a quarter of the characters of two bytes, and some of them, are kana.
func isShiftJIS(raw []byte, cut bool) bool {
	const enough = 4
	kana, double := 0, 0
	ok := pairsOf(raw, ShiftJIS, cut, func(r rune, char []byte) {
		if len(char) == 2 {
			double++
			if 'ぁ' <= r && r <= 'ヶ' {
				kana++
			}
		}
	})
	return ok && kana >= enough && kana*4 >= double
}

// frequentChinese are characters that make up a good part of any Chinese text,
// of everyday and of technical language.
const frequentChinese = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运返参函码置错误类型值默认输初始请注释包含文本录库"

// frequentHanzi is the same as a set: each character of a text is looked up.
var frequentHanzi = sync.OnceValue(func() map[rune]bool {
	set := map[rune]bool{}
	for _, r := range frequentChinese {
		set[r] = true
	}
	return set
})

// isGBK: all is in the older part of the charset, which everyday text keeps to,
// without kana, and a third of the characters are frequent ones.
func isGBK(raw []byte, cut bool) bool {
	const enough = 6
	frequent, hanzi, odd := 0, 0, 0
	known := frequentHanzi()
	ok := pairsOf(raw, GBK, cut, func(r rune, char []byte) {
		switch {
		case len(char) == 1, char[1] < 0xA1, char[0] < 0xA1, char[0] > 0xA3 && char[0] < 0xB0, char[0] > 0xF7:
			odd++
		case char[0] >= 0xB0:
			hanzi++
			if known[r] {
				frequent++
			}
		}
	})
	return ok && odd == 0 && hanzi >= enough && frequent*3 >= hanzi
}

const (
	// westernShared are letters that most charsets of Latin letters have at the
	// same byte, so that it does not matter which of them it is.
	westernShared = "äöüßéáíóúçëôâîÄÖÜÉÁÍÓÚÇ"
	// westernMarks stand anywhere.
	westernMarks = "\u00a0§©®°«»¡¿´·€…–—„“”‘’"
)

// westernAlphabets are letters beyond the shared ones, by language: what a file
// has of them must be of one. Those of Central Europe's charsets stand at the
// same bytes and form other sets.
func westernAlphabets() []string {
	return []string{"àèùêûïæÀÈÊ", "àèìòùÀÈÌÒÙ", "ñÑ", "ãõêàÃÕÊÀ", "øåæØÅÆ", "åÅ"}
}

// isWestern: each character beyond ASCII is a letter in a word of ASCII letters,
// or a mark of print, and nothing is also UTF-8.
func isWestern(raw []byte) bool {
	c := Windows1252.codec()
	const enough = 3
	letters := 0
	var special []rune
	for at := 0; at < len(raw); at++ {
		if raw[at] < utf8.RuneSelf {
			continue
		}
		if utf8.FullRune(raw[at:]) {
			if r, _ := utf8.DecodeRune(raw[at:]); r != utf8.RuneError {
				return false
			}
		}
		r, _, _ := c.decode(raw[at:])
		if strings.ContainsRune(westernMarks, r) {
			continue
		}
		switch {
		case inWord(raw, at):
			letters++
		case r != 'à': // a word of its own
			return false
		}
		if !strings.ContainsRune(westernShared, r) && !slices.Contains(special, r) {
			special = append(special, r)
		}
	}
	return letters >= enough && ofOneAlphabet(special)
}

// inWord reports whether a letter with an accent has an ASCII letter beside it,
// one of its own case if it is a capital that does not begin a word.
func inWord(raw []byte, at int) bool {
	word := func(i int) byte {
		if i < 0 || i >= len(raw) {
			return 0
		}
		return raw[i]
	}
	isLetter := func(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
	before, after := word(at-1), word(at+1)
	if capital := raw[at] < 0xDF; capital && 'a' <= before && before <= 'z' {
		return false
	}
	if isLetter(before) || isLetter(after) {
		return true
	}
	// Two such letters may stand together, as in "créée".
	return before >= 0xDF && isLetter(word(at-2)) || after >= 0xDF && isLetter(word(at+2))
}

// ofOneAlphabet reports whether one language has all the letters.
func ofOneAlphabet(letters []rune) bool {
	return slices.ContainsFunc(westernAlphabets(), func(alphabet string) bool {
		return !slices.ContainsFunc(letters, func(r rune) bool { return !strings.ContainsRune(alphabet, r) })
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, beyondASCII) < 0
}

func beyondASCII(r rune) bool { return r >= utf8.RuneSelf }

// charsetOf tells how bytes without a byte order mark are read. valid says that
// they are UTF-8; declared is the legacy charset that .editorconfig gives, UTF8
// when it gives none. What is UTF-8 beyond doubt is read so whatever was
// declared, as no text of a charset of single bytes looks like it by chance.
func charsetOf(raw []byte, valid bool, declared Encoding) Encoding {
	switch {
	case valid && !declared.legacy():
		return UTF8
	case valid && bytes.IndexFunc(raw, beyondASCII) >= 0 && (declared.singleByte() || !fits(raw, declared)):
		return UTF8
	case declared.legacy():
		return declared
	}
	return certainCharset(raw, false)
}

// fits reports whether all bytes have a meaning in the charset.
func fits(raw []byte, e Encoding) bool {
	return pairsOf(raw, e, false, func(rune, []byte) {})
}
