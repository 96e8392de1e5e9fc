package fileedit

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

//go:embed move_file.md
var moveFileDescription string

type moveFile struct{}

type moveInput struct {
	From string `json:"from" jsonschema:"the file, relative to the root or absolute"`
	To   string `json:"to" jsonschema:"its new path, not a folder"`
}

const moveSchema = `{"type":"object","properties":{` +
	`"from":{"type":"string","description":"the file, relative to the root or absolute"},` +
	`"to":{"type":"string","description":"its new path, not a folder"}},` +
	`"required":["from","to"],"additionalProperties":false}`

func (moveFile) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "move_file", Description: strings.TrimSpace(moveFileDescription),
		Class: tool.ClassPath, Set: "edit", Schema: json.RawMessage(moveSchema),
	}
}

type moveCall struct{ from, to workspace.Path }

func (moveFile) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[moveInput](input)
	if err != nil {
		return nil, err
	}
	from, err := entry(env, in.From)
	if err != nil {
		return nil, err
	}
	to, err := newPlace(env, in.To)
	if err != nil {
		return nil, err
	}
	change := tool.Change{Path: from.Abs, MovedTo: to.Abs}
	effects := effectsOf([]workspace.Path{from, to}, change)
	effects.Reads = []string{from.Abs} // it could be read under its new name
	return &tool.Plan{
		Target: from.Rel, Label: from.Rel + " → " + to.Rel,
		Preview: "rename " + from.Rel + " → " + to.Rel,
		Effects: effects, Input: &moveCall{from, to},
	}, nil
}

// entry finds the file or link that is to be moved or deleted.
func entry(env *tool.Env, path string) (workspace.Path, error) {
	p, err := env.Workspace.ResolveEntry(path)
	switch {
	case err != nil:
		return p, err
	case !p.Exists:
		return p, env.Workspace.NotFound(p, env.MayRead)
	case p.Info.Kind == workspace.KindFolder:
		return p, fmt.Errorf("%s is a folder; only single files are moved and deleted", p.Rel)
	}
	return p, nil
}

// newPlace resolves where nothing may be yet, also no link that leads nowhere.
func newPlace(env *tool.Env, path string) (workspace.Path, error) {
	p, err := env.Workspace.Resolve(path)
	if err != nil {
		return p, err
	}
	if at, err := env.Workspace.ResolveEntry(path); err == nil && at.Exists {
		p = at
	}
	switch {
	case !p.Exists:
		return p, nil
	case p.Info.Kind == workspace.KindFolder:
		return p, fmt.Errorf("%s is a folder; name the new path of the file itself, such as %s/NAME", p.Rel, p.Rel)
	}
	return p, fmt.Errorf("%s is there already, and is not overwritten; take another name, change it with edit_file, or delete it first", p.Rel)
}

// effectsOf are the effects of changes at several paths.
func effectsOf(paths []workspace.Path, changes ...tool.Change) tool.Effects {
	e := tool.Effects{Changes: changes}
	for _, p := range paths {
		e.Writes = append(e.Writes, p.Abs)
		for abs, real := range p.Through() {
			if e.Real == nil {
				e.Real = map[string]string{}
			}
			e.Real[abs] = real
		}
	}
	return e
}

func (moveFile) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*moveCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	defer lockAll(c.Env.Workspace, call.from, call.to)()
	done, err := c.Env.Workspace.Move(call.from, call.to, call.from.Info)
	if err != nil {
		return nil, err
	}
	c.Env.Tracker.Moved(call.from.Real, call.to.Real)
	text := fmt.Sprintf("Moved %s to %s.", call.from.Rel, call.to.Rel)
	if len(done.Folders) > 0 {
		text += fmt.Sprintf(" New folders: %s.", strings.Join(done.Folders, ", "))
	}
	return &tool.Output{Text: text + notes(done.Notes), Summary: "to " + call.to.Rel}, nil
}
