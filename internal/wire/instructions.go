package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"garuda/internal/engine/prompt"
	"garuda/internal/workspace"
)

// instructionFiles are read from the root, the most important last.
func instructionFiles() []string { return []string{"AGENTS.md", "CLAUDE.md", "GARUDA.md"} }

// maxInstructionFile is how much of one file is read, in bytes: more than the
// prompt takes of all of them together.
const maxInstructionFile = 1 << 20

// instructions reads the user's and the project's instruction files. What cannot
// be read is said; a missing file is no fault.
func instructions(p places, ws *workspace.Workspace) ([]prompt.Instructions, []string) {
	var out []prompt.Instructions
	var said []string
	if text, err := userInstructions(p); err != nil {
		said = append(said, err.Error())
	} else if text != "" {
		out = append(out, prompt.Instructions{Name: "the user's AGENTS.md", Text: text})
	}
	for _, name := range instructionFiles() {
		text, err := projectInstructions(ws, name)
		if err != nil {
			said = append(said, "the instructions are left out: "+err.Error())
			continue
		}
		if text != "" {
			out = append(out, prompt.Instructions{Name: name, Text: text})
		}
	}
	return out, said
}

func userInstructions(p places) (string, error) {
	if p.garuda == "" {
		return "", nil
	}
	b, err := os.ReadFile(filepath.Join(p.garuda, "AGENTS.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the user's instructions: %w", err)
	}
	return workspace.Decode(b[:min(len(b), maxInstructionFile)]).LF, nil
}

// projectInstructions reads one file of the root through the workspace, so that
// a link that leads out of it brings nothing in.
func projectInstructions(ws *workspace.Workspace, name string) (string, error) {
	path, err := ws.Resolve(name)
	if err != nil {
		return "", err
	}
	if !path.Exists {
		return "", nil
	}
	c, err := ws.ReadFile(path)
	if err != nil {
		return "", err
	}
	return workspace.Decode(c.Raw[:min(len(c.Raw), maxInstructionFile)]).LF, nil
}
