package fileread

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"garuda/internal/core"
	"garuda/internal/tool"
)

//go:embed read_many_files.md
var readManyDescription string

type readManyFiles struct{}

type readManyInput struct {
	Files []readInput `json:"files" jsonschema:"at most 20"`
}

const readManySchema = `{"type":"object","properties":{"files":{"type":"array","minItems":1,"maxItems":20,"description":"at most 20",` +
	`"items":{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1},"pages":{"type":"string"}},` +
	`"required":["path"],"additionalProperties":false}}},"required":["files"],"additionalProperties":false}`

func (readManyFiles) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "read_many_files", Description: strings.TrimSpace(readManyDescription),
		Class: tool.ClassRead, Set: "edit", Schema: json.RawMessage(readManySchema),
	}
}

// readManyCall is a planned read of several files.
type readManyCall struct{ files []plannedRead }

// plannedRead is one of them; plan is nil when it cannot be read, for why.
type plannedRead struct {
	path string
	plan *tool.Plan
	why  error
}

func (readManyFiles) Plan(ctx context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	var in struct {
		Files []json.RawMessage `json:"files"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	call := &readManyCall{}
	plan := &tool.Plan{ReadOnly: true, Parallel: true, Input: call}
	var names []string
	for _, raw := range in.Files {
		one, err := decode[readInput](raw)
		if err != nil {
			return nil, err
		}
		f := plannedRead{path: one.Path}
		if f.plan, f.why = (readFile{}).Plan(ctx, env, raw); f.why == nil {
			f.why = hidden(env, f.plan)
		}
		call.files = append(call.files, f)
		names = append(names, one.Path)
		if f.why != nil {
			continue
		}
		plan.Effects.Reads = append(plan.Effects.Reads, f.plan.Effects.Reads...)
		for path, real := range f.plan.Effects.Real {
			if plan.Effects.Real == nil {
				plan.Effects.Real = map[string]string{}
			}
			plan.Effects.Real[path] = real
		}
	}
	plan.Target = strings.Join(names, " ")
	return plan, nil
}

// hidden says that a file may not be read, so that it alone is left out and the
// others are read.
func hidden(env *tool.Env, plan *tool.Plan) error {
	for _, path := range plan.Effects.Reads {
		real := plan.Effects.Real[path]
		if !env.MayRead(path) || real != "" && !env.MayRead(real) {
			return errors.New("it is protected; read_file says more")
		}
	}
	return nil
}

func (readManyFiles) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*readManyCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	var b strings.Builder
	var pictures []core.Block
	failed := 0
	for _, f := range call.files {
		text, blocks, err := f.read(ctx, c.Env)
		if err != nil {
			text = "[unreadable: " + err.Error() + "]"
			failed++
		}
		pictures = append(pictures, blocks...)
		fmt.Fprintf(&b, "===== %s =====\n%s\n", f.path, text)
	}
	out := &tool.Output{
		Text: strings.TrimSuffix(b.String(), "\n"), Blocks: pictures,
		Summary: counted(len(call.files)-failed, "file", "files"), IsError: failed == len(call.files),
	}
	if failed > 0 {
		out.Summary += fmt.Sprintf(", %d unreadable", failed)
	}
	return out, ctx.Err()
}

// read reads one of the files, one after the other: each takes well under a
// millisecond, but for pictures, which take much memory while they are scaled.
func (f *plannedRead) read(ctx context.Context, env *tool.Env) (string, []core.Block, error) {
	if f.why != nil {
		return "", nil, f.why
	}
	defer func() { // the pipeline catches it, and its log then says which file it was
		if p := recover(); p != nil {
			panic(fmt.Sprintf("read %s: %v\n%s", f.path, p, debug.Stack()))
		}
	}()
	call, ok := f.plan.Input.(*readCall)
	if !ok {
		return "", nil, errors.New("the plan is of another tool")
	}
	out, err := call.run(ctx, env)
	if err != nil {
		return "", nil, err
	}
	return out.Text, out.Blocks, nil
}
