package config

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
	"garuda/internal/nearest"
)

// codec reads one kind of value, from a file and where that makes sense from a flag.
type codec[T any] struct {
	// words says what is accepted: "integer", "one of auto, os, host".
	words  string
	many   string
	schema *jsonschema.Schema
	decode func(*document, *hujson.Value) (T, error)
	parse  func(string) (T, error)
	show   func(T) any
	// zeroIsValue is true where false, 0 or "" is a value like any other, and not
	// the absence of one.
	zeroIsValue bool
}

func (c codec[T]) plural() string {
	if c.many != "" {
		return c.many
	}
	return c.words + "s"
}

// fromText makes a codec of a kind that JSON writes as a string.
func fromText[T any](words, many string, schema *jsonschema.Schema, parse func(string) (T, error), show func(T) any) codec[T] {
	c := codec[T]{words: words, many: many, schema: schema, parse: parse, show: show}
	c.decode = func(at *document, v *hujson.Value) (T, error) {
		var none T
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '"' {
			return none, at.Mistyped(v, c.words)
		}
		got, err := parse(lit.String())
		if err != nil {
			return none, at.Errorf(v, "%w", err)
		}
		return got, nil
	}
	return c
}

func asIs[T any](v T) any { return v }

// maxText is how many bytes a string in the settings may have.
const maxText = 4096

// text is any string that a person can read: not empty, no control characters.
func text(words, many string) codec[string] {
	return matching(words, many, `^[^\x00-\x1f\x7f]+$`)
}

// matching is a string of a form.
func matching(words, many, pattern string) codec[string] {
	limit := maxText
	schema := &jsonschema.Schema{Type: "string", Pattern: pattern, MaxLength: &limit}
	return fromText(words, many, schema, func(s string) (string, error) {
		ok, err := regexp.MatchString(pattern, s)
		if err != nil {
			return "", fmt.Errorf("pattern of the settings table: %w", err)
		}
		if !ok || len([]rune(s)) > limit {
			return "", fmt.Errorf("%s is not %s", jsonc.Quote(s), jsonc.Article(words))
		}
		return s, nil
	}, asIs[string])
}

// choice is one of a few words.
func choice(words ...string) codec[string] {
	schema := &jsonschema.Schema{Type: "string"}
	for _, w := range words {
		schema.Enum = append(schema.Enum, w)
	}
	described := "one of " + strings.Join(words, ", ")
	if len(words) == 1 {
		described = words[0]
	}
	return fromText(described, "words: "+strings.Join(words, ", "), schema, func(s string) (string, error) {
		if slices.Contains(words, s) {
			return s, nil
		}
		return "", fmt.Errorf("%s is not %s%s", jsonc.Quote(s), described, jsonc.DidYouMean(nearest.Of(s, words)))
	}, asIs[string])
}

func boolean() codec[bool] {
	c := codec[bool]{words: "true or false", schema: &jsonschema.Schema{Type: "boolean"}, show: asIs[bool], zeroIsValue: true}
	c.decode = func(at *document, v *hujson.Value) (bool, error) {
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != 't' && lit.Kind() != 'f' {
			return false, at.Mistyped(v, c.words)
		}
		return lit.Bool(), nil
	}
	c.parse = func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, fmt.Errorf("%s is not true or false", jsonc.Quote(s))
		}
		return s == "true", nil
	}
	return c
}

// integer is a whole number from low to high.
func integer(low, high int) codec[int] {
	number := number(float64(low), float64(high))
	c := codec[int]{words: "integer", show: asIs[int], schema: number.schema}
	c.schema.Type = "integer"
	whole := func(f float64) (int, error) {
		if f != math.Trunc(f) {
			return 0, fmt.Errorf("%v is not an integer", f)
		}
		return int(f), nil
	}
	c.decode = func(at *document, v *hujson.Value) (int, error) {
		if v.Value.Kind() != '0' {
			return 0, at.Mistyped(v, c.words)
		}
		f, err := number.decode(at, v)
		if err != nil {
			return 0, err
		}
		n, err := whole(f)
		if err != nil {
			return 0, at.Errorf(v, "%w", err)
		}
		return n, nil
	}
	c.parse = func(s string) (int, error) {
		f, err := number.parse(s)
		if err != nil {
			return 0, err
		}
		return whole(f)
	}
	return c
}

// number is a number from low to high; an infinite high is no bound.
func number(low, high float64) codec[float64] {
	c := codec[float64]{words: "number", show: asIs[float64], schema: &jsonschema.Schema{Type: "number", Minimum: &low}}
	if !math.IsInf(high, 1) {
		c.schema.Maximum = &high
	}
	c.parse = func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil || math.IsNaN(f):
			return 0, fmt.Errorf("%s is not a number", jsonc.Quote(s))
		case f < low:
			return 0, fmt.Errorf("%s is below %s, the least", s, plain(low))
		case f > high:
			return 0, fmt.Errorf("%s is above %s, the most", s, plain(high))
		}
		return f, nil
	}
	c.decode = func(at *document, v *hujson.Value) (float64, error) {
		lit, ok := v.Value.(hujson.Literal)
		if !ok || lit.Kind() != '0' {
			return 0, at.Mistyped(v, c.words)
		}
		f, err := c.parse(string(lit))
		if err != nil {
			return 0, at.Errorf(v, "%w", err)
		}
		return f, nil
	}
	return c
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// optional is a value that may also be unset, where its zero means something.
func optional[T any](c codec[T]) codec[*T] {
	return codec[*T]{
		words: c.words, schema: c.schema,
		decode: func(at *document, v *hujson.Value) (*T, error) {
			got, err := c.decode(at, v)
			return &got, err
		},
		parse: func(s string) (*T, error) {
			got, err := c.parse(s)
			return &got, err
		},
		show: func(v *T) any {
			if v == nil {
				return nil
			}
			return c.show(*v)
		},
	}
}

// flagWord is a switch that is written as one word, and can only be on.
func flagWord(word string) codec[bool] {
	w := choice(word)
	return fromText(strconv.Quote(word), "", w.schema, func(s string) (bool, error) {
		_, err := w.parse(s)
		return err == nil, err
	}, func(on bool) any {
		if on {
			return word
		}
		return nil
	})
}

func decodeList[T any](at *document, v *hujson.Value, c codec[T]) ([]T, error) {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, at.Mistyped(v, "list of "+c.plural())
	}
	var out []T
	for i := range array.Elements {
		got, err := c.decode(at, &array.Elements[i])
		if err != nil {
			return nil, err
		}
		out = append(out, got)
	}
	return out, nil
}

func decodeNamed[T any](at *document, v *hujson.Value, c codec[T], nameWords, namePattern string) (map[string]T, error) {
	members, err := at.Members(v)
	if err != nil {
		return nil, err
	}
	out := map[string]T{}
	for _, m := range members {
		if ok, err := regexp.MatchString(namePattern, m.Name); err != nil || !ok {
			return nil, at.Errorf(m.At, "%s is not %s", jsonc.Quote(m.Name), jsonc.Article(nameWords))
		}
		if out[m.Name], err = c.decode(at, m.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}
