package tool

import (
	"log/slog"
	"path/filepath"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/watched"
	"garuda/internal/workspace"
)

// Env is what a session's tools share.
type Env struct {
	Workspace *workspace.Workspace
	// Tracker remembers what this session has read, and how it looked.
	Tracker *workspace.Tracker
	// Watcher sees what commands in the sandbox do to files that they may write and
	// that are asked about all the same; nil where none are watched.
	Watcher *watched.Watcher
	// Exec runs commands; nil where none may run.
	Exec sandbox.Executor
	// HostPath is where a path that commands name lies on the machine, and in which
	// folder of the session: in a sandbox /tmp is the session's own. Both are "" for a
	// path that is what it is. Nil where all are.
	HostPath func(path string) (folder, host string)
	// CommandEnv is the environment a command gets, built and not inherited.
	CommandEnv []string
	// OutputDir is the session's folder for spilled command output, which
	// read_file may read; empty where there is no journal. MakeOutputDir makes it
	// when the first command needs it.
	OutputDir     string
	MakeOutputDir func() (string, error)
	// MayRead is the policy's answer for one file that a search or a listing
	// came across (an absolute path): false for sensitive and denied ones.
	MayRead func(path string) bool
	// MayReadReal is the same for a path that is known to hold no link; nil means MayRead.
	MayReadReal func(path string) bool
	Clock       core.Clock
	// Consult is the way to the person in front of the session; nil without one.
	Consult Consult
	// Notes is the way into the conversation for what happens beside it; nil for
	// calls that belong to none.
	Notes Notes
	// Keeper keeps the tools' own files; Briefer says what the session was about so far.
	// The session sets the latter.
	Keeper  Keeper
	Briefer Briefer
	// CommandTimeoutMs comes from the settings' limits; 0 is the tool's own.
	CommandTimeoutMs int
}

// SpillPath is where the whole output of a call goes, or "" where it cannot be
// kept; what was cut is then gone, and the result says so.
func (e *Env) SpillPath(callID string) string {
	if e.MakeOutputDir == nil || !core.ValidSessionID(callID) {
		return ""
	}
	dir, err := e.MakeOutputDir()
	if err != nil {
		slog.Warn("no folder for the output of commands", "error", err)
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, callID+".txt")
}
