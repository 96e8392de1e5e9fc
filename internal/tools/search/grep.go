package search

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	grepLimit    = 100
	maxGrepLimit = 500
	maxContext   = 5
)

//go:embed grep.md
var grepDescription string

type grepTool struct{}

type grepInput struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path,omitempty" jsonschema:"folder or file; default: the root"`
	Glob           string `json:"glob,omitempty" jsonschema:"only files that match, such as *.ts"`
	Type           string `json:"type,omitempty" jsonschema:"only files of a kind: go, py, ts …"`
	IgnoreCase     bool   `json:"ignore_case,omitempty"`
	Multiline      bool   `json:"multiline,omitempty" jsonschema:"match across lines; . matches line breaks"`
	Mode           string `json:"mode,omitempty"`
	Before         int    `json:"before,omitempty"`
	After          int    `json:"after,omitempty"`
	Context        int    `json:"context,omitempty" jsonschema:"lines before and after, at most 5"`
	Limit          int    `json:"limit,omitempty" jsonschema:"default 100, at most 500"`
	Offset         int    `json:"offset,omitempty" jsonschema:"skip so many results"`
	IncludeIgnored bool   `json:"include_ignored,omitempty"`
}

const grepSchema = `{"type":"object","properties":{` +
	`"pattern":{"type":"string"},` +
	`"path":{"type":"string","description":"folder or file; default: the root"},` +
	`"glob":{"type":"string","description":"only files that match, such as *.ts"},` +
	`"type":{"type":"string","description":"only files of a kind: go, py, ts …"},` +
	`"ignore_case":{"type":"boolean"},` +
	`"multiline":{"type":"boolean","description":"match across lines; . matches line breaks"},` +
	`"mode":{"type":"string","enum":["files","content","count"]},` +
	`"before":{"type":"integer","minimum":0},` +
	`"after":{"type":"integer","minimum":0},` +
	`"context":{"type":"integer","minimum":0,"description":"lines before and after, at most 5"},` +
	`"limit":{"type":"integer","minimum":1,"description":"default 100, at most 500"},` +
	`"offset":{"type":"integer","minimum":0,"description":"skip so many results"},` +
	`"include_ignored":{"type":"boolean"}},` +
	`"required":["pattern"],"additionalProperties":false}`

func (grepTool) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "grep", Description: strings.TrimSpace(grepDescription),
		Class: tool.ClassRead, Set: "core", Schema: json.RawMessage(grepSchema),
	}
}

// grepCall is a planned search.
type grepCall struct {
	from          workspace.Path
	expr          *expression
	mode          mode
	before, after int
	limit, offset int
	filters       []func(rel, name string) bool
	opt           workspace.WalkOptions
	limits        tool.Limits
}

func (grepTool) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[grepInput](input)
	if err != nil {
		return nil, err
	}
	call := &grepCall{offset: in.Offset}
	around := call.limits.Cap("context", in.Context, maxContext)
	call.before = call.limits.Cap("before", cmp.Or(in.Before, around), maxContext)
	call.after = call.limits.Cap("after", cmp.Or(in.After, around), maxContext)
	call.limit = call.limits.Cap("limit", cmp.Or(in.Limit, grepLimit), maxGrepLimit)
	switch in.Mode {
	case "content":
		call.mode = modeContent
	case "count":
		call.mode = modeCount
	}
	if call.expr, err = compile(in.Pattern, in.IgnoreCase, in.Multiline); err != nil {
		return nil, err
	}
	if err := call.filter(in); err != nil {
		return nil, err
	}
	if call.from, err = env.Workspace.Resolve(cmp.Or(in.Path, ".")); err != nil {
		return nil, err
	}
	call.opt = workspace.WalkOptions{
		IncludeIgnored: in.IncludeIgnored,
		NodeModules:    strings.Contains(in.Glob, "node_modules") || strings.Contains(in.Path, "node_modules"),
	}
	return &tool.Plan{
		Target: call.from.Rel, Label: "/" + in.Pattern + "/" + inFolder(call.from), ReadOnly: true, Parallel: true, Input: call,
		Effects: tool.Effects{Reads: []string{call.from.Abs}, Real: call.from.Through()},
	}, nil
}

