package wire

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/engine/prompt"
	"garuda/internal/llm"
	"garuda/internal/policy"
	"garuda/internal/profile"
	"garuda/internal/session"
	"garuda/internal/state"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
)

// SessionOptions say which session to open; the zero value is a new one.
type SessionOptions struct {
	// Newest takes up the newest session, Resume the one it names.
	Newest bool
	Resume string
	// Fork goes on in a copy, of all or up to this Step, counted from 1.
	Fork bool
	Step int
}

// OpenSession opens a session, and says what a person should know about it.
func (s *System) OpenSession(o SessionOptions) (*engine.Session, []string, error) {
	var said []string
	if changed := s.memoryChanged.Swap(false); changed || s.system == "" {
		said = s.buildPrompt()
	}
	id, found, err := s.find(o)
	said = append(said, found...)
	if err != nil {
		return nil, said, err
	}
	if id == "" {
		return s.newSession(), said, nil
	}
	if o.Fork {
		return s.forkSession(id, o.Step, said)
	}
	journal, history, err := s.sessions.Resume(id)
	if err != nil {
		return nil, said, resumeError(id, err)
	}
	return s.resume(journal, history, said)
}

// resume goes on with what a journal holds.
func (s *System) resume(journal *session.Journal, history *session.History, said []string) (*engine.Session, []string, error) {
	said = append(said, history.Notices...)
	if root := s.workspace.Root(); history.Start != nil && history.Start.Root != root {
		said = append(said, fmt.Sprintf("this session was begun in %s and not here in %s; if you did not move it, do not trust it",
			history.Start.Root, root))
	}
	mode, err := s.takeUpMode(history)
	if err != nil {
		return nil, said, errors.Join(err, journal.Close())
	}
	said = append(said, mode...)
	if err := journal.Append(&session.Resume{
		SessionID: journal.ID(), Version: s.options.Version, Model: s.model.Info().Spec, Executor: s.executor.Name(),
		Isolation: string(s.executor.Isolation()), Limits: s.journalLimits(), Setup: s.setup(),
	}); err != nil {
		said = append(said, "keep the session on disk: "+err.Error()+"; it goes on in memory")
	}
	s.recordMode(journal, history.Mode)
	resumed := s.start(journal, s.takeUp(history))
	if s.options.Think != "" {
		// What was chosen in the session counts, but not before what is said now.
		if err := resumed.SetThinking(thinking(s.settings.Thinking)); err != nil {
			return nil, said, errors.Join(err, resumed.Close())
		}
	}
	return resumed, append(said, s.brokenOff(resumed)...), nil
}

// recordMode keeps the mode that a session begins or goes on with, where its
// journal says another one. A journal that fails is told of with the next record.
func (s *System) recordMode(journal *session.Journal, recorded string) {
	if recorded == "" {
		recorded = string(policy.Build)
	}
	if mode := s.Mode(); mode != recorded {
		_ = journal.Append(&session.Mode{Mode: mode, By: "start"})
	}
}

// resumeError says what can be done about a session that cannot be opened.
func resumeError(id string, err error) error {
	var locked *state.LockedError
	if errors.As(err, &locked) {
		holder := ""
		if locked.PID > 0 {
			holder = fmt.Sprintf(" (process %d)", locked.PID)
		}
		return fmt.Errorf("session %s is open in another Garuda%s; use --fork to go on in a copy", id, holder)
	}
	return err
}

// find gives the id of the session to take up, or "" for a new one.
func (s *System) find(o SessionOptions) (string, []string, error) {
	switch {
	case o.Newest:
		info, err := s.sessions.Latest()
		if errors.Is(err, session.ErrNotFound) {
			return "", []string{"there is no session in this folder yet; this is a new one"}, nil
		}
		if err != nil {
			return "", nil, fmt.Errorf("find the newest session: %w", err)
		}
		return info.ID, nil, nil
	case o.Resume != "":
		info, err := s.sessions.Find(o.Resume)
		if err != nil {
			return "", nil, &SettingsError{Err: fmt.Errorf("find session %q: %w; see garuda sessions list", o.Resume, err)}
		}
		return info.ID, nil, nil
	}
	return "", nil, nil
}

// takeUpMode goes on in plan mode where the session was left in it. A journal
// lies in the project, so it can make nothing looser: another mode of its is
// forgotten, and a mode that was asked for on the command line counts.
func (s *System) takeUpMode(h *session.History) (said []string, err error) {
	if policy.Mode(h.Mode) != policy.Plan || s.options.Mode != "" || s.policy.Mode() == policy.Plan {
		return nil, nil
	}
	if err := s.policy.SetMode(policy.Plan); err != nil {
		return nil, fmt.Errorf("go on in plan mode: %w", err)
	}
	return []string{"going on in plan mode, as the session was left; --mode build ends it"}, nil
}

// takeUp prepares a history for the model that will go on with it.
func (s *System) takeUp(h *session.History) *session.History {
	if h.Model != s.model.Info().Spec {
		h.Messages = session.ForAnotherModel(h.Messages)
	}
	return h
}

// adopt makes sessions that are opened from now on begin with another model. Their
// system prompt names it, so it is built anew.
func (s *System) adopt(m llm.Model) {
	s.described = cmp.Or(s.described, s.model.Info().Spec)
	s.model, s.system = m, ""
}

// infoOf is what the settings say of a model: they describe the one that was begun
// with, and what they say of its window, price and output limit holds for no other.
func (s *System) infoOf(spec string) *config.ModelInfo {
	if spec == cmp.Or(s.described, s.model.Info().Spec) {
		return &s.settings.ModelInfo
	}
	return &config.ModelInfo{}
}

