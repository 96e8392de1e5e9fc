package engine

import (
	"strings"

	"garuda/internal/core"
	"garuda/internal/instructions"
	"garuda/internal/tool"
)

// Instructor tells of instructions that hold for a part of the project.
type Instructor interface {
	// Below are those of the folders between the root and these files, absolute paths,
	// that were not told yet, and what was left out of them.
	Below(read []string) (files []instructions.File, said []string)
	// Forget lets them be told again.
	Forget()
}

const (
	// noteInstructions marks the note that tells of instructions of a folder, of which
	// maxInstructions characters are told at once.
	noteInstructions = "instructions"
	maxInstructions  = 20_000
)

// instructed are notes with the instructions that hold where these files lie.
func (t *turnRun) instructed(read []string) []core.Block {
	if t.cfg.Instructions == nil || len(read) == 0 {
		return nil
	}
	files, said := t.cfg.Instructions.Below(read)
	for _, text := range said {
		t.publish(Notice{Text: text})
	}
	var out []core.Block
	left := maxInstructions
	for _, f := range files {
		text := core.Cut(strings.TrimSpace(f.Text), left)
		if left -= len([]rune(text)); left <= 0 {
			text += "\n[cut here; read_file shows all of it]"
			left = 0
		}
		out = append(out, core.Block{
			Type: core.BlockText, Note: noteInstructions,
			Text: "<garuda_note>Instructions from " + unmarked(f.Name) + ", for what lies in its folder:\n\n" + unmarked(text) + "</garuda_note>",
		})
		if left == 0 {
			break
		}
	}
	return out
}

// readBy are the files that these calls have read.
func (t *turnRun) readBy(results []*tool.CallResult) []string {
	var out []string
	for _, r := range results {
		if !r.Result.IsError && r.Output != nil && t.showsAgain(r.Name) {
			out = append(out, r.Reads...)
		}
	}
	return out
}
