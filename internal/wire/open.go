package wire

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"garuda/internal/audit"
	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/instructions"
	"garuda/internal/llm"
	"garuda/internal/llm/provider"
	"garuda/internal/policy"
	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/choose"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/split"
	"garuda/internal/sandbox/view"
	"garuda/internal/secret"
	"garuda/internal/session"
	"garuda/internal/session/redact"
	"garuda/internal/snapshot"
	"garuda/internal/state"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
	"garuda/internal/tools/memory"
	"garuda/internal/tools/repl"
	"garuda/internal/tools/shell"
	"garuda/internal/workspace"
)

// killLimit is how long what still runs may take to end when the program does.
const killLimit = 3 * time.Second

// System is everything a surface needs, connected.
type System struct {
	options   Options
	places    places
	clock     core.Clock
	keys      *secret.Store
	file      *provider.File
	settings  *config.Settings
	team      *config.Team
	workspace *workspace.Workspace
	policy    *policy.Engine
	// consents wait for the audit log to be opened, which is nil where none is kept.
	consents []audit.Line
	audit    *audit.Log
	registry *tool.Registry
	tools    []toolset.Row
	procs    *proc.Supervisor
	// host runs commands without isolation, executor where each belongs.
	host     *host.Executor
	executor *split.Executor
	// found is which kind of sandbox executor found, and seen what its commands see;
	// view() makes it. sweeping removes what killed sessions left, until sweep ends,
	// which endSweep brings about.
	found     choose.State
	seenGuard sync.Mutex
	seen      *view.Builder
	sweeping  sync.WaitGroup
	sweep     context.Context
	endSweep  context.CancelFunc
	// instructions reads those of the folders below the root; nil where none are wanted.
	// instructionBytes is the part of the system prompt that they take.
	instructions     *instructions.Loader
	instructionBytes int
	// turns keeps the snapshots; nil where none are kept.
	turns *snapshot.Turns
	// asking is the pipeline whose questions about hosts a person sees.
	asking atomic.Pointer[tool.Pipeline]
	// decidedHosts are requests whose audit line the decision has written.
	decidedHosts sync.Map
	// background is nil where daemons.enabled is off.
	background *shell.Background
	// interpreters is nil where there can be none.
	interpreters *repl.Interpreters
	redactor     *redact.Redactor
	state        *state.Dir
	sessions     *session.Store
	memory       *memory.Store
	providers    *provider.Registry
	model        llm.Model
	// described is the spec of the model that the settings describe (modelInfo),
	// once another one was switched to; "" while that is the one in use.
	described string
	system    string
	// memoryChanged is true until the next session takes up what was remembered.
	memoryChanged atomic.Bool

	env     []string
	notices []string
	byHand  *tool.Pipeline
}

