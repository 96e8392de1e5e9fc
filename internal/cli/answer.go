package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"garuda/internal/tools/structured"
	"garuda/internal/userfile"
)

// readAnswerSchema reads the value of --json-schema: the schema itself, or the name
// of a file that holds it.
func readAnswerSchema(value string) (*structured.Schema, error) {
	text, from := []byte(value), "--json-schema"
	if trimmed := strings.TrimSpace(value); !strings.HasPrefix(trimmed, "{") && !isOtherJSON(trimmed) {
		b, err := userfile.Read(value, structured.MaxSchema)
		if err != nil {
			return nil, usage(fmt.Errorf("--json-schema takes a schema, beginning with {, or a file that holds one: read %s: %w", value, err))
		}
		text, from = b, "--json-schema "+value
	}
	schema, err := structured.Parse(text)
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", from, err))
	}
	return schema, nil
}

// isOtherJSON reports whether a value is JSON that no file would be called.
func isOtherJSON(value string) bool {
	return bytes.ContainsAny([]byte(value[:min(len(value), 1)]), `["`) && json.Valid([]byte(value))
}
