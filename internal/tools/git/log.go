package git

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"garuda/internal/tool"
)

//go:embed git_log.md
var logDescription string

type log struct{}

type logInput struct {
	Limit int    `json:"limit,omitempty" jsonschema:"15 without it, at most 100"`
	Path  string `json:"path,omitempty"`
}

const logSchema = `{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100,"description":"15 without it, at most 100"},` +
	`"path":{"type":"string"}},"additionalProperties":false}`

const defaultCommits = 15

func (log) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "git_log", Description: strings.TrimSpace(logDescription), Class: tool.ClassRead, Set: "git",
		Schema: json.RawMessage(logSchema),
	}
}

type logCall struct {
	place
	limit int
}

func (log) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[logInput](input)
	if err != nil {
		return nil, err
	}
	call := &logCall{limit: cmp.Or(in.Limit, defaultCommits)}
	return planAt(env, in.Path, call, &call.place)
}

func (log) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*logCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	return outcome(call.run(ctx, c.Env))
}

func (call *logCall) run(ctx context.Context, env *tool.Env) (*tool.Output, error) {
	r, err := open(ctx, env)
	if err != nil {
		return nil, err
	}
	args := []string{"log", "--no-show-signature", "--date=format:%Y-%m-%d %H:%M", "--format=%h  %ad  %an  %s", "-n", strconv.Itoa(call.limit)}
	args = append(args, call.pathspec(env.Workspace.Root(), nil)...)
	body, err := r.read(ctx, args...)
	var failed *failedError
	if errors.As(err, &failed) && strings.Contains(failed.stderr, "does not have any commits yet") {
		return answer("", "No commits yet.", 0), nil
	}
	if err != nil {
		return nil, err
	}
	return call.answer(env, body, "No commits.", 0), nil
}
