// Package jsonc reads the files that people write by hand in JSON with comments and
// trailing commas, and says of each fault where in the file it stands. It never
// decides what a key means and never opens a file.
package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"garuda/internal/core"
	"garuda/internal/nearest"
)

// maxDepth is more than any such file needs; the parser calls itself for each
// level, so a hostile file must not choose the depth.
const maxDepth = 32

// Fault makes a reader's own error of what is wrong at a place. Lines and columns
// count from 1, columns in characters; both are 0 when the place is not known.
type Fault func(line, column int, err error) error

// Document is a file that was parsed.
type Document struct {
	Root  hujson.Value
	text  []byte
	fault Fault
}

// Parse reads a whole file; a byte order mark before it is ignored. Its errors, and
// those of the document, are what fault makes of them.
func Parse(text []byte, fault Fault) (*Document, error) {
	d := &Document{text: bytes.TrimPrefix(text, []byte("\ufeff")), fault: fault}
	if i := invalidUTF8(d.text); i >= 0 {
		return nil, d.errorAt(i, errors.New("the text is not UTF-8"))
	}
	if i := tooDeep(d.text); i >= 0 {
		return nil, d.errorAt(i, fmt.Errorf("nested more than %d levels deep", maxDepth))
	}
	var err error
	if d.Root, err = hujson.Parse(d.text); err != nil {
		return nil, d.syntaxError(err)
	}
	return d, nil
}

// syntaxError finds the place in the parser's "hujson: line 7, column 3: what".
func (d *Document) syntaxError(err error) error {
	var line, column int
	text := err.Error()
	if n, _ := fmt.Sscanf(text, "hujson: line %d, column %d:", &line, &column); n != 2 {
		return d.fault(0, 0, err)
	}
	_, text, _ = strings.Cut(text, fmt.Sprintf("column %d: ", column))
	return d.errorAt(d.offset(line, column), errors.New(text))
}

// offset of a line and a column in bytes, as the parser counts, both from 1.
func (d *Document) offset(line, column int) int {
	start := 0
	for ; line > 1; line-- {
		start += bytes.IndexByte(d.text[start:], '\n') + 1
	}
	return min(start+column-1, len(d.text))
}

// Line is where a value begins, from 1.
func (d *Document) Line(v *hujson.Value) int {
	line, _ := d.position(v.StartOffset)
	return line
}

func (d *Document) position(offset int) (line, column int) {
	before := d.text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

func (d *Document) errorAt(offset int, err error) error {
	line, column := d.position(offset)
	return d.fault(line, column, err)
}

// Errorf says what is wrong with a value.
func (d *Document) Errorf(v *hujson.Value, format string, args ...any) error {
	return d.errorAt(v.StartOffset, fmt.Errorf(format, args...))
}

// Mistyped says that a value is of another kind than the wanted, as in "integer" or
// "one of auto, off".
func (d *Document) Mistyped(v *hujson.Value, want string) error {
	return d.Errorf(v, "%s here, where %s belongs", kindName(v), Article(want))
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

// Member is one name and value of an object; At is the name's place.
type Member struct {
	Name      string
	At, Value *hujson.Value
}

// Members lists an object's members; a name that stands twice is an error,
// because JSON readers disagree on which of the two counts.
func (d *Document) Members(v *hujson.Value) ([]Member, error) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, d.Mistyped(v, "an object")
	}
	seen := map[string]bool{}
	var out []Member
	for i := range object.Members {
		m := &object.Members[i]
		lit, ok := m.Name.Value.(hujson.Literal)
		if !ok {
			return nil, d.Mistyped(&m.Name, "a name")
		}
		name := lit.String()
		if seen[name] {
			return nil, d.Errorf(&m.Name, "key %s stands here a second time", Quote(name))
		}
		seen[name] = true
		out = append(out, Member{name, &m.Name, &m.Value})
	}
	return out, nil
}

// Fields are the names that an object may have, each with what takes its value.
type Fields map[string]func(*hujson.Value) error

// Object reads an object in which only these fields may stand; what names it, as in
// "a policy".
func (d *Document) Object(v *hujson.Value, what string, fields Fields) error {
	members, err := d.Members(v)
	if err != nil {
		return err
	}
	for _, m := range members {
		take, ok := fields[m.Name]
		if !ok {
			return d.unknown(m, what, slices.Sorted(maps.Keys(fields)))
		}
		if err := take(m.Value); err != nil {
			return err
		}
	}
	return nil
}

func (d *Document) unknown(m Member, what string, known []string) error {
	hint := DidYouMean(nearest.Of(m.Name, known))
	if hint == "" {
		hint = "; it may have " + strings.Join(known, ", ")
	}
	return d.Errorf(m.At, "%s has no %s%s", what, Quote(m.Name), hint)
}

// Quote shows a value from a file on one line, cut to a readable length; control
// and invisible characters show as escapes.
func Quote(s string) string {
	return strconv.QuoteToGraphic(core.Cut(s, 80))
}

// Article puts one before words that need it: "an integer", but "one of a, b".
func Article(words string) string {
	for _, whole := range []string{"one of ", "true or ", "false, ", "an ", "\""} {
		if strings.HasPrefix(words, whole) {
			return words
		}
	}
	if strings.ContainsAny(words[:1], "aeiou") {
		return "an " + words
	}
	return "a " + words
}

// DidYouMean is the end of an error that names a near name, and nothing where none is.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(name) + "?"
}
