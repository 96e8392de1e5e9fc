package search

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	globLimit    = 200
	maxGlobLimit = 1000
)

//go:embed glob.md
var globDescription string

type globTool struct{}

type globInput struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path,omitempty" jsonschema:"folder; default: the root"`
	Limit          int    `json:"limit,omitempty" jsonschema:"default 200, at most 1000"`
	IncludeIgnored bool   `json:"include_ignored,omitempty"`
}

const globSchema = `{"type":"object","properties":{` +
	`"pattern":{"type":"string"},` +
	`"path":{"type":"string","description":"folder; default: the root"},` +
	`"limit":{"type":"integer","minimum":1,"description":"default 200, at most 1000"},` +
	`"include_ignored":{"type":"boolean"}},` +
	`"required":["pattern"],"additionalProperties":false}`

func (globTool) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "glob", Description: strings.TrimSpace(globDescription),
		Class: tool.ClassRead, Set: "core", Schema: json.RawMessage(globSchema),
	}
}

// globCall is a planned search by name.
type globCall struct {
	from    workspace.Path
	pattern pattern
	limit   int
	opt     workspace.WalkOptions
	limits  tool.Limits
}

func (globTool) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[globInput](input)
	if err != nil {
		return nil, err
	}
	pat, err := newPattern(in.Pattern)
	if err != nil {
		return nil, err
	}
	from, err := env.Workspace.Resolve(cmp.Or(in.Path, "."))
	if err != nil {
		return nil, err
	}
	call := &globCall{from: from, pattern: pat}
	call.limit = call.limits.Cap("limit", cmp.Or(in.Limit, globLimit), maxGlobLimit)
	call.opt = workspace.WalkOptions{
		IncludeIgnored: in.IncludeIgnored,
		NodeModules:    strings.Contains(in.Pattern, "node_modules") || strings.Contains(in.Path, "node_modules"),
	}
	return &tool.Plan{
		Target: from.Rel, Label: in.Pattern + inFolder(from), ReadOnly: true, Parallel: true, Input: call,
		Effects: tool.Effects{Reads: []string{from.Abs}, Real: from.Through()},
	}, nil
}

// inFolder says where a search looks, unless that is the whole root.
func inFolder(p workspace.Path) string {
	if p.Rel == "." {
		return ""
	}
	return " in " + p.Rel
}

// found is one file that matches.
type found struct {
	path string
	time time.Time
}

// globber collects what matches while the walk goes on.
type globber struct {
	call *globCall
	env  *tool.Env

	files   atomic.Int64 // that were looked at
	folders atomic.Int64 // that match although files are wanted

	mu          sync.Mutex
	here, below []found
}

func (g *globber) visit(_ int, e *workspace.Entry) error {
	folder := e.Kind == workspace.KindFolder
	if folder && !g.env.MayReadListed(e.Path().Abs) {
		return workspace.ErrSkipFolder
	}
	here, below := g.call.pattern.match(e.Below(g.call.from))
	if folder != g.call.pattern.folders {
		if folder && here {
			g.folders.Add(1)
		} else if !folder {
			g.files.Add(1)
		}
		return nil
	}
	g.files.Add(1)
	if !here && !below {
		return nil
	}
	p := e.Path()
	if !g.mayName(p) {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return nil // it was removed meanwhile
	}
	match := found{showPath(p.Rel), info.ModTime}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case here:
		g.here = append(g.here, match)
	case len(g.here) == 0:
		g.below = append(g.below, match)
	}
	return nil
}

// mayName reports whether a listing may name this entry; a link is judged by
// where it leads too, and one that leads outside is not named.
func (g *globber) mayName(p workspace.Path) bool {
	if p.Info.Kind != workspace.KindLink {
		return (p.Info.Kind == workspace.KindFile || p.Info.Kind == workspace.KindFolder) && g.env.MayReadListed(p.Abs)
	}
	if !g.env.MayRead(p.Abs) {
		return false
	}
	to, err := g.env.Workspace.Resolve(p.Abs)
	return err == nil && to.Exists && to.Info.Kind == workspace.KindFile && g.env.MayRead(to.Real)
}

func (globTool) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*globCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	if !call.from.Exists {
		return nil, c.Env.Workspace.NotFound(call.from, c.Env.MayRead)
	}
	g := &globber{call: call, env: c.Env}
	report, err := c.Env.Workspace.Walk(ctx, call.from, call.opt, g.visit)
	ended := ctx.Err()
	if err != nil && ended == nil {
		return nil, err
	}
	out := g.output(report)
	call.limits.Tell(out)
	if ended != nil {
		out.IsError = true
		out.Text = fmt.Sprintf("Error: the search was ended early (%v); it found this much:\n%s", context.Cause(ctx), out.Text)
	}
	return out, nil
}

func (g *globber) output(report *workspace.WalkReport) *tool.Output {
	list, note := g.here, ""
	if len(list) == 0 && len(g.below) > 0 {
		list = g.below
		note = fmt.Sprintf("[nothing matches %s from %s on; these match it below]", g.call.pattern.text, g.call.from.Rel)
	}
	if len(list) == 0 {
		return &tool.Output{Text: g.nothing(report), Summary: "0 files"}
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(b.time.Compare(a.time), cmp.Compare(a.path, b.path))
	})
	var b strings.Builder
	for _, f := range list[:min(len(list), g.call.limit)] {
		b.WriteString(f.path)
		b.WriteByte('\n')
	}
	if note != "" {
		b.WriteString(note + "\n")
	}
	if len(list) > g.call.limit {
		fmt.Fprintf(&b, "[the %d newest of %d; narrow the pattern", g.call.limit, len(list))
		if g.call.limit < maxGlobLimit {
			fmt.Fprintf(&b, " or raise limit (at most %d)", maxGlobLimit)
		}
		b.WriteString("]\n")
	}
	if report.NodeModules > 0 && !g.call.opt.IncludeIgnored {
		b.WriteString("[node_modules was left out; name it in the pattern or set include_ignored]\n")
	}
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n"), Summary: counted(len(list), "file", "files")}
}

func (g *globber) nothing(report *workspace.WalkReport) string {
	what := counted(int(g.files.Load()), "file", "files")
	if g.call.pattern.folders {
		what = counted(int(g.files.Load()), "folder", "folders")
	}
	parts := append([]string{what + " looked at"}, unseen(report, g.call.opt.IncludeIgnored)...)
	if n := int(g.folders.Load()); n > 0 {
		parts = append(parts, counted(n, "folder matches", "folders match")+"; end the pattern in / to list folders")
	}
	return fmt.Sprintf("No files match %s in %s: %s.", g.call.pattern.text, g.call.from.Rel, strings.Join(parts, "; "))
}
