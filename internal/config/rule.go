package config

import (
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"

	"garuda/internal/jsonc"
)

// rule is a permission rule: its text, or an object with examples and hashes.
func rule() codec[Rule] {
	line := text("rule", "rules")
	examples := &jsonschema.Schema{Type: "array", Items: line.schema}
	hash := matching("sha256: and 64 hexadecimal digits", "", `^sha256:[0-9a-f]{64}$`)
	c := codec[Rule]{words: "rule", many: `rules: "tool(pattern)", or {rule, match, notMatch, files}`, show: showRule}
	c.schema = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{line.schema, {
		Type:                 "object",
		Required:             []string{"rule"},
		AdditionalProperties: nothing(),
		PropertyOrder:        []string{"rule", "match", "notMatch", "files"},
		Properties: map[string]*jsonschema.Schema{
			"rule": line.schema, "match": examples, "notMatch": examples,
			"files": {Type: "object", AdditionalProperties: hash.schema},
		},
	}}}
	c.parse = func(s string) (Rule, error) {
		got, err := line.parse(s)
		return Rule{Text: got}, err
	}
	c.decode = func(at *document, v *hujson.Value) (Rule, error) {
		out := Rule{}
		out.Line = at.Line(v)
		if v.Value.Kind() != '{' {
			var err error
			out.Text, err = line.decode(at, v)
			return out, err
		}
		err := at.Object(v, "a rule", jsonc.Fields{
			"rule":     into(at, &out.Text, line),
			"match":    intoList(at, &out.Match, line),
			"notMatch": intoList(at, &out.NotMatch, line),
			"files": func(v *hujson.Value) (err error) {
				out.Files, err = decodeNamed(at, v, hash, "path", "")
				return err
			},
		})
		if err != nil {
			return out, err
		}
		if out.Text == "" {
			return out, at.Errorf(v, `a rule without "rule"`)
		}
		return out, nil
	}
	return c
}

func showRule(r Rule) any {
	if r.Match == nil && r.NotMatch == nil && r.Files == nil {
		return r.Text
	}
	return struct {
		Rule     string            `json:"rule"`
		Match    []string          `json:"match,omitempty"`
		NotMatch []string          `json:"notMatch,omitempty"`
		Files    map[string]string `json:"files,omitempty"`
	}{r.Text, r.Match, r.NotMatch, r.Files}
}

// formatter is false, or {extensions, command}.
func formatter() codec[FormatterCommand] {
	extension := matching("file extension such as .go", "file extensions", `^\.[A-Za-z0-9_.+-]+$`)
	command := text("command", "")
	off := any(false)
	c := codec[FormatterCommand]{words: "false, or {extensions, command}"}
	c.schema = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Const: &off}, {
		Type:                 "object",
		Required:             []string{"extensions", "command"},
		AdditionalProperties: nothing(),
		PropertyOrder:        []string{"extensions", "command"},
		Properties: map[string]*jsonschema.Schema{
			"extensions": {Type: "array", Items: extension.schema, MinItems: ptr(1)}, "command": command.schema,
		},
	}}}
	c.show = func(f FormatterCommand) any {
		if f.Off {
			return false
		}
		return map[string]any{"extensions": f.Extensions, "command": f.Command}
	}
	c.decode = func(at *document, v *hujson.Value) (FormatterCommand, error) {
		out := FormatterCommand{}
		if v.Value.Kind() == 'f' {
			out.Off = true
			return out, nil
		}
		if v.Value.Kind() != '{' {
			return out, at.Mistyped(v, c.words)
		}
		err := at.Object(v, "a formatter", jsonc.Fields{
			"extensions": intoList(at, &out.Extensions, extension),
			"command":    into(at, &out.Command, command),
		})
		if err != nil {
			return out, err
		}
		if out.Command == "" || len(out.Extensions) == 0 {
			return out, at.Errorf(v, "a formatter needs extensions and command")
		}
		return out, nil
	}
	return c
}

// nothing is the schema that no value fits.
func nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

func ptr[T any](v T) *T { return &v }
