package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"garuda/internal/nearest"
)

// FileError is a fault in models.json, with its place. Line and Column count
// from 1, columns in characters.
type FileError struct {
	Path         string
	Line, Column int
	Problem      string
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("read models %s: %s", e.Path, e.Problem)
	}
	return fmt.Sprintf("read models %s: line %d, column %d: %s", e.Path, e.Line, e.Column, e.Problem)
}

// document is a parsed file whose values are taken out with their types checked.
type document struct {
	path string
	data []byte
}

// parseDocument reads JSON with comments and trailing commas.
func parseDocument(path string, data []byte) (*document, hujson.Value, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := &document{path: path, data: data}
	v, err := hujson.Parse(data)
	if err == nil {
		return d, v, nil
	}
	// hujson puts "hujson: line 3, column 5: " before what is wrong, with columns in bytes.
	var line, column int
	text := strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &column); n != 2 {
		return nil, v, &FileError{Path: path, Problem: text}
	}
	_, text, _ = strings.Cut(text, ": ")
	offset := column - 1
	for rest := data; line > 1; line-- {
		end := bytes.IndexByte(rest, '\n') + 1
		offset += end
		rest = rest[end:]
	}
	return nil, v, d.errorAt(offset, "%s", text)
}

func (d *document) errorAt(offset int, format string, args ...any) error {
	before := d.data[:min(offset, len(d.data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return &FileError{Path: d.path, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// members calls f for each member of an object, in order. A key may occur once.
func (d *document) members(v hujson.Value, what string, f func(key string, name, v hujson.Value) error) error {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return d.errorAt(v.StartOffset, "%s must be an object", what)
	}
	seen := map[string]bool{}
	for _, m := range obj.Members {
		lit, ok := m.Name.Value.(hujson.Literal)
		if !ok {
			return d.errorAt(m.Name.StartOffset, "a key must be a string")
		}
		key := lit.String()
		if seen[key] {
			return d.errorAt(m.Name.StartOffset, "key %q is given twice", key)
		}
		seen[key] = true
		if err := f(key, m.Name, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// field takes one known key's value.
type field struct {
	key  string
	take func(v hujson.Value) error
}

// object reads an object that may have these keys and no others.
func (d *document) object(v hujson.Value, what string, fields ...field) error {
	return d.members(v, what, func(key string, name, v hujson.Value) error {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key })
		if i >= 0 {
			return fields[i].take(v)
		}
		var known []string
		for _, f := range fields {
			known = append(known, f.key)
		}
		if near := nearest.Of(key, known); near != "" {
			return d.errorAt(name.StartOffset, "unknown key %q in %s; did you mean %q?", key, what, near)
		}
		return d.errorAt(name.StartOffset, "unknown key %q in %s; it may have %s", key, what, strings.Join(known, ", "))
	})
}

func (d *document) text(key string, to *string) field {
	return field{key, func(v hujson.Value) error {
		if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
			*to = lit.String()
			return nil
		}
		return d.errorAt(v.StartOffset, "%s must be a string", key)
	}}
}

// choice is a text that must be one of a few.
func (d *document) choice(key string, to *string, of ...string) field {
	return field{key, func(v hujson.Value) error {
		if err := d.text(key, to).take(v); err != nil {
			return err
		}
		if slices.Contains(of, *to) {
			return nil
		}
		if near := nearest.Of(*to, of); near != "" {
			return d.errorAt(v.StartOffset, "%s must be one of %s, not %q; did you mean %q?", key, strings.Join(of, ", "), *to, near)
		}
		return d.errorAt(v.StartOffset, "%s must be one of %s, not %q", key, strings.Join(of, ", "), *to)
	}}
}

func (d *document) boolean(key string, to *bool) field {
	return field{key, func(v hujson.Value) error {
		if lit, ok := v.Value.(hujson.Literal); ok && (lit.Kind() == 't' || lit.Kind() == 'f') {
			*to = lit.Bool()
			return nil
		}
		return d.errorAt(v.StartOffset, "%s must be true or false", key)
	}}
}

// count is a whole number from 1 to most.
func (d *document) count(key string, to *int, most int) field {
	return field{key, func(v hujson.Value) error {
		var n int
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '0' || json.Unmarshal(lit, &n) != nil || n < 1 || n > most {
			return d.errorAt(v.StartOffset, "%s must be a whole number from 1 to %d", key, most)
		}
		*to = n
		return nil
	}}
}

// dollars is a price that is not negative.
func (d *document) dollars(key string, to **float64) field {
	return field{key, func(v hujson.Value) error {
		var n float64
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '0' || json.Unmarshal(lit, &n) != nil || n < 0 {
			return d.errorAt(v.StartOffset, "%s must be a number of US dollars for a million tokens, 0 or more", key)
		}
		*to = &n
		return nil
	}}
}
