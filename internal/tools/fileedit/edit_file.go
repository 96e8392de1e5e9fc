package fileedit

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"strings"

	"garuda/internal/tool"
)

//go:embed edit_file.md
var editFileDescription string

type editFile struct{}

type editInput struct {
	Path       string `json:"path" jsonschema:"relative to the root, or absolute"`
	OldString  string `json:"old_string" jsonschema:"the exact text to replace"`
	NewString  string `json:"new_string" jsonschema:"what stands there afterwards"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"every occurrence"`
}

const editSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"relative to the root, or absolute"},` +
	`"old_string":{"type":"string","description":"the exact text to replace"},` +
	`"new_string":{"type":"string","description":"what stands there afterwards"},` +
	`"replace_all":{"type":"boolean","description":"every occurrence"}},` +
	`"required":["path","old_string","new_string"],"additionalProperties":false}`

func (editFile) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "edit_file", Description: strings.TrimSpace(editFileDescription),
		Class: tool.ClassPath, Set: "core", Schema: json.RawMessage(editSchema),
	}
}

func (editFile) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[editInput](input)
	if err != nil {
		return nil, err
	}
	return planReplacements(env, in.Path, []replacement{{in.OldString, in.NewString, in.ReplaceAll}}, false)
}

func (editFile) Run(_ context.Context, c *tool.Call) (*tool.Output, error) { return runEdits(c) }
