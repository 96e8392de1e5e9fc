package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is the JSON Schema (2020-12) of a settings file, for `garuda schema
// settings` and for editors. A file may name it under "$schema".
func Schema() ([]byte, error) {
	root := objectSchema()
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "Garuda settings"
	property(root, "$schema", &jsonschema.Schema{Type: "string"})
	for _, k := range table() {
		at := root
		parts := strings.Split(k.Name, ".")
		for _, group := range parts[:len(parts)-1] {
			if at.Properties[group] == nil {
				property(at, group, objectSchema())
			}
			at = at.Properties[group]
		}
		property(at, parts[len(parts)-1], k.described())
	}
	root.Properties["model"] = modelSchema(root)
	compact, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("encode the schema of the settings: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("indent the schema of the settings: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func objectSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", AdditionalProperties: nothing(), Properties: map[string]*jsonschema.Schema{}}
}

func property(of *jsonschema.Schema, name string, s *jsonschema.Schema) {
	of.Properties[name] = s
	of.PropertyOrder = append(of.PropertyOrder, name)
}

// described is the key's schema with its meaning, default and scope.
func (k *Key) described() *jsonschema.Schema {
	s := *k.schema
	s.Description = k.Meaning
	if k.Unit != "" {
		s.Description += " In " + k.Unit + "."
	}
	s.Description += " A project may set it: " + string(k.Scope) + "."
	if k.Default != "" {
		s.Default = json.RawMessage(k.Default)
	}
	return &s
}

// modelSchema also allows the older object form that Load reads as modelInfo.
func modelSchema(root *jsonschema.Schema) *jsonschema.Schema {
	name := root.Properties["model"]
	older := objectSchema()
	older.Deprecated = true
	for _, part := range []string{"contextWindow", "price"} {
		property(older, part, root.Properties["modelInfo"].Properties[part].CloneSchemas())
	}
	out := &jsonschema.Schema{Description: name.Description, AnyOf: []*jsonschema.Schema{name, older}}
	name.Description = ""
	return out
}
