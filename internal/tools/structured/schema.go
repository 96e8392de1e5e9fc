package structured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

const (
	// MaxSchema is how many bytes a schema may have: it goes with every request.
	MaxSchema = 64 << 10
	// maxDepth is how deep it may be nested.
	maxDepth = 64
)

// Schema describes an answer: a JSON Schema of an object.
type Schema struct{ raw json.RawMessage }

// Parse reads a schema. Errors say where in it something is wrong: as line and
// column where it is no JSON, else as a JSON pointer.
func Parse(text []byte) (*Schema, error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if len(text) > MaxSchema {
		return nil, fmt.Errorf("it has %d bytes, and at most %d go with each request", len(text), MaxSchema)
	}
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, syntaxError(text, err)
	}
	top, ok := root.(map[string]any)
	if !ok {
		return nil, errors.New("it must be a JSON object")
	}
	if err := checkPlaces("", root, 0); err != nil {
		return nil, err
	}
	if top["type"] != "object" {
		return nil, errors.New(`at /type: the answer must be an object, so "type" has to be "object"; put another value into a property of one`)
	}
	if err := checkRepeats(top); err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("it is no JSON Schema: %w", err)
	}
	if _, err := s.Resolve(nil); err != nil {
		return nil, fmt.Errorf("it is no JSON Schema that can be used: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, err
	}
	return &Schema{raw: compact.Bytes()}, nil
}

// syntaxError adds the place to an error of the decoder.
func syntaxError(text []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := text[:min(int(syntax.Offset), len(text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Errorf("line %d, column %d: %w", line, max(column, 1), err)
}

// checkPlaces refuses references to other places, and what is nested too deep.
func checkPlaces(at string, v any, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("at %s: it is nested more than %d levels deep", at, maxDepth)
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if err := checkPlaces(at+"/"+strconv.Itoa(i), e, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			place := at + "/" + escape(key)
			// References below would count from there, and no pointer would show it.
			if _, isText := v[key].(string); isText && key == "$id" && depth > 0 {
				return fmt.Errorf(`at %s: only the whole schema can have an "$id"; leave it out, and refer to the part as "#%s"`, place, at)
			}
			if to, isText := v[key].(string); isText && (key == "$ref" || key == "$dynamicRef") && !strings.HasPrefix(to, "#") {
				return fmt.Errorf(`at %s: %q leads out of the schema, and nothing is fetched; put what it refers to under "$defs"`, place, to)
			}
			if err := checkPlaces(place, v[key], depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
