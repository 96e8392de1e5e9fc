package fileedit

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"garuda/internal/tool"
	"garuda/internal/workspace"
)

//go:embed apply_patch.md
var applyPatchDescription string

type applyPatch struct{}

type patchInput struct {
	Patch string `json:"patch"`
}

const patchSchema = `{"type":"object","properties":{"patch":{"type":"string"}},"required":["patch"],"additionalProperties":false}`

func (applyPatch) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "apply_patch", Description: strings.TrimSpace(applyPatchDescription),
		Class: tool.ClassPath, Set: "edit", Schema: json.RawMessage(patchSchema),
	}
}

// patchCall is a planned patch.
type patchCall struct {
	files []*patchedFile
	// unseen is a file that may not be read, so that the patch cannot be applied.
	unseen string
}

// patchedFile is what a patch makes of one file.
type patchedFile struct {
	kind sectionKind
	path workspace.Path
	to   *workspace.Path // its new place; nil when it stays
	// was is the file before, nil for an added one.
	was    *workspace.Contents
	edited *edited // of an update with hunks
	raw    []byte  // of an added file
	lf     string
	diff   string
	loose  []string // what is to be said of hunks that fit only nearly
}

func (applyPatch) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[patchInput](input)
	if err != nil {
		return nil, err
	}
	sections, err := parsePatch(in.Patch)
	if err != nil {
		return nil, err
	}
	call := &patchCall{}
	taken := map[string]bool{}
	for i := range sections {
		f, err := call.plan(env, &sections[i])
		if err != nil {
			return nil, err
		}
		for _, p := range f.paths() {
			if taken[p.Real] {
				return nil, fmt.Errorf("the patch names %s twice; put all that happens to a file into one section", p.Rel)
			}
			taken[p.Real] = true
		}
		call.files = append(call.files, f)
	}
	return call.asPlan(), nil
}

func (f *patchedFile) paths() []workspace.Path {
	if f.to != nil {
		return []workspace.Path{f.path, *f.to}
	}
	return []workspace.Path{f.path}
}

