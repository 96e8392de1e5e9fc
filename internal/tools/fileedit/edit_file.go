package fileedit

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/tool"
	"garuda/internal/tools/fileread"
	"garuda/internal/workspace"
)

//go:embed edit_file.md
var editFileDescription string

type editFile struct{}

type editInput struct {
	Path       string `json:"path" jsonschema:"relative to the root, or absolute"`
	OldString  string `json:"old_string" jsonschema:"the exact text to replace"`
	NewString  string `json:"new_string" jsonschema:"what stands there afterwards"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"every occurrence"`
}

const editSchema = `{"type":"object","properties":{` +
	`"path":{"type":"string","description":"relative to the root, or absolute"},` +
	`"old_string":{"type":"string","description":"the exact text to replace"},` +
	`"new_string":{"type":"string","description":"what stands there afterwards"},` +
	`"replace_all":{"type":"boolean","description":"every occurrence"}},` +
	`"required":["path","old_string","new_string"],"additionalProperties":false}`

func (editFile) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "edit_file", Description: strings.TrimSpace(editFileDescription),
		Class: tool.ClassPath, Set: "core", Schema: json.RawMessage(editSchema),
	}
}

// editCall is a planned edit.
type editCall struct {
	path workspace.Path
	in   *editInput
	// planned is nil when the file may not be read.
	planned *edited
}

// edited is one edit worked out against a file's contents.
type edited struct {
	was   *workspace.Contents
	text  *workspace.Text
	edits []workspace.Edit
	raw   []byte // afterwards
	lf    string
	diff  string
	// stale: the file differs from what was read of it.
	stale bool
}

func (editFile) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[editInput](input)
	if err != nil {
		return nil, err
	}
	p, err := env.Workspace.Resolve(in.Path)
	if err != nil {
		return nil, err
	}
	call := &editCall{path: p, in: in}
	if !mayLookInside(env, p) {
		return &tool.Plan{Target: p.Rel, Input: call, Effects: writeEffects(p)}, nil
	}
	if !p.Exists {
		return nil, env.Workspace.NotFound(p, env.MayRead)
	}
	if call.planned, err = call.work(env); err != nil {
		return nil, err
	}
	return &tool.Plan{
		Target: p.Rel, Preview: call.planned.diff, Input: call,
		Effects: writeEffects(p, tool.Change{Path: p.Abs, Old: &call.planned.text.LF, New: &call.planned.lf}),
	}, nil
}

// work plans the edit against the disk.
func (call *editCall) work(env *tool.Env) (*edited, error) {
	p := call.path
	was, err := env.Workspace.ReadFile(p)
	if err != nil {
		return nil, err
	}
	state := env.Tracker.Status(p.Real, was.Snapshot)
	if state == workspace.Unread {
		return nil, fmt.Errorf("%s was not read in this session; read the part you want to change with read_file first", p.Rel)
	}
	if workspace.IsBinary(was.Raw) {
		return nil, fmt.Errorf("%s is not text: it is %s", p.Rel, workspace.FileType(was.Raw))
	}
	e := &edited{was: was, text: workspace.Decode(was.Raw), stale: state == workspace.Changed}
	if e.edits, err = call.find(e); err != nil {
		return nil, err
	}
	if e.raw, e.lf, err = e.text.Splice(e.edits); err != nil {
		return nil, fmt.Errorf("edit %s: %w", p.Rel, err)
	}
	e.diff, err = diff(p.Rel, p.Rel, e.text.LF, e.edits)
	return e, err
}

// find locates old_string.
func (call *editCall) find(e *edited) ([]workspace.Edit, error) {
	old, with := call.in.OldString, call.in.NewString
	if old == "" {
		return nil, errors.New("old_string is empty; to add text, replace a line by itself and the new text; to make a new file, use write_file")
	}
	if old == with {
		return nil, errors.New("old_string and new_string are the same; nothing would change")
	}
	lf, p := e.text.LF, call.path
	if !strings.Contains(lf, old) { // a file is matched with LF, whatever it has
		old = workspace.ToLF(old)
	}
	with = workspace.ToLF(with)
	if old == with {
		return nil, errors.New("old_string and new_string differ only in CRLF and LF, and a file keeps its own newlines; nothing would change")
	}
	at := occurrences(lf, old, call.in.ReplaceAll)
	switch {
	case len(at) == 0:
		return nil, fmt.Errorf("old_string occurs 0 times in %s (%s).%s", p.Rel, countLines(workspace.CountLines(lf)), explainMiss(lf, old, e.stale))
	case len(at) > 1 && !call.in.ReplaceAll:
		return nil, fmt.Errorf("old_string occurs %d times in %s, at %s; add lines around it until it is unique, or set replace_all", len(at), p.Rel, atLines(lf, at))
	case e.stale && call.in.ReplaceAll && len(at) > 1:
		return nil, fmt.Errorf("%s changed since it was read, and old_string occurs %d times in it now; read it again before you replace them all", p.Rel, len(at))
	}
	edits := make([]workspace.Edit, len(at))
	for i, start := range at {
		edits[i] = workspace.Edit{Start: start, End: start + len(old), New: with}
	}
	return edits, nil
}

