package search

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// The schemas are kept by hand to be small; this holds them to the structs that
// the input is decoded into, and to their budget on the wire.
func TestSpecs(t *testing.T) {
	checkSpec[globInput](t, globTool{}.Spec().Schema, globTool{}.Spec().Description, 550)
	checkSpec[grepInput](t, grepTool{}.Spec().Schema, grepTool{}.Spec().Description, 1250)
}

func checkSpec[T any](t *testing.T, schema json.RawMessage, description string, budget int) {
	t.Helper()
	var got jsonschema.Schema
	if err := json.Unmarshal(schema, &got); err != nil {
		t.Fatal(err)
	}
	want, err := jsonschema.For[T](nil)
	if err != nil {
		t.Fatal(err)
	}
	type field struct{ Type, Description string }
	fields := func(s *jsonschema.Schema) map[string]field {
		out := map[string]field{}
		for name, p := range s.Properties {
			f := field{p.Type, p.Description}
			for _, typ := range p.Types {
				if typ != "null" {
					f.Type = typ
				}
			}
			out[name] = f
		}
		return out
	}
	if diff := cmp.Diff(fields(want), fields(&got)); diff != "" {
		t.Errorf("%T: %s", *new(T), diff)
	}
	if diff := cmp.Diff(want.Required, got.Required); diff != "" {
		t.Errorf("%T: required: %s", *new(T), diff)
	}
	if got.AdditionalProperties == nil {
		t.Errorf("%T: unknown fields are not refused", *new(T))
	}
	if n := len(schema) + len(description); n > budget {
		t.Errorf("%T: %d bytes of schema and description, more than %d", *new(T), n, budget)
	}
}