func (s *System) newSession() *engine.Session {
	id := core.NewSessionID(s.clock.Now())
	if s.options.InMemory {
		return s.start(session.Memory(id), nil)
	}
	journal, err := s.sessions.Create(id, s.startRecord(id))
	if err != nil {
		s.notices = append(s.notices, "keep the session on disk: "+err.Error()+"; it goes on in memory")
		journal = session.Memory(id)
	}
	s.recordMode(journal, "")
	return s.start(journal, nil)
}

// forkSession begins a new session with what the other one holds.
func (s *System) forkSession(id string, step int, said []string) (*engine.Session, []string, error) {
	copyID := core.NewSessionID(s.clock.Now())
	journal, history, err := s.sessions.Fork(id, copyID, step)
	if err != nil {
		return nil, said, err
	}
	said = append(said, fmt.Sprintf("going on in %s, a copy of %s", copyID, id))
	return s.resume(journal, history, said)
}

func (s *System) startRecord(id string) *session.Start {
	return &session.Start{
		SessionID: id, Root: s.workspace.Root(), Version: s.options.Version, Model: s.model.Info().Spec,
		Executor: s.executor.Name(), Isolation: string(s.executor.Isolation()), Limits: s.journalLimits(), Setup: s.setup(),
	}
}

func (s *System) journalLimits() session.Limits {
	l := s.settings.Limits
	return session.Limits{
		MaxSteps: l.MaxSteps, TokenBudget: l.TokenBudget, SpendUSD: l.SpendUSD,
		ContextWindow: s.model.Info().ContextWindow,
	}
}

// start connects a session to its journal and runs it.
func (s *System) start(journal *session.Journal, history *session.History) *engine.Session {
	pipeline := s.newPipeline()
	s.asking.Store(pipeline)
	pipeline.SessionID, pipeline.Env.Keeper = journal.ID(), journal
	if !s.options.InMemory {
		pipeline.Env.OutputDir = filepath.Join(s.state.Path(), state.SessionsName, journal.ID(), "output")
		pipeline.Env.MakeOutputDir = sync.OnceValues(journal.OutputDir)
	}
	var instructor engine.Instructor
	if s.instructions != nil {
		s.instructions.Forget() // what an earlier session was told
		instructor = s.instructions
	}
	return engine.New(engine.Config{
		Instructions: instructor, InstructionBytes: s.instructionBytes,
		ID: journal.ID(), Model: s.model, System: s.system, Tools: s.toolSpecs(toolset.On), Deferred: s.toolSpecs(toolset.Deferred), Pipeline: pipeline,
		Modes: modes{s.policy}, Thinking: thinking(s.settings.Thinking), DropThinking: !s.settings.Thinking.KeepBlocks,
		CanAsk: s.options.Attended, AnswerTool: s.answerName(), Wakes: s.options.Attended, Clock: s.clock, History: history,
		Limits: engine.Limits{
			MaxSteps: s.settings.Limits.MaxSteps, TokenBudget: s.settings.Limits.TokenBudget,
			SpendUSD: s.settings.Limits.SpendUSD, MaxOutput: s.infoOf(s.model.Info().Spec).MaxTokens,
		},
		Snapshots:   s.snapshots(),
		OpenJournal: func() (engine.Journal, error) { return journal, nil },
	})
}

// buildPrompt makes the system prompt, once, and says what it had to leave out.
func (s *System) buildPrompt() (said []string) {
	p := prompt.Parts{
		Root: s.workspace.Root(), Version: s.options.Version, Model: s.model.Info().Spec, Platform: runtime.GOOS,
		Tools: s.ToolNames(), Attended: s.options.Attended,
		Sandboxed: s.isolated(), Network: s.networkUnasked(),
	}
	if !s.options.NoInstructions {
		if s.instructions == nil {
			s.instructions = s.openInstructions()
		}
		files, left := s.instructions.Session()
		p.Instructions, said = promptInstructions(files), left
	}
	if slices.Contains(p.Tools, engine.ShellTool) {
		p.Notes = profile.Notes(s.hasFile)
	}
	facts, left := s.remembered()
	p.Memory, said = facts, append(said, left...)
	s.system, s.instructionBytes = prompt.Build(p), len(prompt.InstructionText(p.Instructions))
	if tight := roomNotice(s.model.Info(), s.system, s.toolSpecs(toolset.On)); tight != "" {
		said = append(said, tight)
	}
	return said
}

// modes is the policy's mode as the engine takes it.
type modes struct{ engine *policy.Engine }

func (m modes) Mode() string              { return string(m.engine.Mode()) }
func (m modes) SetMode(mode string) error { return m.engine.SetMode(policy.Mode(mode)) }
func (m modes) BeginTurn()                { m.engine.BeginTurn() }

// What surfaces ask about the system.

// Root is the real path of the folder worked in.
func (s *System) Root() string { return s.workspace.Root() }

// Mode is the permission mode.
func (s *System) Mode() string { return string(s.policy.Mode()) }

// Model describes the model; nil when none was opened.
func (s *System) Model() *llm.Info {
	if s.model == nil {
		return nil
	}
	return s.model.Info()
}

// Notices are what was noticed while the system was opened, a line each.
func (s *System) Notices() []string {
	if said := s.sandboxNotice(); said != "" {
		return append(s.notices[:len(s.notices):len(s.notices)], said)
	}
	return s.notices
}

// Sessions is the store of this folder's sessions.
func (s *System) Sessions() *session.Store { return s.sessions }

// State is the folder's .garuda.
func (s *System) State() *state.Dir { return s.state }

var _ tool.Decider = (*policy.Engine)(nil)
