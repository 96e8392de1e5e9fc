package fileread

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

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	defaultDepth = 2
	maxDepth     = 6
	maxEntries   = 300
	// maxListed bounds what one listing holds in memory.
	maxListed = 200_000
)

//go:embed list_dir.md
var listDirDescription string

type listDir struct{}

type listInput struct {
	Path           string `json:"path,omitempty" jsonschema:"folder; default: the root"`
	Depth          int    `json:"depth,omitempty" jsonschema:"levels, 1-6, default 2"`
	IncludeIgnored bool   `json:"include_ignored,omitempty"`
}

const listSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"folder; default: the root"},` +
	`"depth":{"type":"integer","minimum":1,"description":"levels, 1-6, default 2"},` +
	`"include_ignored":{"type":"boolean"}},` +
	`"additionalProperties":false}`

func (listDir) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "list_dir", Description: strings.TrimSpace(listDirDescription),
		Class: tool.ClassRead, Set: "edit", Schema: json.RawMessage(listSchema),
	}
}

// listCall is a planned listing.
type listCall struct {
	path   workspace.Path
	depth  int
	opt    workspace.WalkOptions
	limits tool.Limits
}

func (listDir) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[listInput](input)
	if err != nil {
		return nil, err
	}
	path, err := env.Workspace.Resolve(cmp.Or(in.Path, "."))
	if err != nil {
		return nil, err
	}
	call := &listCall{path: path}
	call.depth = call.limits.Cap("depth", cmp.Or(in.Depth, defaultDepth), maxDepth)
	call.opt = workspace.WalkOptions{
		IncludeIgnored: in.IncludeIgnored, Depth: call.depth,
		NodeModules: strings.Contains(in.Path, "node_modules"),
	}
	return &tool.Plan{
		Target: path.Rel, ReadOnly: true, Parallel: true, Input: call,
		Effects: tool.Effects{Reads: []string{path.Abs}, Real: path.Through()},
	}, nil
}

// node is one line of the tree.
type node struct {
	name     string
	path     workspace.Path
	children []*node
	hidden   int // entries below that are not shown for lack of room
	shown    bool
}

func (listDir) Run(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*listCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	if !call.path.Exists {
		return nil, c.Env.Workspace.NotFound(call.path, c.Env.MayRead)
	}
	found, report, full, err := call.walk(ctx, c.Env)
	if err != nil {
		return nil, err
	}
	top, total := tree(call.path, found)
	left := choose(top, total)
	l := &listing{w: c.Env.Workspace, depth: call.depth}
	l.out.WriteString(call.path.Rel + "/\n")
	l.level(top.children, 1)
	if total == 0 {
		l.out.WriteString("(nothing to show)\n")
	}
	l.notes(report, left, full)
	out := &tool.Output{Text: strings.TrimSuffix(l.out.String(), "\n"), Summary: counted(total-left, "entry", "entries")}
	call.limits.Tell(out)
	return out, nil
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// walk collects the entries that may be named.
func (call *listCall) walk(ctx context.Context, env *tool.Env) ([]workspace.Path, *workspace.WalkReport, bool, error) {
	var mu sync.Mutex
	var found []workspace.Path
	full := false
	report, err := env.Workspace.Walk(ctx, call.path, call.opt, func(_ int, e *workspace.Entry) error {
		p := e.Path()
		if !env.MayRead(p.Abs) {
			return workspace.ErrSkipFolder
		}
		mu.Lock()
		defer mu.Unlock()
		if len(found) >= maxListed {
			full = true
			return workspace.ErrSkipFolder
		}
		found = append(found, p)
		return nil
	})
	return found, report, full, err
}

// tree builds the tree, sorted by name.
func tree(from workspace.Path, found []workspace.Path) (top *node, total int) {
	slices.SortFunc(found, func(a, b workspace.Path) int { return cmp.Compare(a.Real, b.Real) })
	top = &node{path: from, shown: true}
	folders := map[string]*node{from.Real: top}
	for _, p := range found {
		dir, name := p.Split()
		parent := folders[dir]
		if parent == nil {
			continue // its folder is not named, or appeared during the walk
		}
		n := &node{name: name, path: p}
		parent.children = append(parent.children, n)
		if p.Info.Kind == workspace.KindFolder {
			folders[p.Real] = n
		}
		total++
	}
	return top, total
}

// choose marks the entries that are shown: level by level, so that a large
// folder cannot push its neighbours out, and says how many are not.
func choose(top *node, total int) (left int) {
	room := maxEntries
	level := []*node{top}
	for len(level) > 0 {
		var next []*node
		for _, n := range level {
			for _, child := range n.children {
				if room == 0 {
					n.hidden++
					continue
				}
				room--
				child.shown = true
				next = append(next, child)
			}
		}
		level = next
	}
	return max(0, total-maxEntries)
}

// listing is the text as it grows.
type listing struct {
	w     *workspace.Workspace
	depth int
	out   strings.Builder
}

func (l *listing) level(nodes []*node, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, n := range nodes {
		if !n.shown {
			continue
		}
		l.out.WriteString(indent)
		l.out.WriteString(showName(n.name))
		switch n.path.Info.Kind {
		case workspace.KindFolder:
			l.out.WriteByte('/')
			if depth == l.depth {
				l.out.WriteString(" …")
			} else if n.hidden > 0 {
				fmt.Fprintf(&l.out, " … (%d not shown)", n.hidden)
			}
		case workspace.KindLink:
			if target, err := l.w.Readlink(n.path); err == nil {
				l.out.WriteString(" -> " + showName(target))
			}
		case workspace.KindFile:
			if info, err := l.w.Lstat(n.path); err == nil {
				l.out.WriteString("  " + Size(info.Size))
			}
		default:
			l.out.WriteString("  (" + n.path.Info.Kind.String() + ")")
		}
		l.out.WriteByte('\n')
		l.level(n.children, depth+1)
	}
}

func (l *listing) notes(report *workspace.WalkReport, left int, full bool) {
	note := func(format string, args ...any) { fmt.Fprintf(&l.out, format+"\n", args...) }
	if left > 0 {
		note("[%d more entries are not shown; list a folder below, or use glob]", left)
	}
	if full {
		note("[there is more than was looked at; list a folder below]")
	}
	if report.Ignored > 0 {
		note("[%s ignored; include_ignored shows them]", counted(report.Ignored, "entry is", "entries are"))
	}
	if report.UnreadableCount > 0 {
		note("[could not be read: %s]", strings.Join(report.Unreadable, ", "))
	}
}

// showName keeps a name with line breaks or other control characters, or bytes
// that are no UTF-8, from looking like something else.
func showName(name string) string {
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '\ufffd' || r >= 0x80 && r < 0xa0 {
			return fmt.Sprintf("%q", name)
		}
	}
	return name
}