// filter prepares glob and type.
func (call *grepCall) filter(in *grepInput) error {
	if in.Glob != "" {
		text, not := strings.CutPrefix(in.Glob, "!")
		pat, err := newPattern(text)
		if err != nil {
			return err
		}
		call.filters = append(call.filters, func(rel, _ string) bool {
			here, below := pat.match(rel)
			return (here || below) != not
		})
	}
	if in.Type != "" {
		is, err := typeFilter(in.Type)
		if err != nil {
			return err
		}
		call.filters = append(call.filters, func(_, name string) bool { return is(name) })
	}
	return nil
}

// grepper is one running search.
type grepper struct {
	ctx      context.Context
	call     *grepCall
	env      *tool.Env
	found    *collector
	scanners []*scanner
}

// visit searches one entry. The error is only ever the end of the context.
func (g *grepper) visit(worker int, e *workspace.Entry) error {
	switch e.Kind {
	case workspace.KindFile:
	case workspace.KindFolder:
		if !g.env.MayReadListed(e.Path().Abs) {
			g.found.refuse()
			return workspace.ErrSkipFolder
		}
		return nil
	default:
		return nil // links are searched where they lead, if that is inside
	}
	p := e.Path()
	if len(g.call.filters) > 0 {
		rel := e.Below(g.call.from)
		for _, passes := range g.call.filters {
			if !passes(rel, e.Name) {
				return nil
			}
		}
	}
	if !g.env.MayReadListed(p.Abs) {
		g.found.refuse()
		return nil
	}
	f, err := e.Open()
	if err != nil {
		g.found.failed(p.Rel, err)
		return nil
	}
	defer f.Close()
	matches, err := g.scanner(worker).file(g.ctx, f)
	if err != nil {
		if g.ctx.Err() != nil {
			return g.ctx.Err()
		}
		g.found.failed(p.Rel, err)
		return nil
	}
	if matches != nil {
		matches.path = showPath(p.Rel)
	}
	g.found.add(matches)
	return nil
}

func (g *grepper) scanner(worker int) *scanner {
	if g.scanners[worker] == nil {
		g.scanners[worker] = newScanner(g.call.expr, g.call.mode, g.call.before, g.call.after, g.found.need)
	}
	return g.scanners[worker]
}

func (grepTool) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*grepCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	if !call.from.Exists {
		return nil, c.Env.Workspace.NotFound(call.from, c.Env.MayRead)
	}
	g := &grepper{
		ctx: ctx, call: call, env: c.Env,
		found:    &collector{mode: call.mode, need: call.offset + call.limit},
		scanners: make([]*scanner, workspace.WalkWorkers()),
	}
	report, err := g.search()
	ended := ctx.Err()
	if err != nil && ended == nil {
		return nil, err
	}
	g.found.prune()
	out := g.output(report)
	call.limits.Tell(out)
	if ended != nil {
		out.IsError = true
		out.Text = fmt.Sprintf("Error: the search was ended early (%v); it found this much:\n%s", context.Cause(ctx), out.Text)
	}
	return out, nil
}

// search searches the folder or file that the call names.
func (g *grepper) search() (*workspace.WalkReport, error) {
	switch from := g.call.from; from.Info.Kind {
	case workspace.KindFolder:
		return g.env.Workspace.Walk(g.ctx, from, g.call.opt, g.visit)
	case workspace.KindFile:
		return &workspace.WalkReport{}, g.single()
	default:
		return &workspace.WalkReport{}, &workspace.SpecialError{Path: from.Rel, What: from.Info.Kind.String()}
	}
}

// single searches the one file that the call names; what a search of a folder
// only counts is an error then.
func (g *grepper) single() error {
	p := g.call.from
	if !g.env.MayRead(p.Abs) || !g.env.MayRead(p.Real) {
		return fmt.Errorf("%s may not be read: it is protected; go on without it, or ask the user for what you need of it", p.Rel)
	}
	f, err := g.env.Workspace.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	matches, err := g.scanner(0).file(g.ctx, f)
	switch {
	case errors.Is(err, errBinary):
		return fmt.Errorf("%s is not text: it is binary, which is not searched; bash has programs for it, such as strings", p.Rel)
	case err != nil:
		return fmt.Errorf("search %s: %w", p.Rel, err)
	}
	if matches != nil {
		matches.path = showPath(p.Rel)
	}
	g.found.add(matches)
	return nil
}
