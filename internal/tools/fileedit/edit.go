package fileedit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/pdf"
	"garuda/internal/tool"
	"garuda/internal/tools/fileread"
	"garuda/internal/workspace"
)

// replacement is one text to put in another's place.
type replacement struct {
	old, with string
	all       bool
}

// editCall is a planned change of parts of one file.
type editCall struct {
	path workspace.Path
	// change works out the edits; say is the result's first line.
	change func(e *edited) error
	say    func(e *edited) string
	// again is true for a change that may be made on a file that changed after
	// it was planned, if it then is still one change at one place.
	again bool
	// planned is nil when the file may not be read.
	planned *edited
}

// edited is the outcome of the replacements on a file's contents.
type edited struct {
	was   *workspace.Contents
	text  *workspace.Text
	edits []workspace.Edit
	raw   []byte // afterwards
	lf    string
	diff  string
	// hunkOf says in which hunk of diff each edit stands.
	hunkOf []int
	// replaced counts the places, where spans that touch count as one edit.
	replaced int
	// stale: the file differs from what was read of it.
	stale bool
}

// planReplacements plans replacements in one file, each on the result of the one
// before. numbered errors name the replacement.
func planReplacements(env *tool.Env, path string, list []replacement, numbered bool) (*tool.Plan, error) {
	call := &editCall{again: len(list) == 1}
	call.change = func(e *edited) error { return replaceAll(e, call.path.Rel, list, numbered) }
	call.say = func(e *edited) string {
		at := make([]int, len(e.edits))
		for i, edit := range e.edits {
			at[i] = edit.Start
		}
		n := "1 replacement"
		if e.replaced > 1 {
			n = fmt.Sprintf("%d replacements", e.replaced)
		}
		return fmt.Sprintf("Edited %s: %s at %s.", call.path.Rel, n, atLines(e.text.LF, at))
	}
	plan, err := call.plan(env, path)
	if err == nil && call.planned != nil {
		plan.Hunks = call.planned.hunks()
	}
	return plan, err
}

func (call *editCall) plan(env *tool.Env, path string) (*tool.Plan, error) {
	p, err := env.Workspace.Resolve(path)
	if err != nil {
		return nil, err
	}
	call.path = p
	if !mayLookInside(env, p) {
		return &tool.Plan{Target: p.Rel, Input: call, Effects: effectsOf([]workspace.Path{p})}, nil
	}
	if !p.Exists {
		return nil, env.Workspace.NotFound(p, env.MayRead)
	}
	was, err := env.Workspace.ReadFile(p)
	if err != nil {
		return nil, err
	}
	if call.planned, err = call.work(env, was); err != nil {
		return nil, err
	}
	return &tool.Plan{
		Target: p.Rel, Preview: call.planned.diff, Input: call,
		Effects: effectsOf([]workspace.Path{p}, tool.Change{Path: p.Abs, Old: &call.planned.text.LF, New: &call.planned.lf}),
	}, nil
}

// work makes the change in the file's contents, in memory.
func (call *editCall) work(env *tool.Env, was *workspace.Contents) (*edited, error) {
	p := call.path
	e, err := readForEdit(env, p, was)
	if err != nil {
		return nil, err
	}
	if err := call.change(e); err != nil {
		return nil, err
	}
	if e.raw, e.lf, err = e.text.Splice(e.edits); err != nil {
		return nil, fmt.Errorf("edit %s: %w", p.Rel, err)
	}
	e.diff, e.hunkOf, err = diffHunks(p.Rel, p.Rel, e.text.LF, e.edits)
	return e, err
}

// readForEdit decodes a file that is to be edited. What was never read in this
// session is refused: the model would edit what it believes and not what is there.
func readForEdit(env *tool.Env, p workspace.Path, was *workspace.Contents) (*edited, error) {
	if pdf.Is(was.Raw) {
		return nil, fmt.Errorf("%s is a PDF document, which cannot be edited as text; change what it was made from, and make it anew", p.Rel)
	}
	if workspace.IsBinary(was.Raw) { // before it is sent to read_file, which would refuse it
		return nil, fmt.Errorf("%s is not text: it is %s, which only a program can change; use bash", p.Rel, workspace.FileType(was.Raw))
	}
	state := env.Tracker.Status(p.Real, was.Snapshot)
	if state == workspace.Unread {
		return nil, fmt.Errorf("%s was not read in this session; read the part you want to change with read_file first", p.Rel)
	}
	return &edited{was: was, text: was.Text(), stale: state == workspace.Changed}, nil
}

// replaceAll makes every replacement, or none. name is the file's, for errors.
func replaceAll(e *edited, name string, list []replacement, numbered bool) error {
	patterns := make([]string, 0, len(list))
	for _, r := range list {
		patterns = append(patterns, r.old)
	}
	d := newDraft(e.text.LF, newIndex(e.text.LF, patterns))
	for i, r := range list {
		n, err := r.makeIn(d, name, e.stale)
		if err != nil && numbered {
			return fmt.Errorf("nothing was written: edit %d of %d: %w", i+1, len(list), err)
		}
		if err != nil {
			return err
		}
		e.replaced += n
	}
	e.edits = slices.DeleteFunc(d.edits(), func(w workspace.Edit) bool { return e.text.LF[w.Start:w.End] == w.New })
	if len(e.edits) == 0 {
		return errors.New("the edits undo each other; nothing would change, so leave the call out or correct new_string")
	}
	return nil
}

