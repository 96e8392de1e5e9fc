package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
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

// document is a models.json whose values are taken out with their types checked.
type document struct{ *jsonc.Document }

// parseDocument reads JSON with comments and trailing commas; what is wrong with it
// is a *FileError.
func parseDocument(path string, data []byte) (document, error) {
	d, err := jsonc.Parse(data, func(line, column int, err error) error {
		return &FileError{Path: path, Line: line, Column: column, Problem: err.Error()}
	})
	return document{d}, err
}

// named reads an object whose names are free: each calls f, in order.
func (d document) named(v *hujson.Value, f func(name string, at, v *hujson.Value) error) error {
	members, err := d.Members(v)
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := f(m.Name, m.At, m.Value); err != nil {
			return err
		}
	}
	return nil
}

// take is what reads one value.
type take = func(*hujson.Value) error

func (d document) text(to *string) take {
	return func(v *hujson.Value) error {
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '"' {
			return d.Mistyped(v, "string")
		}
		*to = lit.String()
		return nil
	}
}

// choice is a text that must be one of a few.
func (d document) choice(to *string, of ...string) take {
	return func(v *hujson.Value) error {
		if err := d.text(to)(v); err != nil {
			return err
		}
		if !slices.Contains(of, *to) {
			return d.Errorf(v, "%s is not one of %s%s", jsonc.Quote(*to), strings.Join(of, ", "), jsonc.DidYouMean(nearest.Of(*to, of)))
		}
		return nil
	}
}

func (d document) boolean(to *bool) take {
	return func(v *hujson.Value) error {
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != 't' && lit.Kind() != 'f' {
			return d.Mistyped(v, "true or false")
		}
		*to = lit.Bool()
		return nil
	}
}

// count is a whole number from 1 to most.
func (d document) count(to *int, most int) take {
	return func(v *hujson.Value) error {
		var n int
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '0' || json.Unmarshal(lit, &n) != nil || n < 1 || n > most {
			return d.Errorf(v, "a whole number from 1 to %d belongs here", most)
		}
		*to = n
		return nil
	}
}

// dollars is a price that is not negative.
func (d document) dollars(to **float64) take {
	return func(v *hujson.Value) error {
		var n float64
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '0' || json.Unmarshal(lit, &n) != nil || n < 0 {
			return d.Errorf(v, "a number of US dollars for a million tokens, 0 or more, belongs here")
		}
		*to = &n
		return nil
	}
}
