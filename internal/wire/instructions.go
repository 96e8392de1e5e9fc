package wire

import (
	"path/filepath"

	"garuda/internal/engine/prompt"
	"garuda/internal/instructions"
	"garuda/internal/workspace"
)

// openInstructions finds the files in which people say how to work here.
func (s *System) openInstructions() *instructions.Loader {
	var user []instructions.UserFile
	if s.places.garuda != "" {
		user = append(user, instructions.UserFile{Path: filepath.Join(s.places.garuda, "AGENTS.md"), Name: "the user's AGENTS.md"})
	}
	if s.places.user != "" {
		user = append(user, instructions.UserFile{Path: filepath.Join(s.places.user, ".claude", "CLAUDE.md"), Name: "the user's CLAUDE.md"})
	}
	return instructions.Open(instructions.Options{
		Workspace: s.workspace, MayRead: s.policy.MayRead, User: user,
		Places: workspace.Options{Home: s.places.user, GarudaHome: s.places.garuda, ConfigHome: s.places.configHome},
	})
}

// promptInstructions are files of instructions as the system prompt takes them.
func promptInstructions(files []instructions.File) []prompt.Instructions {
	var out []prompt.Instructions
	for _, f := range files {
		out = append(out, prompt.Instructions{Name: f.Name, Text: f.Text, Rank: instructions.Rank(f.Kind), User: f.User})
	}
	return out
}

// hasFile reports whether the root itself holds a file or folder of this name.
func (s *System) hasFile(name string) bool {
	p, err := s.workspace.Resolve(name)
	return err == nil && p.Exists
}