// makeIn makes one replacement and says in how many places.
func (r replacement) makeIn(d *draft, name string, stale bool) (int, error) {
	old, with := r.old, r.with
	if old == "" {
		return 0, errors.New("old_string is empty; to add text, replace a line by itself and the new text; to make a new file, use write_file")
	}
	if old == with {
		return 0, errors.New("old_string and new_string are the same; nothing would change")
	}
	at := d.find(old)
	if lf := workspace.ToLF(old); len(at) == 0 && lf != old { // a file is matched with LF, whatever it has
		old = lf
		at = d.find(old)
	}
	with = workspace.ToLF(with)
	if old == with {
		return 0, errors.New("old_string and new_string differ only in CRLF and LF, and a file keeps its own newlines; nothing would change")
	}
	if r.all {
		at = apart(at, len(old))
	}
	switch {
	case len(at) == 0:
		lf := d.String()
		return 0, fmt.Errorf("old_string occurs 0 times in %s (%s).%s", name, countLines(workspace.CountLines(lf)), explainMiss(lf, old, stale))
	case len(at) > 1 && !r.all:
		return 0, fmt.Errorf("old_string occurs %d times in %s, at %s; add lines around it until it is unique, or set replace_all", len(at), name, atLines(d.String(), at))
	case stale && r.all && len(at) > 1:
		return 0, fmt.Errorf("%s changed since it was read, and old_string occurs %d times in it now; read it again before you replace them all", name, len(at))
	}
	d.replace(at, len(old), with)
	return len(at), nil
}

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

// runEdits writes what was planned. A file that changed meanwhile is planned
// again, and what is then no longer what was reviewed is not written.
func runEdits(c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*editCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	p, w := call.path, c.Env.Workspace
	if call.planned == nil {
		return nil, fmt.Errorf("%s may not be read: it is protected, so it cannot be edited; tell the user what to change in it", p.Rel)
	}
	defer w.Lock(p)()
	e, rejected, err := call.approved(c.Grant.ApprovedHunks())
	if err != nil {
		return nil, err
	}
	done, err := w.Replace(p, e.was.Info, e.raw)
	moved := false
	if changed := (*workspace.ChangedError)(nil); errors.As(err, &changed) && rejected == "" {
		if e, done, err = call.writeChanged(c.Env); err != nil {
			return nil, err
		}
		moved = e != call.planned
	}
	if err != nil {
		return nil, err
	}
	c.Env.Tracker.Edited(p.Real, e.was.Snapshot, done.Snapshot, e.lineEdits())
	return &tool.Output{
		Text:    call.report(e, e.stale || moved) + rejected + notes(done.Notes),
		Summary: changedLines(e.diff),
		Diff:    e.diff,
	}, nil
}

// writeChanged plans and writes the change of a file that is no longer as it was
// when the change was planned.
func (call *editCall) writeChanged(env *tool.Env) (*edited, *workspace.Written, error) {
	p := call.path
	now, err := env.Workspace.ReadFile(p)
	if err != nil {
		return nil, nil, err
	}
	e := call.planned
	if now.Snapshot.Same(e.was.Snapshot) { // touched, and otherwise the same
		e.was.Info = now.Info
	} else if e, err = call.work(env, now); err != nil {
		return nil, nil, err
	} else if !call.again || e.replaced != 1 || call.planned.replaced != 1 {
		return nil, nil, &workspace.ChangedError{Path: p.Rel, How: "changed after the edit was planned, so that it would not be the change that was reviewed; nothing was written"}
	}
	done, err := env.Workspace.Replace(p, e.was.Info, e.raw)
	return e, done, err
}

// lineEdits says which lines were replaced by how many.
func (e *edited) lineEdits() []workspace.LineEdit {
	out := make([]workspace.LineEdit, len(e.edits))
	line, from := 1, 0
	for i, edit := range e.edits {
		line += strings.Count(e.text.LF[from:edit.Start], "\n")
		from = edit.Start
		out[i] = workspace.LineEdit{
			Old: workspace.Lines{From: line, To: line + strings.Count(e.text.LF[edit.Start:edit.End], "\n")},
			New: 1 + strings.Count(edit.New, "\n"),
		}
	}
	return out
}

// report is the result's text.
func (call *editCall) report(e *edited, changed bool) string {
	if !changed {
		return call.say(e)
	}
	return call.say(e) + "\nThe file had changed since it was read. " + e.surroundings()
}

// surroundings shows the places of the edits as they are now.
func (e *edited) surroundings() string {
	const most = 5
	var b strings.Builder
	b.WriteString("Around the edit it is now:")
	for i, l := range e.lineEdits() {
		if i == most {
			fmt.Fprintf(&b, "\n(%d more places)", len(e.edits)-most)
			break
		}
		from := l.Old.From + e.shift(i)
		b.WriteString("\n" + surroundings(e.lf, from-diffContext, from+l.New-1+diffContext))
	}
	return b.String()
}

// shift is by how many lines the edits before number i moved it.
func (e *edited) shift(i int) int {
	n := 0
	for _, edit := range e.edits[:i] {
		n += strings.Count(edit.New, "\n") - strings.Count(e.text.LF[edit.Start:edit.End], "\n")
	}
	return n
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
