// Package structured holds the tool structured_output, with which a model gives
// its final answer in a form that the user asked for (--json-schema), and the
// checks of the schema that describes it.
//
// It fetches nothing: a schema that refers to another place is refused.
package structured

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"strings"

	"garuda/internal/tool"
)

// Name is the tool's.
const Name = "structured_output"

//go:embed structured_output.md
var description string

type output struct{ schema *Schema }

// New makes the tool that takes answers of this schema.
func New(s *Schema) tool.Tool { return output{s} }

func (o output) Spec() *tool.Spec {
	return &tool.Spec{
		Name: Name, Description: strings.TrimSpace(description), Class: tool.ClassSession,
		Schema: o.schema.raw, Exact: true,
	}
}

// Plan has no target: the answer is the whole of the call.
func (output) Plan(_ context.Context, _ *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	return &tool.Plan{ReadOnly: true, Input: input}, nil
}

func (output) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	answer, _ := c.Plan.Input.(json.RawMessage)
	return &tool.Output{Text: "The answer was taken.", Summary: "taken", Answer: answer}, nil
}
