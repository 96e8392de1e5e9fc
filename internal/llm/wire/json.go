package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"garuda/internal/llm"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Its bytes are those that encoding/json
// writes with HTML escaping off, but that what is no UTF-8 becomes U+FFFD itself, not
// an escape for it: that is what a journal gives back, and a request must be the same
// after a resume.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
		default:
			i += size
			continue
		}
		i += size
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// AppendField appends ,"key":"value". The key needs no escaping.
func AppendField(dst []byte, key, value string) []byte {
	return AppendString(AppendKey(dst, key), value)
}

// AppendInt appends ,"key":value.
func AppendInt(dst []byte, key string, value int) []byte {
	return strconv.AppendInt(AppendKey(dst, key), int64(value), 10)
}

// AppendKey appends ,"key": and leaves the comma out after an opening bracket.
func AppendKey(dst []byte, key string) []byte {
	return append(append(append(AppendComma(dst), '"'), key...), '"', ':')
}

// AppendComma appends a comma unless dst ends in an opening bracket.
func AppendComma(dst []byte) []byte {
	if n := len(dst); n == 0 || dst[n-1] == '{' || dst[n-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// AppendDataURL appends data as a JSON string that holds a data: URL.
func AppendDataURL(dst []byte, mediaType string, data []byte) []byte {
	dst = AppendString(dst, "data:"+mediaType+";base64,")
	return append(base64.StdEncoding.AppendEncode(dst[:len(dst)-1], data), '"')
}

// AppendBase64 appends data as a JSON string in base64.
func AppendBase64(dst []byte, data []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), data), '"')
}

// AppendSchema appends a tool's schema as it was given; a tool without one takes
// no arguments.
func AppendSchema(dst []byte, tool llm.ToolSpec) ([]byte, error) {
	if len(tool.Schema) == 0 {
		return append(dst, `{"type":"object","properties":{}}`...), nil
	}
	if !IsObject(string(tool.Schema)) {
		return nil, fmt.Errorf("tool %s: its schema is not a JSON object", tool.Name)
	}
	return append(dst, tool.Schema...), nil
}

// IsObject reports whether s is one JSON object.
func IsObject(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") && json.Valid([]byte(s))
}

// Arguments is what goes upstream for a call's input: the model's own bytes when
// they are a JSON object, else "{}". A provider refuses a whole conversation for
// one broken call; what the model really wrote stays in the journal, and the
// call's result tells the model. Bytes that no provider reads (invalid UTF-8,
// half a surrogate pair) are replaced by U+FFFD.
func Arguments(input string) string {
	if !IsObject(input) {
		return "{}"
	}
	return mendSurrogates(strings.ToValidUTF8(input, "\ufffd"))
}

// Raw is a provider's own JSON as it goes back: unchanged, or empty when it is
// not an object and so cannot be sent.
func Raw(opaque string) string {
	if !IsObject(opaque) || !utf8.ValidString(opaque) {
		return ""
	}
	return opaque
}

// mendSurrogates replaces \u escapes that are half of a surrogate pair.
func mendSurrogates(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	out := []byte(s)
	for i := 0; i+1 < len(out); {
		if out[i] != '\\' {
			i++
			continue
		}
		switch u := escapeAt(out, i); {
		case u >= 0xD800 && u < 0xDC00:
			if low := escapeAt(out, i+6); low >= 0xDC00 && low < 0xE000 {
				i += 12
				continue
			}
			copy(out[i+2:], "fffd")
			i += 6
		case u >= 0xDC00 && u < 0xE000:
			copy(out[i+2:], "fffd")
			i += 6
		default:
			i += 2
		}
	}
	return string(out)
}

// escapeAt is the value of the \uXXXX at i, or -1.
func escapeAt(b []byte, i int) int {
	if i+6 > len(b) || b[i] != '\\' || b[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// Name makes a tool name that every provider accepts: letters, digits, '_' and
// '-', at most 64. A model may invent names that its own provider then refuses
// to read back.
func Name(s string) string {
	if s == "" {
		return "unknown"
	}
	if len(s) <= 64 && strings.IndexFunc(s, notNameRune) < 0 {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if notNameRune(r) {
			return '_'
		}
		return r
	}, s)
	return s[:min(len(s), 64)]
}

// CallID makes an id that every provider accepts. Ids that come from another
// provider, or from a server with ideas of its own, are replaced by a hash of
// themselves, so a call and its result keep fitting together.
func CallID(s string) string {
	if s != "" && len(s) <= 40 && strings.IndexFunc(s, notNameRune) < 0 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return "call_" + hex.EncodeToString(sum[:12])
}

func notNameRune(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
}
