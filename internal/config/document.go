package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// document is one settings file that is being read.
type document struct {
	text   []byte
	source Source
	root   hujson.Value
}

// maxDepth is more than any settings file needs; the parser calls itself for each
// level, so a hostile file must not choose the depth.
const maxDepth = 32

// parse reads JSON with comments and trailing commas.
func parse(text []byte, from Source) (*document, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	d := &document{text: text, source: from}
	if i := invalidUTF8(text); i >= 0 {
		return nil, d.errorAt(i, errors.New("the text is not UTF-8"))
	}
	if i := tooDeep(text); i >= 0 {
		return nil, d.errorAt(i, fmt.Errorf("nested more than %d levels deep", maxDepth))
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, d.syntaxError(err)
	}
	d.root = root
	return d, nil
}

// syntaxError turns the parser's "hujson: line 7, column 3: what" into an Error.
func (d *document) syntaxError(err error) error {
	out := &Error{Source: d.source, Message: err.Error(), Err: err}
	var line, column int
	if n, _ := fmt.Sscanf(out.Message, "hujson: line %d, column %d:", &line, &column); n == 2 {
		_, out.Message, _ = strings.Cut(out.Message, fmt.Sprintf("column %d: ", column))
		// The parser counts bytes.
		out.Line, out.Column = d.position(d.offset(line, column))
	}
	return out
}

// offset of a line and a column in bytes, both from 1.
func (d *document) offset(line, column int) int {
	start := 0
	for ; line > 1; line-- {
		start += bytes.IndexByte(d.text[start:], '\n') + 1
	}
	return min(start+column-1, len(d.text))
}

// position counts lines, and characters in the line, from 1.
func (d *document) position(offset int) (line, column int) {
	before := d.text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

func (d *document) errorAt(offset int, err error) error {
	line, column := d.position(offset)
	return &Error{Source: d.source, Line: line, Column: column, Message: err.Error(), Err: err}
}

func (d *document) errorf(v *hujson.Value, format string, args ...any) error {
	return d.errorAt(v.StartOffset, fmt.Errorf(format, args...))
}

func (d *document) mistyped(v *hujson.Value, want string) error {
	return d.errorf(v, "%s here, where %s belongs", kindName(v), article(want))
}

func kindName(v *hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "true or false"
}

// member is one name and value of an object.
type member struct {
	name      string
	at, value *hujson.Value
}

// members lists an object's members; a name that stands twice is an error,
// because JSON readers disagree on which of the two counts.
func (d *document) members(v *hujson.Value) ([]member, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, d.mistyped(v, "an object")
	}
	seen := map[string]bool{}
	var out []member
	for i := range object.Members {
		m := &object.Members[i]
		lit, ok := m.Name.Value.(hujson.Literal)
		if !ok {
			return nil, d.mistyped(&m.Name, "a name")
		}
		name := lit.String()
		if seen[name] {
			return nil, d.errorf(&m.Name, "key %s stands here a second time", quote(name))
		}
		seen[name] = true
		out = append(out, member{name, &m.Name, &m.Value})
	}
	return out, nil
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// tooDeep returns the offset of the bracket that nests too deeply, or -1. It skips
// strings and comments as the parser does; on text that does not parse it may
// count wrongly, which is harmless: the text is refused either way.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(text, i)
		}
	}
	return -1
}

// skipComment returns the offset of the last byte of the comment at i, or i.
func skipComment(text []byte, i int) int {
	var end string
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(text[i+2:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return i + 2 + n + len(end) - 1
}
