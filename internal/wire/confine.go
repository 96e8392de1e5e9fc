package wire

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"garuda/internal/protect"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/view"
)

// viewOptions are what the settings and the machine say about what commands in the
// sandbox see and change.
func (s *System) viewOptions(backend string) view.Options {
	set := &s.settings.Sandbox
	path, _ := s.lookupEnv("PATH")
	deny := slices.Clone(set.DenyRead)
	for _, e := range s.team.Paths {
		deny = append(deny, e.Text)
	}
	return view.Options{
		Root: s.workspace.Root(), Added: s.workspace.Roots()[1:], Home: s.places.user, GarudaHome: s.places.garuda,
		WritePaths: set.WritePaths, Deny: deny, Lookup: s.lookupEnv, Path: path,
		Ask: s.host, AskEnv: s.env, Clock: s.clock,
		UnixSockets: set.AllowUnixSockets, LocalhostPorts: set.AllowLocalhostPorts,
		Limits:   s.commandLimits(),
		FoldCase: s.workspace.IgnoresCase(),
		InPlace:  inPlace(backend),
	}
}

// commandLimits are the bounds of a command by the settings.
func (s *System) commandLimits() sandbox.Limits {
	l := &s.settings.Sandbox.Limits
	return sandbox.Limits{Processes: l.Processes, MemoryBytes: int64(l.MemoryMB) << 20, FileBytes: int64(l.FileMB) << 20}
}

// inPlace tells of a backend that it mounts nothing.
func inPlace(backend string) bool { return backend == "landlock" || backend == "seatbelt" }

// insideEnv is what commands in the sandbox get in the place of their environment.
func (s *System) insideEnv() []string {
	seen, err := s.view()
	if err != nil {
		return nil // the command is refused with this error when its view is asked for
	}
	return seen.Env()
}

// hostPath is where a path below /tmp of commands in the sandbox lies on the machine,
// and the folder that is their /tmp; both "" for what they see as it is.
func (s *System) hostPath(path string) (folder, host string) {
	const temp = "/tmp"
	if !strings.HasPrefix(path, temp+"/") || !s.isolated() {
		return "", ""
	}
	seen, err := s.view()
	if err != nil {
		return "", ""
	}
	if host = seen.HostPath(path); host == path {
		return "", ""
	}
	return seen.HostPath(temp), host
}

// lockedPaths tells of paths in the project whether commands in the sandbox are kept
// from changing them.
func (s *System) lockedPaths() func(abs string) bool {
	locked := protect.Compile(protect.Locked(), s.workspace.IgnoresCase())
	return func(abs string) bool {
		rel, err := filepath.Rel(s.workspace.Root(), abs)
		if err != nil || !filepath.IsLocal(rel) || rel == ".git" {
			return false
		}
		rel = filepath.ToSlash(rel)
		// Only what lies in the root itself is locked, not its like further down.
		first, _, _ := strings.Cut(rel, "/")
		return (first == ".git" || locked.Has("/"+first)) && locked.Has("/"+rel)
	}
}

// closeView removes what commands in the sandbox left in the session's own folders.
// It is called when nothing runs there any more.
func (s *System) closeView() {
	if s.executor == nil {
		return
	}
	s.endSweep()
	s.sweeping.Wait()
	s.seenGuard.Lock()
	defer s.seenGuard.Unlock()
	if s.seen == nil {
		return
	}
	if err := s.seen.Close(); err != nil {
		slog.Error("clean up after the sandbox", "error", err)
	}
}

// networkInWords says what commands in the sandbox may reach.
func (s *System) networkInWords() string {
	var parts []string
	if hosts := s.settings.Network.Allow; len(hosts) > 0 {
		parts = append(parts, strings.Join(hosts, ", "))
	}
	if n := len(s.settings.Sandbox.AllowLocalhostPorts); n > 0 {
		parts = append(parts, "some ports of this machine")
	}
	if len(parts) == 0 {
		return "no host"
	}
	return "only " + strings.Join(parts, " and ")
}

// networkUnasked says it where a person may allow further hosts.
func (s *System) networkUnasked() string {
	if s.options.Attended && !s.team.StrictAllowlist {
		return s.networkInWords() + " unasked"
	}
	return s.networkInWords()
}

// Confinement is what commands in the sandbox see and change.
type Confinement struct {
	// Backend is the kind of sandbox.
	Backend string `json:"backend"`
	// Weaknesses are what this kind does not hold although others do, a sentence each.
	Weaknesses []string `json:"weaknesses,omitempty"`
	// Better says why the kinds that hold more were not taken, and how to mend that.
	Better []string `json:"better,omitempty"`
	// Places are sorted by path; what none of them covers does not exist for commands.
	Places []Place `json:"places"`
	// Left is what was asked for, or found, and is not shown, and why.
	Left []Place `json:"left,omitempty"`
	// Network says in words what they may reach.
	Network string `json:"network"`
	// Env are the names of their variables.
	Env    []string `json:"env"`
	Limits Limits   `json:"limits"`
}

// Place is a file or folder.
type Place struct {
	// Access is read, write, locked or hidden.
	Access string `json:"access,omitempty"`
	Path   string `json:"path"`
	// Host is where it lies on the machine, when that is elsewhere.
	Host string `json:"host,omitempty"`
	// Missing is set for what does not exist and cannot be made.
	Missing bool   `json:"missing,omitempty"`
	Why     string `json:"why"`
}

// Limits bound a command; 0 is no limit.
type Limits struct {
	Processes int `json:"processes"`
	MemoryMB  int `json:"memoryMB"`
	FileMB    int `json:"fileMB"`
}

// Confinement says what commands in the sandbox see and change; an error where there
// is none.
func (s *System) Confinement(ctx context.Context) (*Confinement, error) {
	inside, err := s.sandbox()
	if err != nil {
		return nil, err
	}
	seen, err := s.view()
	if err != nil {
		return nil, err
	}
	explained, err := seen.Explain(ctx)
	if err != nil {
		return nil, err
	}
	c := &Confinement{
		Backend: inside.Name(), Weaknesses: s.found.Weaknesses, Better: s.found.Better(), Network: s.networkInWords(),
		Env: envNames(sandbox.WithEnv(s.env, s.insideEnv())), Limits: Limits(s.settings.Sandbox.Limits),
	}
	for _, l := range explained.Lines {
		c.Places = append(c.Places, Place(l))
	}
	for _, l := range explained.Left {
		c.Left = append(c.Left, Place{Path: l.Path, Why: l.Why})
	}
	return c, nil
}
