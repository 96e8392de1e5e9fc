// Package policy decides what a tool call may do: the one ordered decision table,
// rules, the guard, modes, a person's answers, and the grants that let a call run.
//
// It runs no tool and no command, asks nobody, and writes no file; it reads the
// file system to learn where links lead, the hashes of approved scripts, and how
// a git repository is configured. Every call of every agent in every surface
// goes through Engine.Decide.
package policy

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"garuda/internal/policy/shellscan"
	"garuda/internal/protect"
	"garuda/internal/tool"
)

// Mode is how much is done without a question.
type Mode string

// The modes, as settings and flags name them.
const (
	Build       Mode = "build"
	Plan        Mode = "plan"
	AcceptEdits Mode = "accept_edits"
)

// Modes lists the modes for error messages and completion.
func Modes() []string { return []string{string(Build), string(Plan), string(AcceptEdits)} }

// ToolInfo is what the engine has to know of each tool that exists, on or off.
type ToolInfo struct {
	Name  string
	Class tool.Class
	// Fields are the names in its input, where they are known.
	Fields []string
}

// Rule is one permission rule.
type Rule struct {
	// Text is tool or tool(pattern).
	Text string
	// Match and NotMatch are examples, checked at start: commands, paths or hosts
	// that the rule must, or must not, cover.
	Match, NotMatch []string
	// Files are scripts that the rule depends on, relative to the root, each with
	// "sha256:" and the hash it must have for the rule to count.
	Files map[string]string
}

// Rules makes rules of plain texts.
func Rules(texts ...string) []Rule {
	out := make([]Rule, len(texts))
	for i, t := range texts {
		out[i] = Rule{Text: t}
	}
	return out
}

// RuleSource is the rules of one place: a settings file, a flag.
type RuleSource struct {
	// Source is how a decision names it: "~/.garuda/settings.json", "--allow".
	Source           string
	Allow, Ask, Deny []Rule
}

// Resolver says where a path really leads.
type Resolver interface {
	// Real follows every link of an absolute path as the system would. The last
	// parts need not exist.
	Real(path string) (string, error)
}

// Config is what an Engine is made from. Paths are absolute.
type Config struct {
	Root  string
	Added []string
	Home  string
	Mode  Mode
	Yolo  bool
	// Attended is false when nobody can answer; what would be asked is denied.
	Attended bool
	// Isolated says whether commands run inside an isolating sandbox now. Nil: no.
	Isolated func() bool
	// Tools are all known tools; a rule for another one is an error.
	Tools []ToolInfo
	Rules []RuleSource
	// Team is what the team policy forbids, before any rule.
	Team Team
	// Guard overrides what an entry of the guard does: off, ask or deny by id.
	Guard map[string]string
	// EnvNames are the variables a command's environment has.
	EnvNames []string
	// FoldCase ignores case in names, as the file system does.
	FoldCase bool
	// Resolver defaults to following links through the operating system.
	Resolver Resolver
	// SaveProjectRule keeps an allow rule that "always in this project" adds. Nil:
	// that answer is not offered.
	SaveProjectRule func(rule Rule) error
}

// Engine decides. Its methods may be called from several goroutines at once.
type Engine struct {
	cfg     Config
	root    place
	roots   []string // the root and the added folders, as given
	places  []string // the same, as they really are
	env     map[string]bool
	tools   map[string]ToolInfo
	rules   ruleSet
	team    team
	guard   map[string]string
	entries []guardEntry
	// secrets and steering are the sensitive and the protected names.
	secrets  *protect.List
	steering *protect.List
	rows     []row
	// walkLimit is maxWalk.
	walkLimit int

	mode  atomic.Pointer[Mode]
	reads readCache

	mu      sync.Mutex
	session []*rule         // answers of this session
	exact   []exactApproval // commands approved as they stand
	denied  map[string]denial
}

