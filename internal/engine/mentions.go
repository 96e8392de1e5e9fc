package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/mention"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

const (
	// maxAttached is how many files and folders one message attaches, maxAttachedChars
	// how many characters they have together, maxListed how many entries of a folder
	// are listed.
	maxAttached, maxAttachedChars, maxListed = 10, 150_000, 200
	// maxAttachedLines is how many lines of a file are attached.
	maxAttachedLines = 2_000

	readTool, listTool = "read_file", "list_dir"
)

// noteAttachment marks what came with a message because it was mentioned in it.
const noteAttachment = "attachment"

// attached is what the mentions of one message brought.
type attached struct {
	blocks []core.Block
	// read are the files among them, absolute.
	read  []string
	chars int
	// names and skipped are what was attached, and what was not and why.
	names, skipped []string
}

// attach takes the files and folders that the message mentions along, each by a call
// that passes the pipeline like any other.
func (t *turnRun) attach(ctx context.Context) *attached {
	out := &attached{}
	if t.cfg.Pipeline == nil || t.cfg.Pipeline.Env.Workspace == nil {
		return out
	}
	var seen []string
	for _, ref := range mention.Find(t.prompt.Text) {
		p, name, err := t.mentioned(ref)
		switch {
		case name == "" || slices.Contains(seen, name):
			continue
		case err != nil:
			out.skip(name, err.Error())
		case len(out.names) >= maxAttached:
			out.skip(name, fmt.Sprintf("a message attaches at most %d", maxAttached))
		default:
			t.attachOne(ctx, out, p)
		}
		seen = append(seen, name)
	}
	if len(out.names) > 0 {
		t.publish(Notice{Text: "attached " + strings.Join(out.names, ", ")})
	}
	if len(out.skipped) > 0 {
		said := strings.Join(out.skipped, "; ")
		t.publish(Notice{Text: "not attached: " + said})
		out.blocks = append(out.blocks, core.Block{
			Type: core.BlockText, Note: noteAttachment,
			Text: "<garuda_note>The user mentioned what could not be attached: " + harmless(said, maxNoteText) + "</garuda_note>",
		})
	}
	return out
}

func (a *attached) skip(name, why string) {
	const most = 20
	if len(a.skipped) < most {
		a.skipped = append(a.skipped, core.Visible(name)+" ("+core.Visible(why)+")")
	}
}

// mentioned finds what a reference means. Without a name it is a word and no path; an
// error says why what has one cannot be looked at.
func (t *turnRun) mentioned(ref mention.Ref) (p workspace.Path, name string, err error) {
	for _, spelling := range ref.Spellings() {
		p, err := t.cfg.Pipeline.Env.Workspace.Resolve(filepath.FromSlash(spelling))
		var outside *workspace.OutsideError
		switch {
		case errors.As(err, &outside):
			if filepath.IsAbs(spelling) || strings.HasPrefix(spelling, "..") {
				return p, spelling, err
			}
			return p, "", nil
		case err == nil && p.Exists:
			return p, p.Rel, nil
		}
	}
	return p, "", nil
}

// attachOne reads one file, or lists one folder.
func (t *turnRun) attachOne(ctx context.Context, out *attached, p workspace.Path) {
	name, input := readTool, map[string]any{"path": p.Abs, "limit": maxAttachedLines}
	isFolder := p.Info.Kind == workspace.KindFolder
	if isFolder {
		name, input = listTool, map[string]any{"path": p.Abs, "depth": 1}
	}
	raw, err := json.Marshal(input)
	if err != nil {
		out.skip(p.Rel, err.Error())
		return
	}
	prep := t.cfg.Pipeline.Prepare(ctx, core.Block{Type: core.BlockToolUse, ID: core.NewCallID(), Name: name, Input: string(raw)})
	r := t.cfg.Pipeline.Run(ctx, prep, 0, tool.Observer{})
	t.denied(r)
	text := r.Result.ResultText()
	if r.Result.IsError {
		out.skip(p.Rel, strings.TrimPrefix(text, "Error: "+name+" failed: "))
		return
	}
	if isFolder {
		text = cutList(text)
	}
	size := utf8.RuneCountInString(text)
	if out.chars+size > maxAttachedChars {
		// Nobody has seen it: it must be read before it is edited.
		t.cfg.Pipeline.Env.Tracker.Removed(p.Real)
		out.skip(p.Rel, fmt.Sprintf("the attachments would be more than %d characters together", maxAttachedChars))
		return
	}
	out.chars += size
	said := core.Visible(p.Rel)
	if r.Output != nil && r.Output.Summary != "" {
		said += " (" + r.Output.Summary + ")"
	}
	out.names = append(out.names, said)
	if !isFolder {
		out.read = append(out.read, p.Abs)
	}
	out.blocks = append(out.blocks, core.Block{
		Type: core.BlockText, Note: noteAttachment,
		Text: "<garuda_attachment path=" + quoted(p.Rel) + ">\n" + withoutMarks(text) + "\n</garuda_attachment>",
	})
	for _, b := range r.Result.Content {
		if b.Type != core.BlockText {
			b.Note = noteAttachment
			out.blocks = append(out.blocks, b)
		}
	}
}

// quoted is a path that can end no attribute.
func quoted(path string) string {
	return `"` + strings.ReplaceAll(unmarked(path), `"`, `\"`) + `"`
}

// cutList shows the first entries of a folder's list.
func cutList(list string) string {
	var b strings.Builder
	entries := 0
	for line := range strings.Lines(list) {
		if strings.HasPrefix(line, " ") {
			if entries++; entries > maxListed {
				continue
			}
		}
		b.WriteString(line)
	}
	if more := entries - maxListed; more > 0 {
		return strings.TrimRight(b.String(), "\n") + fmt.Sprintf("\n[%d more entries are not shown]", more)
	}
	return b.String()
}
