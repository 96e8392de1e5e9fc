package tooltest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/policy"
	"garuda/internal/tool"
)

// Refusal is what a model is told about a call that fails before it is decided,
// through the schema and the table of other names; "" when it would be decided.
func Refusal(t testing.TB, env *tool.Env, tools []tool.Tool, name, input string) string {
	t.Helper()
	p := pipeline(t, env, tools)
	return p.Prepare(context.Background(), use(name, input)).Failed()
}

// Call is what a model gets for a call that is allowed, through the whole pipeline.
func Call(t testing.TB, env *tool.Env, tools []tool.Tool, name, input string) string {
	t.Helper()
	p, ctx := pipeline(t, env, tools), context.Background()
	return p.Run(ctx, p.Prepare(ctx, use(name, input)), 0, tool.Observer{}).Result.ResultText()
}

func use(name, input string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: "c1", Name: name, Input: input}
}

func pipeline(t testing.TB, env *tool.Env, tools []tool.Tool) *tool.Pipeline {
	t.Helper()
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	if env == nil {
		env = &tool.Env{}
	}
	if env.Clock == nil {
		env.Clock = core.SystemClock
	}
	engine, err := policy.New(policy.Config{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Pipeline{Registry: registry, Env: env, Decider: allowAll{engine}}
}

// allowAll lets every call run. Its grants come from the policy, which alone makes
// them: they are for a call of the same id that changes nothing.
type allowAll struct{ engine *policy.Engine }

func (a allowAll) Decide(req *tool.DecisionRequest) *tool.Decision {
	return a.engine.Decide(&tool.DecisionRequest{CallID: req.CallID, Tool: req.Tool, Class: tool.ClassSession, Plan: &tool.Plan{}})
}

func (allowAll) Resolve(_ *tool.DecisionRequest, asked *tool.Decision, _ tool.Answer) *tool.Decision {
	return asked
}

// Wrong is a call as a model might make it wrongly, and the exact text that it gets.
type Wrong struct {
	Name, Tool, In string
	Want           string
	// Before is done first: what makes the call wrong only now. May be nil.
	Before func()
}

// Wrongs plays calls one after the other, each through the whole pipeline. In
// texts, $ROOT is the root's path and $PARENT that of the folder around it.
func Wrongs(t *testing.T, env *tool.Env, tools []tool.Tool, calls []Wrong) {
	t.Helper()
	root, parent := "$ROOT", "$PARENT"
	if env != nil && env.Workspace != nil {
		root = env.Workspace.Root()
		parent = filepath.Dir(root)
	}
	for _, c := range calls {
		if c.Before != nil {
			c.Before()
		}
		got := Call(t, env, tools, c.Tool, strings.ReplaceAll(c.In, "$ROOT", root))
		got = strings.NewReplacer(root, "$ROOT", parent, "$PARENT").Replace(got)
		if got != c.Want {
			t.Errorf("%s: %s %.300s\n got %q\nwant %q", c.Name, c.Tool, c.In, got, c.Want)
		}
	}
}
