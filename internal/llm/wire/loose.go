package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
)

// Decode reads an event, or a document, as json.Unmarshal does; where it is no JSON
// only because of numbers that are none, as Python writes them (NaN, Infinity),
// those are read as strings.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax {
		if mended := quoteNaN(data); mended != nil {
			return json.Unmarshal(mended, v)
		}
	}
	return err
}

// quoteNaN puts quotes around the numbers that are none; nil where there are none.
func quoteNaN(data []byte) []byte {
	var out []byte
	from, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted || c != 'N' && c != 'I' && c != '-':
		default:
			if n := notANumber(data[i:]); n > 0 {
				out = append(append(append(append(out, data[from:i]...), '"'), data[i:i+n]...), '"')
				from = i + n
				i = from - 1
			}
		}
	}
	if out == nil {
		return nil
	}
	return append(out, data[from:]...)
}

// notANumber is the length of the word with which b begins.
func notANumber(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "-NaN"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// Word is a short text for which an answer is not thrown away, such as its id or
// the model's name: a string, or a number where a server sends that; empty for
// every other value.
type Word string

// UnmarshalJSON takes any JSON value.
func (w *Word) UnmarshalJSON(b []byte) error {
	var s string
	switch {
	case json.Unmarshal(b, &s) == nil: // null, too
	case len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9'):
		s = string(b)
	}
	*w = Word(s)
	return nil
}

// Index is the place of something in a list: a number, or a string that holds one.
// It is 0 for null, and -1 for what is no place.
type Index int

// UnmarshalJSON takes any JSON value.
func (i *Index) UnmarshalJSON(b []byte) error {
	n, ok := number(b, math.MaxInt32+1)
	if !ok || n != math.Trunc(n) || n > math.MaxInt32 {
		n = -1
	}
	*i = Index(n)
	return nil
}
