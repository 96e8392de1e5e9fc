package fileedit

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"strings"

	"garuda/internal/tool"
)

//go:embed multi_edit.md
var multiEditDescription string

type multiEdit struct{}

type multiEditInput struct {
	Path  string     `json:"path" jsonschema:"relative to the root, or absolute"`
	Edits []editItem `json:"edits" jsonschema:"at most 100, made in order"`
}

type editItem struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

const multiEditSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"relative to the root, or absolute"},` +
	`"edits":{"type":"array","minItems":1,"maxItems":100,"description":"at most 100, made in order",` +
	`"items":{"type":"object","properties":{"old_string":{"type":"string"},"new_string":{"type":"string"},` +
	`"replace_all":{"type":"boolean"}},"required":["old_string","new_string"],"additionalProperties":false}}},` +
	`"required":["path","edits"],"additionalProperties":false}`

func (multiEdit) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "multi_edit", Description: strings.TrimSpace(multiEditDescription),
		Class: tool.ClassPath, Set: "edit", Schema: json.RawMessage(multiEditSchema),
	}
}

func (multiEdit) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[multiEditInput](input)
	if err != nil {
		return nil, err
	}
	list := make([]replacement, len(in.Edits))
	for i, e := range in.Edits {
		list[i] = replacement{e.OldString, e.NewString, e.ReplaceAll}
	}
	return planReplacements(env, in.Path, list, true)
}

func (multiEdit) Run(_ context.Context, c *tool.Call) (*tool.Output, error) { return runEdits(c) }
