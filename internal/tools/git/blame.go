package git

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

//go:embed git_blame.md
var blameDescription string

type blame struct{}

type blameInput struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
}

const blameSchema = `{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":"integer","minimum":1},` +
	`"end_line":{"type":"integer","minimum":1}},"required":["path"],"additionalProperties":false}`

// blameLines is how many lines are shown when the call names no end.
const blameLines = 200

func (blame) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "git_blame", Description: strings.TrimSpace(blameDescription), Class: tool.ClassRead, Set: "git",
		Schema: json.RawMessage(blameSchema),
	}
}

type blameCall struct {
	place
	from, to int
}

func (blame) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[blameInput](input)
	if err != nil {
		return nil, err
	}
	call := &blameCall{from: max(in.StartLine, 1), to: in.EndLine}
	if call.to != 0 && call.to < call.from {
		return nil, fmt.Errorf("end_line %d is before start_line %d; swap them", call.to, call.from)
	}
	return planAt(env, in.Path, call, &call.place)
}

func (blame) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*blameCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	if call.path.Exists && !c.Env.MayRead(call.path.Abs) {
		return nil, fmt.Errorf("%s may not be read: it is protected; go on without it, or ask the user for what you need of it", call.path.Rel)
	}
	return outcome(call.run(ctx, c.Env))
}

// check refuses what git would refuse in words of its own. What was deleted has
// no lines to tell of.
func (call *blameCall) check(env *tool.Env) error {
	switch {
	case !call.path.Exists:
		return env.Workspace.NotFound(call.path, env.MayRead)
	case call.path.Info.Kind == workspace.KindFolder:
		return fmt.Errorf("%s is a folder; name one file", call.path.Rel)
	}
	return nil
}

func (call *blameCall) run(ctx context.Context, env *tool.Env) (*tool.Output, error) {
	r, err := open(ctx, env)
	if err != nil {
		return nil, err
	}
	if err := call.check(env); err != nil {
		return nil, err
	}
	to := call.to
	if to == 0 {
		to = call.from + blameLines - 1
	}
	lines := func(which string) (string, error) {
		return r.read(ctx, "blame", "--no-textconv", "--no-ignore-revs-file", "--date=short", "--abbrev=10", "-L", which,
			"--", relative(env.Workspace.Root(), call.path))
	}
	body, err := lines(fmt.Sprintf("%d,%d", call.from, to))
	var failed *failedError
	if errors.As(err, &failed) && strings.Contains(failed.stderr, "has only") {
		if body, err = lines(fmt.Sprintf("%d,", call.from)); errors.As(err, &failed) {
			return nil, fmt.Errorf("%s", failed.stderr)
		}
	}
	switch {
	case errors.As(err, &failed) && strings.Contains(failed.stderr, "no such path"):
		return nil, fmt.Errorf("%s is in no commit yet, so nobody can be named; git_status shows what is untracked", call.path.Rel)
	case err != nil:
		return nil, err
	}
	out := answer(body, "The file is empty.", 0)
	if call.to == 0 && strings.Count(body, "\n") == blameLines {
		out.Text += fmt.Sprintf("\n[lines %d-%d; give start_line and end_line for others]", call.from, to)
	}
	return out, nil
}
