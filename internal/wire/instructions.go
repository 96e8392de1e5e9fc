package wire

import (
	"errors"
	"fmt"
	"io"
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
	b, err := readRegular(filepath.Join(p.garuda, "AGENTS.md"), maxInstructionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the user's instructions are left out: %w", err)
	}
	return workspace.Decode(b).LF, nil
}

var errNotRegular = errors.New("it is not a regular file")

// readRegular reads the beginning of a file of the user's. It looks before it
// opens, since to open a FIFO is to wait for whoever writes to it.
func readRegular(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: %w", path, errNotRegular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
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
