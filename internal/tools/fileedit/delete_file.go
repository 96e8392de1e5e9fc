package fileedit

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

//go:embed delete_file.md
var deleteFileDescription string

type deleteFile struct{}

type deleteInput struct {
	Path string `json:"path" jsonschema:"relative to the root, or absolute"`
}

const deleteSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"relative to the root, or absolute"}},` +
	`"required":["path"],"additionalProperties":false}`

func (deleteFile) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "delete_file", Description: strings.TrimSpace(deleteFileDescription),
		Class: tool.ClassPath, Set: "edit", Schema: json.RawMessage(deleteSchema),
	}
}

func (deleteFile) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[deleteInput](input)
	if err != nil {
		return nil, err
	}
	p, err := entry(env, in.Path)
	if err != nil {
		return nil, err
	}
	change, preview := tool.Change{Path: p.Abs}, "delete "+p.Rel
	if p.Info.Kind == workspace.KindFile && mayLookInside(env, p) {
		if c, err := env.Workspace.ReadFile(p); err == nil && !workspace.IsBinary(c.Raw) {
			text := c.Text().LF
			change.Old = &text
			if preview, err = deletion(p.Rel, text); err != nil {
				return nil, err
			}
		}
	}
	return &tool.Plan{
		Target: p.Rel, Preview: preview, Destructive: true,
		Effects: effectsOf([]workspace.Path{p}, change), Input: &p,
	}, nil
}

// deletion is the diff of a file that goes.
func deletion(name, text string) (string, error) {
	return diff(name, "/dev/null", text, []workspace.Edit{{Start: 0, End: len(text)}})
}

func (deleteFile) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	p, ok := c.Plan.Input.(*workspace.Path)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	defer c.Env.Workspace.Lock(*p)()
	if err := c.Env.Workspace.Remove(*p, p.Info); err != nil {
		return nil, err
	}
	c.Env.Tracker.Removed(p.Real)
	return &tool.Output{Text: "Deleted " + p.Rel + ".", Summary: "deleted"}, nil
}

// lockAll locks several files, always in the same order, so that two calls never
// wait for each other.
func lockAll(w *workspace.Workspace, paths ...workspace.Path) (unlock func()) {
	slices.SortFunc(paths, func(a, b workspace.Path) int { return strings.Compare(a.Real, b.Real) })
	paths = slices.CompactFunc(paths, func(a, b workspace.Path) bool { return a.Real == b.Real })
	var unlocks []func()
	for _, p := range paths {
		unlocks = append(unlocks, w.Lock(p))
	}
	return func() {
		for _, u := range unlocks {
			u()
		}
	}
}
