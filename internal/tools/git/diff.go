package git

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"strings"

	"garuda/internal/tool"
)

//go:embed git_diff.md
var diffDescription string

type diff struct{}

type diffInput struct {
	Staged bool   `json:"staged,omitempty"`
	Path   string `json:"path,omitempty"`
	Base   string `json:"base,omitempty" jsonschema:"a commit, branch or tag, or two with .. or ... between"`
}

const diffSchema = `{"type":"object","properties":{"staged":{"type":"boolean"},"path":{"type":"string"},` +
	`"base":{"type":"string","description":"a commit, branch or tag, or two with .. or ... between"}},"additionalProperties":false}`

func (diff) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "git_diff", Description: strings.TrimSpace(diffDescription), Class: tool.ClassRead, Set: "git",
		Schema: json.RawMessage(diffSchema),
	}
}

type diffCall struct {
	place
	in *diffInput
}

func (diff) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[diffInput](input)
	if err != nil {
		return nil, err
	}
	if err := checkRef(in.Base); err != nil {
		return nil, err
	}
	call := &diffCall{in: in}
	return planAt(env, in.Path, call, &call.place)
}

func (diff) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*diffCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	return outcome(call.run(ctx, c.Env))
}

func (call *diffCall) run(ctx context.Context, env *tool.Env) (*tool.Output, error) {
	r, err := open(ctx, env)
	if err != nil {
		return nil, err
	}
	args := []string{"diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--relative"}
	if call.in.Staged {
		if bare, err := r.read(ctx, "rev-parse", "--is-bare-repository"); err != nil || strings.TrimSpace(bare) == "true" {
			return nil, cmp.Or(err, error(&bareError{env.Workspace.Root()}))
		}
		args = append(args, "--cached")
	}
	if call.in.Base != "" {
		base, err := r.base(ctx, call.in.Base)
		if err != nil {
			return nil, err
		}
		args = append(args, base)
	}
	root := env.Workspace.Root()
	names := append(append([]string{}, args...), "--name-only", "--no-renames", "-z")
	hidden, err := r.hidden(ctx, append(names, call.pathspec(root, nil)...)...)
	if err != nil {
		return nil, err
	}
	body, err := r.read(ctx, append(append([]string{}, args...), call.pathspec(root, hidden)...)...)
	if err != nil {
		return nil, err
	}
	return call.answer(env, body, "No differences.", len(hidden)), nil
}

// base puts the ids of commits in the place of what names them.
func (r *repository) base(ctx context.Context, base string) (string, error) {
	for _, between := range []string{"...", ".."} {
		from, to, ok := strings.Cut(base, between)
		if !ok {
			continue
		}
		a, err := r.commit(ctx, cmp.Or(from, "HEAD"))
		if err != nil {
			return "", err
		}
		b, err := r.commit(ctx, cmp.Or(to, "HEAD"))
		return a + between + b, err
	}
	return r.commit(ctx, base)
}
