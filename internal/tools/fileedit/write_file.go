package fileedit

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

//go:embed write_file.md
var writeFileDescription string

type writeFile struct{}

type writeInput struct {
	Path    string `json:"path" jsonschema:"relative to the root, or absolute"`
	Content string `json:"content" jsonschema:"the whole text"`
}

const writeSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"relative to the root, or absolute"},` +
	`"content":{"type":"string","description":"the whole text"}},` +
	`"required":["path","content"],"additionalProperties":false}`

func (writeFile) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "write_file", Description: strings.TrimSpace(writeFileDescription),
		Class: tool.ClassPath, Set: "core", Schema: json.RawMessage(writeSchema),
	}
}

// writeCall is a planned write.
type writeCall struct {
	path workspace.Path
	raw  []byte // the file's bytes afterwards
	lf   string // its text
	diff string
	// was is how the file looked when it was planned; nil for a new file.
	was *workspace.Contents
	// unseen: the file may not be read, so nothing was planned.
	unseen bool
}

func (writeFile) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[writeInput](input)
	if err != nil {
		return nil, err
	}
	p, err := env.Workspace.Resolve(in.Path)
	if err != nil {
		return nil, err
	}
	call := &writeCall{path: p}
	var old *string
	switch {
	case p.Exists && !mayLookInside(env, p):
		call.unseen = true
		return &tool.Plan{Target: p.Rel, Input: call, Effects: effectsOf([]workspace.Path{p})}, nil
	case p.Exists:
		before, err := call.overwrite(env, in.Content)
		if err != nil {
			return nil, err
		}
		old = &before
	default:
		err = call.create(env, in.Content)
	}
	if err != nil {
		return nil, err
	}
	return &tool.Plan{
		Target: p.Rel, Preview: call.diff, Input: call,
		Effects: effectsOf([]workspace.Path{p}, tool.Change{Path: p.Abs, Old: old, New: &call.lf}),
	}, nil
}

func (call *writeCall) create(env *tool.Env, content string) error {
	text := env.Workspace.NewText(call.path)
	call.lf = content
	newlines := text.Newline
	if strings.Contains(content, "\r\n") {
		newlines = workspace.LF // the model chose its newlines
	}
	var err error
	if call.raw, err = text.Rewrite(content, newlines); err != nil {
		return fmt.Errorf("write %s: %w", call.path.Rel, err)
	}
	call.diff = udiff.Unified("/dev/null", call.path.Rel, "", content)
	return nil
}

// overwrite plans the replacement of a whole file and returns its text.
func (call *writeCall) overwrite(env *tool.Env, content string) (old string, err error) {
	p := call.path
	was, err := env.Workspace.ReadFile(p)
	if err != nil {
		return "", err
	}
	if workspace.IsBinary(was.Raw) {
		return "", fmt.Errorf("%s is not text: it is %s, which is not replaced by text; delete it first if that is meant", p.Rel, workspace.FileType(was.Raw))
	}
	if err := mayOverwrite(env, p, was.Snapshot); err != nil {
		return "", err
	}
	text := was.Text()
	call.was, call.lf = was, workspace.ToLF(content)
	newlines := text.Newline
	if newlines == workspace.NoNewline {
		newlines = env.Workspace.NewFileStyle(p).Newline
	}
	if call.raw, err = text.Rewrite(call.lf, newlines); err != nil {
		return "", fmt.Errorf("write %s: %w", p.Rel, err)
	}
	if string(call.raw) == string(was.Raw) {
		return "", fmt.Errorf("%s already holds exactly this text; nothing is to be done", p.Rel)
	}
	call.diff = udiff.Unified(p.Rel, p.Rel, text.LF, call.lf)
	return text.LF, nil
}

// mayOverwrite refuses to replace what the model has not seen.
func mayOverwrite(env *tool.Env, p workspace.Path, now workspace.Snapshot) error {
	switch {
	case env.Tracker.Whole(p.Real, now):
		return nil
	case env.Tracker.Status(p.Real, now) == workspace.Unread:
		return fmt.Errorf("%s exists and was not read in this session; read all of it with read_file first, or change parts of it with edit_file", p.Rel)
	case env.Tracker.Status(p.Real, now) == workspace.Changed:
		return fmt.Errorf("%s changed since it was read; read it again first", p.Rel)
	}
	var seen []string
	for _, l := range env.Tracker.Seen(p.Real) {
		seen = append(seen, fmt.Sprintf("%d-%d", l.From, l.To))
	}
	if len(seen) == 0 {
		seen = []string{"none"}
	}
	return fmt.Errorf("only a part of %s was read (complete lines: %s); read the rest first, or change parts of it with edit_file", p.Rel, strings.Join(seen, ", "))
}

func (writeFile) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*writeCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	p, w := call.path, c.Env.Workspace
	if call.unseen {
		return nil, fmt.Errorf("%s may not be read: it is protected, so it cannot be overwritten; tell the user what to write into it", p.Rel)
	}
	defer w.Lock(p)()
	var done *workspace.Written
	verb := "Created"
	if call.was == nil {
		var err error
		if done, err = w.Create(p, call.raw); err != nil {
			return nil, err
		}
	} else {
		now, err := w.ReadFile(p)
		if err != nil {
			return nil, err
		}
		if !now.Snapshot.Same(call.was.Snapshot) {
			return nil, &workspace.ChangedError{Path: p.Rel, How: "changed after the overwriting of it was planned, and was left alone"}
		}
		if done, err = w.Replace(p, now.Info, call.raw); err != nil {
			return nil, err
		}
		verb = "Wrote"
	}
	c.Env.Tracker.Wrote(p.Real, done.Snapshot)
	lines := countLines(workspace.CountLines(workspace.ToLF(call.lf)))
	text := fmt.Sprintf("%s %s (%s).", verb, p.Rel, lines)
	if len(done.Folders) > 0 {
		text += fmt.Sprintf(" New folders: %s.", strings.Join(done.Folders, ", "))
	}
	return &tool.Output{Text: text + notes(done.Notes), Summary: lines, Diff: call.diff}, nil
}

// notes are what a write could not keep, as lines of their own.
func notes(list []string) string {
	var b strings.Builder
	for _, n := range list {
		b.WriteString("\n[" + n + "]")
	}
	return b.String()
}
