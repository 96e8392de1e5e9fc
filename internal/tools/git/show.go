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

//go:embed git_show.md
var showDescription string

type show struct{}

type showInput struct {
	Ref  string `json:"ref,omitempty" jsonschema:"a commit, branch or tag; HEAD without it"`
	Path string `json:"path,omitempty"`
}

const showSchema = `{"type":"object","properties":{"ref":{"type":"string","description":"a commit, branch or tag; HEAD without it"},` +
	`"path":{"type":"string"}},"additionalProperties":false}`

func (show) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "git_show", Description: strings.TrimSpace(showDescription), Class: tool.ClassRead, Set: "git",
		Schema: json.RawMessage(showSchema),
	}
}

type showCall struct {
	place
	ref string
}

func (show) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[showInput](input)
	if err != nil {
		return nil, err
	}
	call := &showCall{ref: cmp.Or(in.Ref, "HEAD")}
	if err := checkRef(call.ref); err != nil {
		return nil, err
	}
	return planAt(env, in.Path, call, &call.place)
}

func (show) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*showCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	return outcome(call.run(ctx, c.Env))
}

func (call *showCall) run(ctx context.Context, env *tool.Env) (*tool.Output, error) {
	r, err := open(ctx, env)
	if err != nil {
		return nil, err
	}
	commit, err := r.commit(ctx, call.ref)
	if err != nil {
		return nil, err
	}
	root := env.Workspace.Root()
	// The names come without the message, and with nothing before or between them.
	names := append([]string{"diff-tree", "-r", "--root", "-m", "--first-parent", "--no-commit-id", "--relative", "--name-only", "--no-renames", "-z", commit},
		call.pathspec(root, nil)...)
	hidden, err := r.hidden(ctx, names...)
	if err != nil {
		return nil, err
	}
	// The message comes apart: a commit that changes nothing at the path has one too.
	head, err := r.read(ctx, "show", "--no-patch", "--no-show-signature", "--no-notes", "--date=format:%Y-%m-%d %H:%M",
		"--format=commit %H%nAuthor: %an <%ae>%nDate: %ad%n%n%B", commit)
	if err != nil {
		return nil, err
	}
	body, err := r.read(ctx, append([]string{"show", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--ignore-submodules=dirty",
		"--first-parent", "-m", "--no-notes", "--relative", "--format=", commit}, call.pathspec(root, hidden)...)...)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(body) == "" {
		body = "It changes nothing here."
	}
	return answer(strings.TrimRight(head, "\n")+"\n\n"+strings.TrimLeft(body, "\n"), "", len(hidden)), nil
}