// occurrences finds where old begins in text. Those that are to be replaced do
// not overlap; when one must be unique, overlapping ones count too.
func occurrences(text, old string, apart bool) []int {
	step := len(old)
	if !apart {
		step = 1
	}
	var at []int
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return at
		}
		at = append(at, from+i)
		from += i + step
		if from > len(text) {
			return at
		}
	}
}

func lineOf(lf string, offset int) int { return 1 + strings.Count(lf[:offset], "\n") }

// atLines names the lines of offsets: "line 3", "lines 3, 8 and 20".
func atLines(lf string, at []int) string {
	const most = 20
	var names []string
	line, from := 1, 0
	for i, offset := range at {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(at)-most))
			break
		}
		line += strings.Count(lf[from:offset], "\n")
		from = offset
		names = append(names, fmt.Sprint(line))
	}
	if len(names) == 1 {
		return "line " + names[0]
	}
	return "lines " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func (editFile) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*editCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	p, w := call.path, c.Env.Workspace
	if call.planned == nil {
		return nil, fmt.Errorf("%s may not be read, so it cannot be edited", p.Rel)
	}
	defer w.Lock(p)()
	e, err := call.work(c.Env)
	if err != nil {
		return nil, err
	}
	moved := !e.was.Snapshot.Same(call.planned.was.Snapshot)
	if moved && (len(e.edits) != 1 || len(call.planned.edits) != 1) {
		return nil, &workspace.ChangedError{Path: p.Rel, How: "changed after the edit was planned, so that it would not be the change that was reviewed; nothing was written"}
	}
	done, err := w.Replace(p, e.was.Info, e.raw)
	if err != nil {
		return nil, err
	}
	c.Env.Tracker.Edited(p.Real, e.was.Snapshot, done.Snapshot, e.lineEdits())
	return &tool.Output{
		Text:    call.report(e, e.stale || moved) + notes(done.Notes),
		Summary: changedLines(e.diff),
		Diff:    e.diff,
	}, nil
}

// lineEdits says which lines were replaced by how many.
func (e *edited) lineEdits() []workspace.LineEdit {
	out := make([]workspace.LineEdit, len(e.edits))
	for i, edit := range e.edits {
		from := lineOf(e.text.LF, edit.Start)
		out[i] = workspace.LineEdit{
			Old: workspace.Lines{From: from, To: from + strings.Count(e.text.LF[edit.Start:edit.End], "\n")},
			New: 1 + strings.Count(edit.New, "\n"),
		}
	}
	return out
}

// report is the result's text.
func (call *editCall) report(e *edited, changed bool) string {
	at := make([]int, len(e.edits))
	for i, edit := range e.edits {
		at[i] = edit.Start
	}
	n := "1 replacement"
	if len(at) > 1 {
		n = fmt.Sprintf("%d replacements", len(at))
	}
	text := fmt.Sprintf("Edited %s: %s at %s.", call.path.Rel, n, atLines(e.text.LF, at))
	if !changed {
		return text
	}
	from := lineOf(e.text.LF, e.edits[0].Start)
	to := from + strings.Count(e.edits[0].New, "\n")
	return text + "\nThe file had changed since it was read. Around the edit it is now:\n" + surroundings(e.lf, from-diffContext, to+diffContext)
}

// surroundings shows some lines of a text, numbered.
func surroundings(lf string, from, to int) string {
	from = max(1, from)
	var out []byte
	number := 0
	width := fileread.Width(to)
	for line := range strings.Lines(lf) {
		if number++; number > to {
			break
		}
		if number >= from {
			out, _ = fileread.AppendLine(out, number, width, strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.TrimSuffix(string(out), "\n")
}

// changedLines counts a diff's lines: "+3 -1".
func changedLines(diff string) string {
	added, removed := 0, 0
	for i, line := range strings.Split(diff, "\n") {
		switch {
		case i < 2: // the names
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return fmt.Sprintf("+%d -%d", added, removed)
}