// Open builds the system. Keys leave the process's environment first of all.
func Open(ctx context.Context, o *Options) (*System, error) {
	p, err := findPlaces()
	if err != nil {
		return nil, err
	}
	s := &System{options: *o, places: p, clock: core.SystemClock}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *System) open(ctx context.Context) error {
	var err error
	var said []string
	if s.file, s.keys, said, err = takeSecrets(s.places); err != nil {
		return err
	}
	s.notices = append(s.notices, said...)
	s.redactor = redact.New(append(s.keys.Values(), s.file.HeaderSecrets()...))
	logTo(s.redactor)
	steps := []func() error{s.openRoot, s.loadSettings, s.openExecutor, s.openState, s.openMemory, s.openTools, s.openPolicy, s.openSnapshots}
	if s.options.WithoutFolder {
		steps = []func() error{s.loadSettings}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	s.providers = newProviders(s.file, s.keys, s.clock, s.permitModel)
	switch {
	case s.options.UseModel != nil:
		s.model = s.options.UseModel
	case !s.options.WithoutModel:
		if err := s.openModel(ctx, s.options.Model); err != nil {
			return err
		}
		said, err := s.checkSpend(s.model.Info())
		if said != "" {
			s.notices = append(s.notices, said)
		}
		return err
	}
	return nil
}

// openRoot opens the workspace at the real path of the folder to work in.
func (s *System) openRoot() error {
	dir := s.options.CWD
	if dir == "" {
		var err error
		if dir, err = os.Getwd(); err != nil {
			return fmt.Errorf("find the current folder: %w; it may have been deleted: go to another one, or name one with --cwd", err)
		}
	}
	ws, err := workspace.Open(dir, s.options.AddDirs, workspace.Options{
		Home: s.places.user, GarudaHome: s.places.garuda, ConfigHome: s.places.configHome,
	})
	if err != nil {
		return &SettingsError{Err: err}
	}
	s.workspace = ws
	return nil
}

func (s *System) loadSettings() error {
	root := ""
	if s.workspace != nil {
		root = s.workspace.Root()
	}
	settings, notices, err := s.readSettings(root)
	if err != nil {
		return err
	}
	for _, n := range notices {
		s.notices = append(s.notices, n.String())
	}
	s.settings = settings
	return s.loadTeam(root)
}

// openExecutor prepares to run commands, and ends what a killed Garuda left running.
func (s *System) openExecutor() error {
	if dir := s.runningDir(); dir != "" {
		ctx, cancel := context.WithTimeout(context.Background(), killLimit)
		defer cancel()
		if n, err := proc.Sweep(ctx, s.clock, dir); err != nil {
			s.notices = append(s.notices, "end what a killed Garuda left running: "+err.Error())
		} else if n > 0 {
			s.notices = append(s.notices, fmt.Sprintf("ended %d processes that a killed Garuda left running", n))
		}
	}
	procs, err := proc.New(proc.Options{
		Clock: s.clock, RunningDir: s.runningDir(),
		Report: func(err error) { slog.Warn("running commands", "error", err) },
	})
	if err != nil {
		return fmt.Errorf("prepare to run commands: %w", err)
	}
	s.procs = procs
	if runtime.GOOS != "windows" { // descriptors beyond the third do not reach programs there
		s.interpreters = repl.NewInterpreters(s.clock)
	}
	if s.settings.Daemons {
		s.background = shell.NewBackground(s.clock)
	}
	s.env = sandbox.BuildEnv(sandbox.EnvOptions{Lookup: s.lookupEnv, Allow: s.settings.EnvAllow, Secret: s.isProviderKey})
	return s.openSandbox()
}

// lookupEnv reads the environment as it was at the start.
func (s *System) lookupEnv(name string) (string, bool) {
	if v, ok := s.keys.Variable(name); ok {
		return v, true
	}
	return os.LookupEnv(name)
}

func (s *System) isProviderKey(name string) bool { return slices.Contains(s.file.KeyNames(), name) }

func (s *System) openPolicy() error {
	engine, err := policy.New(policy.Config{
		Root: s.workspace.Root(), Added: s.workspace.Roots()[1:], Home: s.places.user,
		Mode: policy.Mode(s.settings.Mode), Yolo: s.options.Yolo, Attended: s.options.Attended,
		Tools: s.toolInfos(), Rules: ruleSources(s.settings.Permissions), Guard: guard(s.settings.Guard),
		EnvNames: envNames(s.env), FoldCase: s.workspace.IgnoresCase(),
		SaveProjectRule: s.saveProjectRule(), Team: s.teamPolicy(), Isolated: s.isolated,
	})
	if err != nil {
		return &SettingsError{Err: err}
	}
	s.policy = engine
	s.notices = append(s.notices, engine.Warnings()...)
	return s.openAudit()
}

func (s *System) saveProjectRule() func(policy.Rule) error {
	if s.places.garuda == "" {
		return nil
	}
	return func(r policy.Rule) error {
		return config.AddProjectRule(s.places.garuda, s.workspace.Root(), config.Rule{Text: r.Text, Files: r.Files})
	}
}

func (s *System) openState() error {
	dir, err := state.Open(s.workspace.Root())
	if err != nil {
		return err
	}
	s.state = dir
	s.sessions = session.NewStore(dir, session.Options{Redactor: s.redactor, Clock: s.clock})
	return nil
}

// Close ends what runs and gives everything back. It may be called at any time.
func (s *System) Close() { s.CloseWithin(killLimit) }

// CloseWithin is Close with less patience: what has not ended by itself after
// this time is killed.
func (s *System) CloseWithin(limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if s.background != nil {
		s.background.Close(ctx)
	}
	if s.interpreters != nil {
		s.interpreters.Close(ctx)
	}
	s.endProcesses(ctx)
	s.closeView()
	if s.instructions != nil {
		s.instructions.Close()
	}
	if s.turns != nil {
		if err := s.turns.Close(); err != nil {
			slog.Error("close the snapshots", "error", err)
		}
	}
	if s.audit != nil {
		s.audit.Close()
	}
	if s.state != nil {
		s.state.Close()
	}
	if s.workspace != nil {
		s.workspace.Close()
	}
}

// Kill ends every process that was started, without giving it time to clean up.
// It may be called from any goroutine.
func (s *System) Kill() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.endProcesses(ctx)
}

// endBackground ends what the session runs beside its conversation.
func (s *System) endBackground(ctx context.Context) {
	if s.background != nil {
		s.background.EndAll(ctx)
	}
	if s.interpreters != nil {
		s.interpreters.EndAll(ctx)
	}
}

func (s *System) endProcesses(ctx context.Context) {
	if s.executor != nil {
		if err := s.executor.Shutdown(ctx); err != nil {
			slog.Error("end the running commands", "error", err)
		}
	}
	if s.procs == nil {
		return
	}
	if err := s.procs.Close(ctx); err != nil {
		slog.Error("end the running commands", "error", err)
	}
}

// runningDir is where the pids of running commands are kept, to be swept after
// a crash.
func (s *System) runningDir() string {
	if s.places.garuda == "" {
		return ""
	}
	return filepath.Join(s.places.garuda, "running")
}
