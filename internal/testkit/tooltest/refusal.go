package tooltest

import (
	"context"
	"testing"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// Refusal is what a model is told about a call that fails before it is decided,
// through the schema and the table of other names; "" when it would be decided.
func Refusal(t testing.TB, env *tool.Env, tools []tool.Tool, name, input string) string {
	t.Helper()
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	p := &tool.Pipeline{Registry: registry, Env: env}
	return p.Prepare(context.Background(), core.Block{Type: core.BlockToolUse, ID: "c1", Name: name, Input: input}).Failed()
}
