package fileread

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	`"items":{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer","minimum":1},"limit":{"type":"integer","minimum":1}},` +
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
	texts := make([]string, len(call.files))
	pictures := make([][]core.Block, len(call.files))
	unreadable := make([]bool, len(call.files))
	var wg sync.WaitGroup
	var broke atomic.Value
	const together = 2 // a large picture takes hundreds of megabytes while it is scaled
	turn := make(chan struct{}, together)
	for i := range call.files {
		f := &call.files[i]
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			// The pipeline catches a panic only on its own goroutine; see below.
			defer func() {
				if p := recover(); p != nil {
					broke.CompareAndSwap(nil, fmt.Sprintf("read %s: %v\n%s", f.path, p, debug.Stack()))
				}
			}()
			err := f.why
			if err == nil {
				var out *tool.Output
				if out, err = (readFile{}).Run(ctx, &tool.Call{ID: c.ID, Env: c.Env, Plan: f.plan, Progress: c.Progress, Emit: c.Emit, Check: c.Check}); err == nil {
					texts[i], pictures[i] = out.Text, out.Blocks
					return
				}
			}
			texts[i], unreadable[i] = "[unreadable: "+err.Error()+"]", true
		})
	}
	wg.Wait()
	if p := broke.Load(); p != nil {
		panic(p)
	}
	var b strings.Builder
	failed := 0
	for i, f := range call.files {
		if unreadable[i] {
			failed++
		}
		fmt.Fprintf(&b, "===== %s =====\n%s\n", f.path, texts[i])
	}
	out := &tool.Output{
		Text: strings.TrimSuffix(b.String(), "\n"), Blocks: slices.Concat(pictures...),
		Summary: counted(len(call.files)-failed, "file", "files"), IsError: failed == len(call.files),
	}
	if failed > 0 {
		out.Summary += fmt.Sprintf(", %d unreadable", failed)
	}
	return out, ctx.Err()
}
