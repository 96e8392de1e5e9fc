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
	if at := circle(top); at != "" {
		return nil, fmt.Errorf("at %s: it comes back to itself without a property or an element in between, so nothing could ever be checked by it", at)
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

// circle finds a part of a schema that is checked against itself for one and the
// same value, which a validator would follow until its stack is full.
func circle(root map[string]any) string {
	w := circleWalk{root: root, state: map[string]int{}}
	w.everywhere("", root, 0)
	return w.found
}

type circleWalk struct {
	root  map[string]any
	state map[string]int // by pointer: 1 while it is being followed, 2 when it was
	found string
}

// everywhere begins at each part.
func (w *circleWalk) everywhere(at string, v any, depth int) {
	if w.found != "" || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			w.everywhere(at+"/"+strconv.Itoa(i), e, depth+1)
		}
	case map[string]any:
		w.follow(at, v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.everywhere(at+"/"+escape(key), v[key], depth+1)
		}
	}
}

// follow goes to the parts that hold for the same value.
func (w *circleWalk) follow(at string, v any) {
	part, ok := v.(map[string]any)
	if !ok || w.state[at] == 2 || w.found != "" {
		return
	}
	if w.state[at] == 1 {
		w.found = at + "/"
		return
	}
	w.state[at] = 1
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if to, ok := part[key].(string); ok {
			w.follow(w.target(to))
		}
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		w.follow(at+"/"+key, part[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := part[key].([]any)
		for i, e := range list {
			w.follow(at+"/"+key+"/"+strconv.Itoa(i), e)
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		named, _ := part[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			w.follow(at+"/"+key+"/"+escape(name), named[name])
		}
	}
	w.state[at] = 2
}

// target finds what a reference inside the schema leads to: by pointer, or by the
// name that a part gives itself.
func (w *circleWalk) target(to string) (string, any) {
	to = strings.TrimPrefix(to, "#")
	if to != "" && to[0] != '/' {
		return w.anchor("", w.root, to, 0)
	}
	var v any = w.root
	if to == "" {
		return "", v
	}
	for token := range strings.SplitSeq(to[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case map[string]any:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return to, nil
			}
			v = in[i]
		default:
			return to, nil
		}
	}
	return to, v
}

func (w *circleWalk) anchor(at string, v any, name string, depth int) (string, any) {
	if depth > maxDepth {
		return "", nil
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if p, found := w.anchor(at+"/"+strconv.Itoa(i), e, name, depth+1); found != nil {
				return p, found
			}
		}
	case map[string]any:
		if v["$anchor"] == name || v["$dynamicAnchor"] == name {
			return at, v
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if p, found := w.anchor(at+"/"+escape(key), v[key], name, depth+1); found != nil {
				return p, found
			}
		}
	}
	return "", nil
}
