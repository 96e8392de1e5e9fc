package tool

import (
	"path/filepath"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/workspace"
)

// Env is what a session's tools share.
type Env struct {
	Workspace *workspace.Workspace
	// Tracker remembers what this session has read, and how it looked.
	Tracker *workspace.Tracker
	// Exec runs commands; nil where none may run.
	Exec sandbox.Executor
	// CommandEnv is the environment a command gets, built and not inherited.
	CommandEnv []string
	// OutputDir is the session's folder for spilled command output, which
	// read_file may read; empty where there is no journal.
	OutputDir string
	// MayRead is the policy's answer for one file that a search or a listing
	// came across (an absolute path): false for sensitive and denied ones.
	MayRead func(path string) bool
	Clock   core.Clock
	// DefaultTimeoutMs and the like come from the settings' limits.
	CommandTimeoutMs int
}

// SpillPath is where the whole output of a call goes, or "" without a folder.
func (e *Env) SpillPath(callID string) string {
	if e.OutputDir == "" || !core.ValidSessionID(callID) {
		return ""
	}
	return filepath.Join(e.OutputDir, callID+".txt")
}
