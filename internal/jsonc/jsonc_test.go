package jsonc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// fault is an error as these tests read it.
type fault struct {
	Line, Column int
	What         string
}

func (f fault) Error() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.What) }

func at(line, column int, err error) error { return fault{line, column, err.Error()} }

// readNumbers reads an object of "one" and "two", and returns their texts.
func readNumbers(text string) (map[string]string, error) {
	d, err := Parse([]byte(text), at)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	keep := func(name string) func(*hujson.Value) error {
		return func(v *hujson.Value) error {
			if v.Value.Kind() != '0' {
				return d.Mistyped(v, "integer")
			}
			out[name] = fmt.Sprintf("%s in line %d", v.Value.(hujson.Literal), d.Line(v))
			return nil
		}
	}
	err = d.Object(&d.Root, "a sum", Fields{"one": keep("one"), "two": keep("two")})
	return out, err
}

func TestObject(t *testing.T) {
	got, err := readNumbers("\ufeff// a sum\n{\"one\": 1, /* and */\n\"two\": 2,}")
	if diff := cmp.Diff(map[string]string{"one": "1 in line 2", "two": "2 in line 3"}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for text, want := range map[string]fault{
		`{"one": "1"}`:                 {1, 9, "a string here, where an integer belongs"},
		`{"one": null}`:                {1, 9, "null here, where an integer belongs"},
		"{\n/* größer */ \"on\": 1}":   {2, 14, `a sum has no "on"; did you mean "one"?`},
		`{"many": 1}`:                  {1, 2, `a sum has no "many"; it may have one, two`},
		`{"one": 1, "one": 2}`:         {1, 12, `key "one" stands here a second time`},
		`[]`:                           {1, 1, "a list here, where an object belongs"},
		``:                             {1, 1, "parsing value: unexpected EOF"},
		"{\n\"one\": \"é\" x}":         {2, 12, "invalid character 'x' after object value (expecting ',' or '}')"},
		"{\"\xff\": 1}":                {1, 3, "the text is not UTF-8"},
		strings.Repeat("[", 9999):      {1, 33, "nested more than 32 levels deep"},
		`"[[" // ` + "[[[[[[[\n" + `]`: {2, 1, "invalid character ']' after top-level value"},
	} {
		_, err := readNumbers(text)
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("%.40q: %s", text, diff)
		}
	}
}

// Whatever the text, a fault lies within it, and what parses is read without one.
func FuzzParse(f *testing.F) {
	f.Add("{\"one\": [1, 2,], // x\n}")
	f.Add("/* \xff")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 1 + strings.Count(text, "\n")
		_, err := readNumbers(text)
		var f fault
		if ok := errors.As(err, &f); err != nil && (!ok || f.Line < 1 || f.Line > lines || f.Column < 1 || f.Column > len(text)+1) {
			t.Fatalf("%v is not in a text of %d lines and %d bytes", err, lines, len(text))
		}
	})
}
