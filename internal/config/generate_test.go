package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// validValue draws JSON that a schema of the table accepts.
func validValue(t *rapid.T, s *jsonschema.Schema) any {
	switch {
	case s.AnyOf != nil:
		return validValue(t, s.AnyOf[rapid.IntRange(0, len(s.AnyOf)-1).Draw(t, "form")])
	case s.Const != nil:
		return *s.Const
	case s.Enum != nil:
		return rapid.SampledFrom(s.Enum).Draw(t, "word")
	}
	switch s.Type {
	case "boolean":
		return rapid.Bool().Draw(t, "bool")
	case "integer":
		return rapid.IntRange(int(*s.Minimum), min(int(*s.Maximum), int(*s.Minimum)+100_000_000)).Draw(t, "integer")
	case "number":
		most := 1e6
		if s.Maximum != nil {
			most = *s.Maximum
		}
		return rapid.Float64Range(*s.Minimum, most).Draw(t, "number")
	case "string":
		return rapid.StringMatching(s.Pattern).Filter(func(v string) bool {
			return s.MaxLength == nil || len([]rune(v)) <= *s.MaxLength
		}).Draw(t, "string")
	case "array":
		least := 0
		if s.MinItems != nil {
			least = *s.MinItems
		}
		out := []any{}
		for range rapid.IntRange(least, 3).Draw(t, "length") {
			out = append(out, validValue(t, s.Items))
		}
		return out
	case "object":
		return validObject(t, s)
	}
	panic(fmt.Sprintf("the generator does not know the schema %+v", s))
}

func validObject(t *rapid.T, s *jsonschema.Schema) any {
	out := map[string]any{}
	for _, name := range s.PropertyOrder {
		required := false
		for _, r := range s.Required {
			required = required || r == name
		}
		if required || rapid.Bool().Draw(t, "has "+name) {
			out[name] = validValue(t, s.Properties[name])
		}
	}
	if s.AdditionalProperties.Not == nil {
		pattern := "^[a-z/]+$"
		if s.PropertyNames != nil {
			pattern = s.PropertyNames.Pattern
		}
		for range rapid.IntRange(0, 2).Draw(t, "names") {
			out[rapid.StringMatching(pattern).Draw(t, "name")] = validValue(t, s.AdditionalProperties)
		}
	}
	return out
}

// validFile draws a settings file: each key with the odds of one in n.
func validFile(t *rapid.T, n int) map[string]any {
	file := map[string]any{}
	for _, k := range table() {
		if rapid.IntRange(1, n).Draw(t, "has "+k.Name) == 1 {
			put(file, k.Name, validValue(t, k.schema))
		}
	}
	return file
}

// put sets a dotted name in nested objects.
func put(file map[string]any, name string, v any) {
	parts := strings.Split(name, ".")
	for _, p := range parts[:len(parts)-1] {
		inner, ok := file[p].(map[string]any)
		if !ok {
			inner = map[string]any{}
			file[p] = inner
		}
		file = inner
	}
	file[parts[len(parts)-1]] = v
}

func encode(file any) string {
	b, err := json.Marshal(file)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// dump is every value of the settings as text; comparing two dumps is quick.
func dump(s *Settings) string {
	var b strings.Builder
	for _, k := range table() {
		fmt.Fprintln(&b, k.Name, marshal(k.show(s)))
	}
	return b.String()
}