// New checks a configuration. An error names the rule, its source and the
// nearest known name.
func New(cfg Config) (*Engine, error) {
	e := &Engine{
		cfg: cfg, rows: table(), entries: guardEntries(), walkLimit: maxWalk,
		secrets:  protect.Compile(protect.Sensitive(), cfg.FoldCase),
		steering: protect.Compile(slices.Concat(protect.Locked(), protect.Watched()), cfg.FoldCase),
		denied:   map[string]denial{}, env: map[string]bool{}, tools: map[string]ToolInfo{},
	}
	if cfg.Resolver == nil {
		e.cfg.Resolver = linkResolver{}
	}
	if !filepath.IsAbs(cfg.Root) {
		return nil, fmt.Errorf("make the permission engine: the root %q is not an absolute path", cfg.Root)
	}
	if cfg.Mode == "" {
		e.cfg.Mode = Build
	}
	if err := e.SetMode(e.cfg.Mode); err != nil {
		return nil, err
	}
	for _, name := range cfg.EnvNames {
		e.env[name] = true
	}
	for _, t := range append([]ToolInfo{{Name: "unsandboxed", Class: tool.ClassCommand}, {Name: "network", Class: tool.ClassURL}}, cfg.Tools...) {
		e.tools[t.Name] = t
	}
	for _, dir := range append([]string{cfg.Root}, cfg.Added...) {
		if err := e.addRoot(dir); err != nil {
			return nil, err
		}
	}
	if cfg.Resolver == nil {
		e.cfg.Resolver = linkResolver{root: e.root}
	}
	guard, err := guardActions(cfg.Guard)
	if err != nil {
		return nil, err
	}
	e.guard = guard
	if err := e.compileTeam(cfg.Team); err != nil {
		return nil, err
	}
	if err := e.compileRules(cfg.Rules); err != nil {
		return nil, err
	}
	return e, nil
}

// place is a folder in its spellings.
type place struct{ given, real string }

func (e *Engine) addRoot(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("make the permission engine: the folder %q is not an absolute path", dir)
	}
	dir = filepath.Clean(dir)
	real, err := e.cfg.Resolver.Real(dir)
	if err != nil {
		return fmt.Errorf("make the permission engine: find where the folder %s leads: %w", dir, err)
	}
	if e.root.given == "" {
		e.root = place{given: dir, real: real}
	}
	e.roots = append(e.roots, dir)
	e.places = append(e.places, real)
	return nil
}

// SetMode changes the mode from the next decision on.
func (e *Engine) SetMode(m Mode) error {
	if !slices.Contains(Modes(), string(m)) {
		return fmt.Errorf("unknown mode %q: use build, plan or accept_edits", m)
	}
	e.mode.Store(&m)
	return nil
}

// Mode is the mode that the next decision is made in.
func (e *Engine) Mode() Mode { return *e.mode.Load() }

// BeginTurn forgets what was denied in the turn before.
func (e *Engine) BeginTurn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.denied = map[string]denial{}
	e.reads.clear()
}

// Decide says what may happen to a call. An allow carries its grant, an ask its
// question; a denial is remembered for the turn.
func (e *Engine) Decide(req *tool.DecisionRequest) *tool.Decision {
	s := e.situation(req, e.cfg.Attended)
	d := s.decide()
	switch d.Outcome {
	case tool.Allow:
		d.Grant = s.grant()
		if s.neutralGit {
			d.Grant.CommandEnv = shellscan.NeutralGitEnv()
		}
		if s.changing() {
			e.reads.clear()
		}
	case tool.Ask:
		d.Scripts = s.scriptHashes()
	case tool.Deny:
		e.remember(s, d)
	}
	return d
}

// Explain decides as an attended session would, and changes nothing: no grant,
// no question, no memory.
func (e *Engine) Explain(req *tool.DecisionRequest) *tool.Decision {
	d := e.situation(req, true).decide()
	d.Question = nil
	return d
}

// context is what the shell analysis sees of this place.
func (e *Engine) context(m memo) *shellscan.Context {
	return &shellscan.Context{
		Root:          e.root.given,
		Home:          e.cfg.Home,
		InEnvironment: func(name string) bool { return e.env[name] },
		Inside:        func(path string) bool { return e.inside(m, path) },
		Glob:          glob,
		FoldCase:      e.cfg.FoldCase,
	}
}
