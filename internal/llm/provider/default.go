package provider

import (
	"bytes"
	"fmt"

	"github.com/tailscale/hujson"
)

// WithDefault returns the text of a models.json with another default model in
// it; comments and layout stay. An empty text is a file that does not exist yet.
// The path is for errors: only a file that can be read is changed.
func WithDefault(path string, text []byte, spec string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	before, err := ParseFile(path, text)
	if err != nil {
		return nil, err
	}
	if before.Default == spec {
		return text, nil
	}
	d, err := parseDocument(path, text)
	if err != nil {
		return nil, err
	}
	object, ok := d.Root.Value.(*hujson.Object)
	if !ok {
		return nil, &FileError{Path: path, Problem: "it must be an object"}
	}
	setDefault(object, spec)
	out := d.Root.Pack()
	after, err := ParseFile(path, out)
	if err != nil {
		return nil, fmt.Errorf("write the default model: %w", err)
	}
	if after.Default != spec {
		return nil, &FileError{Path: path, Problem: fmt.Sprintf("the default model %q does not survive being written", spec)}
	}
	return out, nil
}

// setDefault replaces the value, or puts a new member in front, where people
// look for it first.
func setDefault(object *hujson.Object, spec string) {
	for i := range object.Members {
		if lit, ok := object.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == "default" {
			object.Members[i].Value.Value = hujson.String(spec)
			return
		}
	}
	member := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra("\n  "), Value: hujson.String("default")},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: hujson.String(spec)},
	}
	if len(object.Members) == 0 {
		// A comment in an empty object stays above the new line.
		kept := bytes.TrimRight(object.AfterExtra, " \t\r\n")
		member.Name.BeforeExtra = append(bytes.Clone(kept), "\n  "...)
		object.AfterExtra = hujson.Extra("\n")
	}
	object.Members = append([]hujson.ObjectMember{member}, object.Members...)
}
