package fileedit

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"garuda/internal/notebook"
	"garuda/internal/tool"
	"garuda/internal/workspace"
)

//go:embed notebook_edit.md
var notebookEditDescription string

type notebookEdit struct{}

type notebookInput struct {
	Path     string `json:"path"`
	CellID   string `json:"cell_id,omitempty"`
	CellType string `json:"cell_type,omitempty"`
	Source   string `json:"source,omitempty"`
	Mode     string `json:"mode,omitempty" jsonschema:"replace without it"`
}

const notebookSchema = `{"type":"object","properties":{"path":{"type":"string"},"cell_id":{"type":"string"},` +
	`"cell_type":{"type":"string","enum":["code","markdown","raw"]},"source":{"type":"string"},` +
	`"mode":{"type":"string","enum":["replace","insert","delete"],"description":"replace without it"}},"required":["path"],"additionalProperties":false}`

func (notebookEdit) Spec() *tool.Spec {
	return &tool.Spec{
		Name: "notebook_edit", Description: strings.TrimSpace(notebookEditDescription),
		Class: tool.ClassPath, Set: "edit", Schema: json.RawMessage(notebookSchema),
	}
}

func (notebookEdit) Plan(_ context.Context, env *tool.Env, input json.RawMessage) (*tool.Plan, error) {
	in, err := decode[notebookInput](input)
	if err != nil {
		return nil, err
	}
	mode := cmp.Or(in.Mode, "replace")
	if mode != "insert" && in.CellID == "" {
		return nil, fmt.Errorf("to %s a cell give its cell_id; read_file shows the ids", mode)
	}
	did := map[string]string{"replace": "Replaced cell " + in.CellID, "delete": "Deleted cell " + in.CellID}[mode]
	call := &editCall{}
	call.change = func(e *edited) error {
		n, err := notebook.Parse(e.text.LF)
		if err != nil {
			return fmt.Errorf("edit %s: %w", call.path.Rel, err)
		}
		switch mode {
		case "replace":
			err = n.Replace(in.CellID, in.CellType, workspace.ToLF(in.Source))
		case "delete":
			err = n.Delete(in.CellID)
		case "insert":
			var id string
			id, err = n.Insert(in.CellID, in.CellType, workspace.ToLF(in.Source))
			did = "Inserted cell " + id
		}
		if err != nil {
			return fmt.Errorf("edit %s: %w", call.path.Rel, err)
		}
		if e.edits = difference(e.text.LF, n.String()); e.edits == nil {
			return errors.New("the cell already is like that; nothing is to be done")
		}
		return nil
	}
	call.say = func(*edited) string { return did + " of " + call.path.Rel + "." }
	return call.plan(env, in.Path)
}

// difference is the one edit that makes a text another.
func difference(old, text string) []workspace.Edit {
	if old == text {
		return nil
	}
	from := 0
	for from < min(len(old), len(text)) && old[from] == text[from] {
		from++
	}
	for from > 0 && from < len(old) && !startsRune(old[from]) {
		from--
	}
	end := 0
	for end < min(len(old), len(text))-from && old[len(old)-1-end] == text[len(text)-1-end] {
		end++
	}
	for end > 0 && !startsRune(old[len(old)-end]) {
		end--
	}
	return []workspace.Edit{{Start: from, End: len(old) - end, New: text[from : len(text)-end]}}
}

// startsRune reports whether a byte is not in the middle of a character.
func startsRune(b byte) bool { return b&0xC0 != 0x80 }

func (notebookEdit) Run(_ context.Context, c *tool.Call) (*tool.Output, error) { return runEdits(c) }
