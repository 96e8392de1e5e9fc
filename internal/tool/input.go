package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// Decode reads a call's input, which has already passed the tool's schema.
func Decode[T any](input json.RawMessage) (*T, error) {
	in := new(T)
	if err := json.Unmarshal(input, in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return in, nil
}

// ErrOtherPlan is what Run returns for a plan that its own Plan did not make: a fault
// of Garuda's.
var ErrOtherPlan = errors.New("the plan is of another tool")

// inputSchema checks a call's arguments: lenient where it costs nothing, strict
// where it matters.
type inputSchema struct {
	spec *Spec
	// Both are made with the first call: most tools of a session get none.
	input    func() *object
	resolved func() (*jsonschema.Resolved, error)
}

func newInputSchema(spec *Spec) (*inputSchema, error) {
	if top := parseProperty(spec.Schema, 1); top.kind != "object" {
		return nil, fmt.Errorf("its schema is of type %q, want object", top.kind)
	}
	in := &inputSchema{spec: spec}
	in.input = sync.OnceValue(func() *object { return parseProperty(spec.Schema, maxDepth).object })
	in.resolved = sync.OnceValues(func() (*jsonschema.Resolved, error) {
		var s jsonschema.Schema
		if err := json.Unmarshal(spec.Schema, &s); err != nil {
			return nil, fmt.Errorf("read the schema of %s: %w", spec.Name, err)
		}
		return s.Resolve(nil)
	})
	return in, nil
}

// check returns the canonical input, or what is wrong with it, for the model.
func (in *inputSchema) check(raw string) (json.RawMessage, error) {
	if strings.TrimSpace(raw) == "" {
		raw = "{}"
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &fields); err != nil {
		return nil, notAnObject(raw, err)
	}
	if in.spec.Exact {
		return json.RawMessage(raw), in.validate(fields)
	}
	canonical, changed, err := in.input().canonical(fields, in.spec.Name)
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

// notAnObject says what the arguments are instead.
func notAnObject(raw string, err error) error {
	var value any
	if json.Unmarshal([]byte(raw), &value) == nil {
		return fmt.Errorf("the arguments are not a JSON object but %s; send the fields by name", shown(value))
	}
	return fmt.Errorf("the arguments are not a JSON object (%w); send them again as one", err)
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
	err = resolved.Validate(instance)
	if err == nil {
		return nil
	}
	if why := explain(resolved.Schema(), asSent(fields), ""); why != "" {
		return errors.New(why)
	}
	return errors.New(strings.ReplaceAll(err.Error(), "validating root: ", ""))
}

// asSent is the input with its numbers as they were written.
func asSent(fields map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(fields))
	for name, raw := range fields {
		var v any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if dec.Decode(&v) == nil {
			out[name] = v
		}
	}
	return out
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
