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

	"garuda/internal/nearest"
)

// maxDepth is how deep leniency looks into a schema; below it the validator alone judges.
const maxDepth = 8

// property is the part of a field's schema that leniency needs.
type property struct {
	kind string // the schema's type; empty where it has none or several
	enum []string
	// object is set for an object that lists its fields, items for an array.
	object *object
	items  *property
}

// object is the fields of an object by their canonical names.
type object struct{ properties map[string]property }

func parseProperty(raw json.RawMessage, depth int) property {
	var s struct {
		Type       json.RawMessage            `json:"type"`
		Enum       []any                      `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	// A schema from outside may have shapes that leniency does not know; such a
	// field is simply not helped, and the validator judges it.
	if depth == 0 || json.Unmarshal(raw, &s) != nil {
		return property{}
	}
	var out property
	_ = json.Unmarshal(s.Type, &out.kind) // a list of types is not helped either
	for _, v := range s.Enum {
		if s, ok := v.(string); ok {
			out.enum = append(out.enum, s)
		}
	}
	switch out.kind {
	case "object":
		out.object = &object{properties: make(map[string]property, len(s.Properties))}
		for name, raw := range s.Properties {
			out.object.properties[name] = parseProperty(raw, depth-1)
		}
	case "array":
		if len(s.Items) > 0 {
			items := parseProperty(s.Items, depth-1)
			out.items = &items
		}
	}
	return out
}

// canonical renames fields and converts values that came in another form. place
// names the object in errors.
func (o *object) canonical(fields map[string]json.RawMessage, place string) (map[string]json.RawMessage, bool, error) {
	out := make(map[string]json.RawMessage, len(fields))
	changed := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[name]
		to, ok := o.fieldName(name)
		if !ok && saysNothing(name) {
			changed = true
			continue
		}
		if !ok {
			return nil, false, o.unknownField(name, place)
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
		value, converted, err := o.properties[to].convert(raw, place+"."+to)
		if err != nil {
			return nil, false, err
		}
		changed = changed || converted
		if bytes.Equal(value, []byte("null")) {
			changed = true // an optional field that is spelled out as nothing
			continue
		}
		out[to] = value
	}
	return out, changed, nil
}

func (o *object) fieldName(name string) (string, bool) {
	if _, ok := o.properties[name]; ok {
		return name, true
	}
	snake := snakeCase(name)
	if _, ok := o.properties[snake]; ok {
		return snake, true
	}
	for _, spelling := range []string{name, snake} {
		for _, to := range otherNames(spelling) {
			if _, ok := o.properties[to]; ok {
				return to, true
			}
		}
	}
	return "", false
}

func (o *object) unknownField(name, place string) error {
	names := slices.Sorted(maps.Keys(o.properties))
	given := shown(name)
	if len(names) == 0 {
		return fmt.Errorf("%s takes no fields; leave out %s", place, given)
	}
	if len(name) <= maxShown { // a longer one is near to none, and costs time to compare
		if near := nearest.Of(snakeCase(name), names); near != "" {
			return fmt.Errorf("%s has no field %s; did you mean %q?", place, given, near)
		}
	}
	return fmt.Errorf("%s has no field %s; its fields are %s", place, given, join(names))
}

// convert takes a number, a boolean, a list or an object that was sent as a
// string, and looks into lists and objects.
func (p property) convert(raw json.RawMessage, place string) (json.RawMessage, bool, error) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		if p.kind == "integer" {
			return wholeNumber(raw, place)
		}
		return p.convertInside(raw, place)
	}
	text := strings.TrimSpace(s)
	switch p.kind {
	case "integer":
		if !json.Valid([]byte(text)) {
			break
		}
		if n, _, err := wholeNumber(json.RawMessage(text), place); err != nil || isWhole(n) {
			return n, true, err
		}
	case "number":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			if b, err := json.Marshal(f); err == nil {
				return b, true, nil
			}
		}
	case "boolean":
		switch strings.ToLower(text) {
		case "true", "false":
			return json.RawMessage(strings.ToLower(text)), true, nil
		}
	case "array", "object":
		if json.Valid([]byte(text)) && (text[0] == '[' && p.kind == "array" || text[0] == '{' && p.kind == "object") {
			inner, _, err := p.convertInside(json.RawMessage(text), place)
			return inner, true, err
		}
	case "string":
		if ours := otherValues(s); ours != "" && slices.Contains(p.enum, ours) && !slices.Contains(p.enum, s) {
			return json.RawMessage(strconv.Quote(ours)), true, nil
		}
	}
	return raw, false, nil
}

// wholeNumber takes 5.0 and 5e0 for 5. A number that no field could hold is
// refused here: the schema has nothing against it.
func wholeNumber(raw json.RawMessage, place string) (json.RawMessage, bool, error) {
	var n json.Number
	if isWhole(raw) || json.Unmarshal(raw, &n) != nil {
		return raw, false, nil //nolint:nilerr // what it is instead the validator says
	}
	const exact = 1 << 53 // up to here every whole number has its own float
	f, err := n.Float64()
	switch {
	case err != nil || math.Abs(f) > exact:
		return raw, false, fmt.Errorf("%s is %s, a number far too large", place, n)
	case f != math.Trunc(f):
		return raw, false, nil
	}
	return json.RawMessage(strconv.FormatInt(int64(f), 10)), true, nil
}

func isWhole(raw json.RawMessage) bool {
	_, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil
}

// convertInside makes the parts of a list or an object canonical.
func (p property) convertInside(raw json.RawMessage, place string) (json.RawMessage, bool, error) {
	switch {
	case p.object != nil && len(p.object.properties) > 0:
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields == nil {
			return raw, false, nil //nolint:nilerr // what it is instead the validator says
		}
		canonical, changed, err := p.object.canonical(fields, place)
		return encodeIf(changed, canonical, raw, err)
	case p.items != nil:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || list == nil {
			return raw, false, nil //nolint:nilerr // what it is instead the validator says
		}
		changed := false
		for i, item := range list {
			value, converted, err := p.items.convert(item, fmt.Sprintf("%s[%d]", place, i))
			if err != nil {
				return raw, false, err
			}
			list[i], changed = value, changed || converted
		}
		return encodeIf(changed, list, raw, nil)
	}
	return raw, false, nil
}

func encodeIf(changed bool, v any, raw json.RawMessage, err error) (json.RawMessage, bool, error) {
	if err != nil || !changed {
		return raw, false, err
	}
	out, err := json.Marshal(v)
	return out, true, err
}