func (call *patchCall) asPlan() *tool.Plan {
	var paths []workspace.Path
	var changes []tool.Change
	var names, diffs []string
	plan := &tool.Plan{Input: call}
	for _, f := range call.files {
		paths = append(paths, f.paths()...)
		change := tool.Change{Path: f.path.Abs}
		if f.was != nil {
			old := f.was.Text().LF
			change.Old = &old
		}
		if f.kind == sectionDelete {
			plan.Destructive = true
		} else {
			change.New = &f.lf
		}
		if f.to != nil {
			change.MovedTo = f.to.Abs
		}
		changes = append(changes, change)
		names = append(names, f.path.Rel)
		diffs = append(diffs, f.diff)
	}
	if call.unseen != "" {
		changes, diffs = nil, nil // nothing of what was read may show
	}
	plan.Target = names[0]
	if len(names) > 1 {
		plan.Label = fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	plan.Preview = strings.Join(diffs, "")
	plan.Effects = effectsOf(paths, changes...)
	for _, f := range call.files {
		if f.to != nil { // it could be read under its new name
			plan.Effects.Reads = append(plan.Effects.Reads, f.path.Abs)
		}
	}
	return plan
}

// plan works out one section against the disk.
func (call *patchCall) plan(env *tool.Env, s *section) (*patchedFile, error) {
	f := &patchedFile{kind: s.kind}
	var err error
	switch s.kind {
	case sectionAdd:
		err = f.add(env, s)
		return f, err
	case sectionUpdate:
		f.path, err = env.Workspace.Resolve(s.path)
	case sectionDelete:
		f.path, err = entry(env, s.path)
	}
	switch {
	case err != nil:
		return nil, err
	case !f.path.Exists:
		return nil, env.Workspace.NotFound(f.path, env.MayRead)
	case !mayLookInside(env, f.path):
		call.unseen = f.path.Rel
		return f, nil
	case f.path.Info.Kind == workspace.KindLink:
		return nil, fmt.Errorf("%s is a symbolic link; delete it with delete_file", f.path.Rel)
	}
	if f.was, err = env.Workspace.ReadFile(f.path); err != nil {
		return nil, err
	}
	if s.kind == sectionDelete {
		f.diff = "delete " + f.path.Rel + "\n"
		if !workspace.IsBinary(f.was.Raw) {
			f.diff, err = deletion(f.path.Rel, f.was.Text().LF)
		}
		return f, err
	}
	err = f.update(env, s)
	return f, err
}

func (f *patchedFile) add(env *tool.Env, s *section) error {
	var err error
	if f.path, err = newPlace(env, s.path); err != nil {
		return err
	}
	w := writeCall{path: f.path}
	if err := w.create(env, s.text); err != nil {
		return err
	}
	f.raw, f.lf, f.diff = w.raw, w.lf, w.diff
	return nil
}

func (f *patchedFile) update(env *tool.Env, s *section) error {
	name := f.path.Rel
	if s.moveTo != "" {
		to, err := newPlace(env, s.moveTo)
		if err != nil {
			return err
		}
		f.to, name = &to, to.Rel
		f.diff = "rename " + f.path.Rel + " → " + to.Rel + "\n"
	}
	e, err := readForEdit(env, f.path, f.was)
	if err != nil {
		return err
	}
	if f.lf = e.text.LF; len(s.hunks) == 0 {
		return nil
	}
	t := newPatchedText(f.path.Rel, e.text.LF, e.stale)
	for i := range s.hunks {
		if err := t.apply(&s.hunks[i]); err != nil {
			return err
		}
	}
	e.edits, f.loose = t.edits(), t.loose
	if e.raw, e.lf, err = e.text.Splice(e.edits); err != nil {
		return fmt.Errorf("edit %s: %w", f.path.Rel, err)
	}
	if string(e.raw) == string(f.was.Raw) {
		return fmt.Errorf("the hunks leave %s as it is: what they bring stands there already; leave that file out", f.path.Rel)
	}
	if e.diff, err = diff(f.path.Rel, name, e.text.LF, e.edits); err != nil {
		return err
	}
	f.edited, f.lf = e, e.lf
	f.diff += e.diff
	return nil
}

func (applyPatch) Run(_ context.Context, c *tool.Call) (*tool.Output, error) {
	call, ok := c.Plan.Input.(*patchCall)
	if !ok {
		return nil, errors.New("the plan is of another tool")
	}
	if call.unseen != "" {
		return nil, fmt.Errorf("%s may not be read: it is protected, so the patch cannot be applied; leave that file out, and tell the user what to change in it", call.unseen)
	}
	var paths []workspace.Path
	for _, f := range call.files {
		paths = append(paths, f.paths()...)
	}
	defer lockAll(c.Env.Workspace, paths...)()
	a := &applying{w: c.Env.Workspace}
	if err := a.all(call.files); err != nil {
		if back := a.putBack(); back != nil {
			return nil, fmt.Errorf("%w; what was done before could not all be put back, look at the files: %w", err, back)
		}
		return nil, fmt.Errorf("%w; nothing of the patch was applied", err)
	}
	out := &tool.Output{Text: "Applied the patch:"}
	for i, f := range call.files {
		f.track(c.Env.Tracker, a.written[i])
		out.Text += "\n" + f.report(a.written[i])
		out.Diff += f.diff
	}
	out.Summary = fmt.Sprintf("%d files", len(call.files))
	if len(call.files) == 1 {
		out.Summary = "1 file"
	}
	return out, nil
}

func (f *patchedFile) track(t *workspace.Tracker, written *workspace.Written) {
	at := f.path.Real
	switch {
	case f.kind == sectionDelete:
		t.Removed(at)
		return
	case f.kind == sectionAdd:
		t.Wrote(at, written.Snapshot)
		return
	case f.to != nil:
		t.Moved(at, f.to.Real)
		at = f.to.Real
	}
	if f.edited != nil {
		t.Edited(at, f.was.Snapshot, written.Snapshot, f.edited.lineEdits())
	}
}

// report is the result's line about one file.
func (f *patchedFile) report(written *workspace.Written) string {
	switch f.kind {
	case sectionDelete:
		return "deleted " + f.path.Rel
	case sectionAdd:
		return fmt.Sprintf("added %s (%s)", f.path.Rel, countLines(workspace.CountLines(workspace.ToLF(f.lf)))) + notes(written.Notes)
	case sectionUpdate:
	}
	text := "updated " + f.path.Rel
	if f.to != nil {
		text = "moved " + f.path.Rel + " to " + f.to.Rel
	}
	if f.edited != nil {
		text += " (" + changedLines(f.edited.diff) + ")"
		if f.edited.stale {
			text += "\nIt had changed since it was read. " + f.edited.surroundings()
		}
	}
	for _, note := range f.loose {
		text += "\n" + note
	}
	return text + notes(written.Notes)
}

// disk is what a patch needs of the workspace.
type disk interface {
	CheckUnchanged(p workspace.Path, was workspace.Info) error
	Create(p workspace.Path, data []byte) (*workspace.Written, error)
	CreateAs(p workspace.Path, data []byte, mode fs.FileMode) (*workspace.Written, error)
	Remove(p workspace.Path, was workspace.Info) error
	Move(from, to workspace.Path, was workspace.Info) (*workspace.Written, error)
	Replace(p workspace.Path, was workspace.Info, data []byte) (*workspace.Written, error)
	Lstat(p workspace.Path) (workspace.Info, error)
	RemoveFolders(made *workspace.Written)
}

// applying is a patch on its way to the disk.
type applying struct {
	w       disk
	written []*workspace.Written
	undo    []func() error
}

// all makes every change, the deletions last. Files that changed since the patch
// was planned are found before the first write.
func (a *applying) all(files []*patchedFile) error {
	for _, f := range files {
		if f.was != nil {
			if err := a.w.CheckUnchanged(f.path, f.was.Info); err != nil {
				return err
			}
		}
	}
	a.written = make([]*workspace.Written, len(files))
	for _, deleting := range []bool{false, true} {
		for i, f := range files {
			if (f.kind == sectionDelete) != deleting {
				continue
			}
			var err error
			if a.written[i], err = a.one(f); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *applying) one(f *patchedFile) (*workspace.Written, error) {
	switch f.kind {
	case sectionAdd:
		done, err := a.w.Create(f.path, f.raw)
		if workspace.Made(err) {
			a.undo = append(a.undo, func() error {
				err := a.w.Remove(f.path, done.Info)
				a.w.RemoveFolders(done)
				return err
			})
		}
		return done, err
	case sectionDelete:
		err := a.w.Remove(f.path, f.was.Info)
		if workspace.Made(err) {
			a.undo = append(a.undo, func() error {
				_, err := a.w.CreateAs(f.path, f.was.Raw, f.was.Info.Mode.Perm())
				return err
			})
		}
		return nil, err
	case sectionUpdate:
	}
	return a.update(f)
}

func (a *applying) update(f *patchedFile) (*workspace.Written, error) {
	at, info, done := f.path, f.was.Info, &workspace.Written{}
	if f.to != nil {
		var err error
		done, err = a.w.Move(f.path, *f.to, info)
		if workspace.Made(err) {
			a.undo = append(a.undo, func() error {
				err := a.moveBack(*f.to, f.path)
				a.w.RemoveFolders(done)
				return err
			})
		}
		if err != nil {
			return nil, err
		}
		at, info = *f.to, done.Info
	}
	if f.edited == nil {
		return done, nil
	}
	replaced, err := a.w.Replace(at, info, f.edited.raw)
	if workspace.Made(err) {
		a.undo = append(a.undo, func() error {
			_, err := a.w.Replace(at, replaced.Info, f.was.Raw)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	replaced.Folders = done.Folders
	replaced.Notes = append(done.Notes, replaced.Notes...)
	return replaced, nil
}

func (a *applying) moveBack(from, to workspace.Path) error {
	now, err := a.w.Lstat(from)
	if err == nil {
		_, err = a.w.Move(from, to, now)
	}
	return err
}

// putBack takes back what was done, the last first.
func (a *applying) putBack() error {
	var errs []error
	for i := len(a.undo) - 1; i >= 0; i-- {
		if err := a.undo[i](); !workspace.Made(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
