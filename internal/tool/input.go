package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"garuda/internal/nearest"
)

// inputSchema checks a call's arguments: lenient where it costs nothing, strict
// where it matters.
type inputSchema struct {
	spec       *Spec
	properties map[string]property
	resolved   func() (*jsonschema.Resolved, error)
}

// property is the part of a field's schema that leniency needs.
type property struct {
	Type string   `json:"type"`
	Enum []string `json:"-"`
}

func newInputSchema(spec *Spec) (*inputSchema, error) {
	var top struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(spec.Schema, &top); err != nil {
		return nil, fmt.Errorf("read its schema: %w", err)
	}
	if top.Type != "object" {
		return nil, fmt.Errorf("its schema is of type %q, want object", top.Type)
	}
	in := &inputSchema{spec: spec, properties: make(map[string]property, len(top.Properties))}
	for name, raw := range top.Properties {
		in.properties[name] = parseProperty(raw)
	}
	in.resolved = sync.OnceValues(func() (*jsonschema.Resolved, error) {
		var s jsonschema.Schema
		if err := json.Unmarshal(spec.Schema, &s); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", spec.Name, err)
		}
		return s.Resolve(nil)
	})
	return in, nil
}

func parseProperty(raw json.RawMessage) property {
	var p struct {
		Type json.RawMessage `json:"type"`
		Enum []any           `json:"enum"`
	}
	// A schema from outside may have shapes that leniency does not know; such a
	// field is simply not helped, and the validator judges it.
	if json.Unmarshal(raw, &p) != nil {
		return property{}
	}
	var out property
	_ = json.Unmarshal(p.Type, &out.Type) // a list of types is not helped either
	for _, v := range p.Enum {
		if s, ok := v.(string); ok {
			out.Enum = append(out.Enum, s)
		}
	}
	return out
}

// check returns the canonical input, or what is wrong with it, for the model.
func (in *inputSchema) check(raw string) (json.RawMessage, error) {
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &fields); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object (%w); send them again as one", err)
	}
	canonical, changed, err := in.canonical(fields)
	if err != nil {
		return nil, err
	}
	out := json.RawMessage(raw)
	if changed {
		if out, err = json.Marshal(canonical); err != nil {
			return nil, fmt.Errorf("encode the arguments: %w", err)
		}
	}
	return out, in.validate(canonical)
}

func (in *inputSchema) validate(fields map[string]json.RawMessage) error {
	resolved, err := in.resolved()
	if err != nil {
		return err
	}
	instance := make(map[string]any, len(fields))
	for name, raw := range fields {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		instance[name] = v
	}
	if err := resolved.Validate(instance); err != nil {
		return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "validating root: ", ""))
	}
	return nil
}

// canonical renames fields and converts scalars that came as strings.
func (in *inputSchema) canonical(fields map[string]json.RawMessage) (map[string]json.RawMessage, bool, error) {
	out := make(map[string]json.RawMessage, len(fields))
	changed := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[name]
		to, ok := in.fieldName(name)
		if !ok {
			return nil, false, in.unknownField(name)
		}
		if to != name {
			changed = true
			if _, both := fields[to]; both {
				return nil, false, fmt.Errorf("%q and %q are the same field; give one", name, to)
			}
		}
		if _, twice := out[to]; twice {
			return nil, false, fmt.Errorf("the field %q is given twice under different names", to)
		}
		value, converted := in.properties[to].convert(raw)
		changed = changed || converted
		if bytes.Equal(value, []byte("null")) {
			changed = true // an optional field that is spelled out as nothing
			continue
		}
		out[to] = value
	}
	return out, changed, nil
}

func (in *inputSchema) fieldName(name string) (string, bool) {
	if _, ok := in.properties[name]; ok {
		return name, true
	}
	snake := snakeCase(name)
	if _, ok := in.properties[snake]; ok {
		return snake, true
	}
	for _, spelling := range []string{name, snake} {
		for _, to := range otherNames(spelling) {
			if _, ok := in.properties[to]; ok {
				return to, true
			}
		}
	}
	return "", false
}

func (in *inputSchema) unknownField(name string) error {
	names := slices.Sorted(maps.Keys(in.properties))
	if near := nearest.Of(snakeCase(name), names); near != "" {
		return fmt.Errorf("%s has no field %q; did you mean %q?", in.spec.Name, name, near)
	}
	return fmt.Errorf("%s has no field %q; its fields are %s", in.spec.Name, name, join(names))
}

// convert takes a number or boolean that was sent as a string, and a whole
// number that was sent with a fraction of zero.
func (p property) convert(raw json.RawMessage) (json.RawMessage, bool) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw, false
	}
	switch p.Type {
	case "integer":
		if n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64); err == nil {
			return json.RawMessage(strconv.FormatInt(n, 10)), true
		}
	case "number":
		if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
			if b, err := json.Marshal(f); err == nil {
				return b, true
			}
		}
	case "boolean":
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "true":
			return json.RawMessage("true"), true
		case "false":
			return json.RawMessage("false"), true
		}
	case "string":
		if ours := otherValues(s); ours != "" && slices.Contains(p.Enum, ours) && !slices.Contains(p.Enum, s) {
			return json.RawMessage(strconv.Quote(ours)), true
		}
	}
	return raw, false
}

func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		if r == '-' && i > 0 {
			r = '_'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func join(names []string) string { return strings.Join(names, ", ") }
