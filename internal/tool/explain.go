package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"garuda/internal/core"
)

// explain says in plain words why an input does not fit its schema: what came,
// and what may come instead. It knows the keywords that tools use and judges
// nothing: the validator has refused the input already. "" where the reason lies
// in a keyword that it does not know.
func explain(s *jsonschema.Schema, value any, place string) string {
	if want := wantedType(s); want != "" && !isType(s, value) {
		if _, number := value.(json.Number); number && s.Type == "string" && len(s.Enum) == 0 {
			want += ": " + strconv.Quote(fmt.Sprint(value))
		}
		return fmt.Sprintf("%s is %s, want %s", place, shown(value), want)
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(v any) bool { return shown(v) == shown(value) }) {
		return fmt.Sprintf("%s is %s, want %s", place, shown(value), oneOf(s.Enum))
	}
	switch v := value.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && (s.Minimum != nil && f < *s.Minimum || s.Maximum != nil && f > *s.Maximum) {
			return fmt.Sprintf("%s is %s, want %s", place, v, wantedType(s))
		}
	case string:
		return explainText(s, v, place)
	case []any:
		return explainList(s, v, place)
	case map[string]any:
		return explainObject(s, v, place)
	}
	return ""
}

func explainText(s *jsonschema.Schema, v, place string) string {
	n := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && n < *s.MinLength:
		if n == 0 {
			return place + " is empty; fill it, or leave the call out"
		}
		return fmt.Sprintf("%s has %d characters, want at least %d", place, n, *s.MinLength)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("%s has %d characters, want at most %d", place, n, *s.MaxLength)
	}
	return ""
}

func explainList(s *jsonschema.Schema, list []any, place string) string {
	n := len(list)
	switch {
	case s.MinItems != nil && n < *s.MinItems:
		if n == 0 {
			return place + " is an empty list; put at least one into it"
		}
		return fmt.Sprintf("%s has %s, want at least %d", place, entryCount(n), *s.MinItems)
	case s.MaxItems != nil && n > *s.MaxItems:
		return fmt.Sprintf("%s has %s, want at most %d", place, entryCount(n), *s.MaxItems)
	case s.Items == nil:
		return ""
	}
	for i, v := range list {
		if why := explain(s.Items, v, fmt.Sprintf("%s[%d]", place, i)); why != "" {
			return why
		}
	}
	return ""
}

// explainObject says first what is missing: one call can then put all of it right.
func explainObject(s *jsonschema.Schema, fields map[string]any, place string) string {
	var missing []string
	for _, name := range s.Required {
		if _, ok := fields[name]; !ok {
			missing = append(missing, within(place, name))
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		return missing[0] + " is missing" + example(s)
	default:
		return strings.Join(missing[:len(missing)-1], ", ") + " and " + missing[len(missing)-1] + " are missing" + example(s)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if p := s.Properties[name]; p != nil {
			if why := explain(p, fields[name], within(place, name)); why != "" {
				return why
			}
		}
	}
	return ""
}

// within is the place of a field; the input itself has no name.
func within(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

// example names the fields of an object, those that it must have first.
func example(s *jsonschema.Schema) string {
	optional := slices.Sorted(maps.Keys(s.Properties))
	optional = slices.DeleteFunc(optional, func(name string) bool { return slices.Contains(s.Required, name) })
	text := "; give " + strings.Join(s.Required, ", ")
	if len(optional) > 0 {
		text += ", and if you like " + strings.Join(optional, ", ")
	}
	return text
}

// wantedType says what a value may be; "" where the schema says nothing of it.
func wantedType(s *jsonschema.Schema) string {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	words := make([]string, 0, len(types))
	for _, typ := range types {
		switch typ {
		case "string":
			words = append(words, "text")
			if len(s.Enum) > 0 {
				words[len(words)-1] = oneOf(s.Enum)
			}
		case "integer":
			words = append(words, "a whole number"+span(s))
		case "number":
			words = append(words, "a number"+span(s))
		case "boolean":
			words = append(words, "true or false")
		case "array":
			words = append(words, "a list"+entries(s))
		case "object":
			words = append(words, "an object"+withFields(s))
		default:
			words = append(words, typ)
		}
	}
	return strings.Join(words, " or ")
}

// span is the range of a number.
func span(s *jsonschema.Schema) string {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return " from " + number(s.Minimum) + " to " + number(s.Maximum)
	case s.Minimum != nil:
		return " of at least " + number(s.Minimum)
	case s.Maximum != nil:
		return " of at most " + number(s.Maximum)
	}
	return ""
}

func entries(s *jsonschema.Schema) string {
	if s.Items == nil {
		return ""
	}
	switch s.Items.Type {
	case "string":
		return " of texts"
	case "integer", "number":
		return " of numbers"
	case "object":
		return " of objects" + withFields(s.Items)
	}
	return ""
}

func withFields(s *jsonschema.Schema) string {
	if len(s.Properties) == 0 {
		return ""
	}
	return " with " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}

func isType(s *jsonschema.Schema, value any) bool {
	is := func(typ string) bool {
		switch v := value.(type) {
		case string:
			return typ == "string"
		case bool:
			return typ == "boolean"
		case json.Number:
			f, err := v.Float64()
			return typ == "number" || typ == "integer" && err == nil && f == math.Trunc(f)
		case []any:
			return typ == "array"
		case map[string]any:
			return typ == "object"
		}
		return typ == "null"
	}
	return is(s.Type) || slices.ContainsFunc(s.Types, is)
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = strings.Trim(shown(v), `"`)
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// maxShown is how many characters of a value a refusal repeats.
const maxShown = 60

// shown is a value as it came, cut where it is long.
func shown(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(value) != nil {
		return fmt.Sprintf("%v", value)
	}
	return core.Cut(strings.TrimSpace(b.String()), maxShown)
}

func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return strconv.Itoa(n) + " entries"
}
