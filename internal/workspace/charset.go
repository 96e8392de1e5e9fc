package workspace

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is the charset of a text file.
type Encoding uint8

const (
	UTF8 Encoding = iota
	UTF16LE
	UTF16BE
	Latin1
	Latin9
	Windows1250
	Windows1251
	Windows1252
	KOI8R
	ShiftJIS
	GBK
)

// String is the charset's usual name.
func (e Encoding) String() string {
	switch e {
	case UTF8:
	case UTF16LE:
		return "UTF-16 LE"
	case UTF16BE:
		return "UTF-16 BE"
	default:
		return legacyOf(e).name
	}
	return "UTF-8"
}

// legacy reports whether it is one of the charsets from before Unicode.
func (e Encoding) legacy() bool { return e > UTF16BE }

// singleByte reports whether every byte is one character.
func (e Encoding) singleByte() bool { return e.legacy() && e < ShiftJIS }

// codec turns bytes into characters and back, one at a time.
type codec interface {
	// decode reads the first character; the bytes are not empty. Where they
	// encode nothing it returns U+FFFD, how many bytes to skip, and false.
	decode(b []byte) (r rune, size int, ok bool)
	// encode appends a character, or returns false when the charset lacks it.
	encode(dst []byte, r rune) ([]byte, bool)
}

func (e Encoding) codec() codec {
	switch e {
	case UTF16LE:
		return utf16Codec{binary.LittleEndian}
	case UTF16BE:
		return utf16Codec{binary.BigEndian}
	case UTF8:
		return utf8Codec{}
	}
	return legacyOf(e).codec()
}

const byteOrderMark = '\ufeff'

// MarkOf tells the charset from the byte order mark at the beginning, and how many
// bytes that has; without one it is UTF-8 and 0. What
// begins like UTF-32 is not taken for UTF-16.
func MarkOf(raw []byte) (Encoding, int) {
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return UTF8, 3
	case bytes.HasPrefix(raw, []byte("\xff\xfe")) && !bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")):
		return UTF16LE, 2
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return UTF16BE, 2
	}
	return UTF8, 0
}

type utf8Codec struct{}

func (utf8Codec) decode(b []byte) (rune, int, bool) {
	r, n := utf8.DecodeRune(b)
	return r, n, r != utf8.RuneError || n > 1
}

func (utf8Codec) encode(dst []byte, r rune) ([]byte, bool) { return utf8.AppendRune(dst, r), true }

type utf16Codec struct {
	order interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}
}

func (c utf16Codec) decode(b []byte) (rune, int, bool) {
	if len(b) < 2 {
		return utf8.RuneError, len(b), false
	}
	r := rune(c.order.Uint16(b))
	if !utf16.IsSurrogate(r) {
		return r, 2, true
	}
	if len(b) >= 4 {
		if pair := utf16.DecodeRune(r, rune(c.order.Uint16(b[2:]))); pair != utf8.RuneError {
			return pair, 4, true
		}
	}
	return utf8.RuneError, 2, false
}

func (c utf16Codec) encode(dst []byte, r rune) ([]byte, bool) {
	if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
		dst = c.order.AppendUint16(dst, uint16(hi))
		return c.order.AppendUint16(dst, uint16(lo)), true
	}
	return c.order.AppendUint16(dst, uint16(r)), true
}
