// Package config reads Garuda's settings: what every key is called, which type,
// default and unit it has, how far a project may set it, and what it means. All of
// that stands once, in the table of keys.go; the JSON Schema, docs/settings.md and
// the tests are made from it.
//
// It never decides a permission, never reads the environment, credentials or
// models.json, and writes one file only: the user's own settings for a project.
package config

// Settings are the values in force. They never change after Load.
type Settings struct {
	// Model is provider/model, or empty when none was chosen.
	Model     string
	ModelInfo ModelInfo
	// ToolSets are the sets that are switched on, in the order they were named.
	ToolSets []string
	// Mode is build, plan or accept_edits.
	Mode string
	// Executor is auto, os or host.
	Executor string
	// Strict is the strict profile: no sandbox, no start.
	Strict      bool
	Sandbox     Sandbox
	Permissions Permissions
	// Guard has every entry of the guard, in a fixed order.
	Guard []GuardEntry
	// EnvAllow are names of environment variables that commands get.
	EnvAllow []string
	Network  Network
	Web      Web
	Limits   Limits

	Subagents Agents
	MoE       Agents
	// Daemons allows commands in the background; Undo keeps snapshots; Todo and
	// LSP offer their tools; the others load what they are called.
	Daemons, Skills, AgentFiles, Commands, Hooks, MCP, Undo, Todo, LSP bool
	// CodeIndex is off, lookup or all.
	CodeIndex  string
	Formatters Formatters
	// ShellMode is direct or staged.
	ShellMode     string
	Thinking      Thinking
	Notifications Notifications
	UI            UI
	Jobs          Jobs
	Audit         Audit
	// Telemetry stands in for OTEL_* environment variables.
	Telemetry map[string]string

	sources map[string][]Source
	wanted  []Want
}

// ModelInfo overrides what the catalogue says of the model; zero means nothing said.
type ModelInfo struct {
	// ContextWindow and MaxTokens (the output limit) are in tokens.
	ContextWindow, MaxTokens int
	Price                    Price
}

// Price is in US dollars for a million tokens; nil means nothing said.
type Price struct{ Input, Output, CacheRead, CacheWrite *float64 }

// Sandbox says what commands may touch beyond the project. Paths are as written:
// ~/ is the home folder, other relative ones start at the root.
type Sandbox struct {
	WritePaths, DenyRead, AllowUnixSockets []string
	AllowLocalhostPorts                    []int
	Limits                                 SandboxLimits
}

// SandboxLimits bound one command. MemoryMB and FileMB are in MiB; 0 is no limit.
type SandboxLimits struct{ Processes, MemoryMB, FileMB int }

// Permissions are the rules of every source, in the order they were read.
type Permissions struct{ Allow, Ask, Deny []Rule }

// Rule is one permission rule as it was written; package policy reads its text.
type Rule struct {
	// Text is tool or tool(pattern).
	Text string
	// Match and NotMatch are examples that must hold.
	Match, NotMatch []string
	// Files binds the rule to the content of scripts: path to "sha256:<hex>".
	Files  map[string]string
	Source Source
	// Line is where it stands in its file; 0 for a flag.
	Line int
}

// GuardEntry is a kind of dangerous command, and what happens to it: off, ask or deny.
type GuardEntry struct{ ID, Level string }

// Network is what commands may reach from inside the sandbox.
type Network struct {
	// Allow are host patterns and names of presets; Ports those beside 80 and 443.
	Allow []string
	Ports []int
}

// Web switches web_fetch and web_search.
type Web struct{ Enabled, AllowLocalhost bool }

// Limits bound a turn or a session.
type Limits struct {
	// MaxSteps is how many model requests a turn may make.
	MaxSteps int
	// TokenBudget is for the session and its tree of agents.
	TokenBudget int
	// SpendUSD is in US dollars; 0 is no limit.
	SpendUSD float64
	// CommandTimeoutMs is in milliseconds.
	CommandTimeoutMs int
}

// Agents is a kind of agent: whether it is offered, and each one's own limits.
type Agents struct {
	Enabled               bool
	MaxSteps, TokenBudget int
	// Model is provider/model; empty is the main model. Only for subagents.
	Model string
}

// Formatters run after a write.
type Formatters struct {
	Enabled bool
	// Commands has a formatter's replacement by its name.
	Commands map[string]FormatterCommand
}

// FormatterCommand replaces a built-in formatter, adds one, or switches one off.
type FormatterCommand struct {
	Off bool
	// Extensions are the files it is for (".go"); in Command, $FILE is the file.
	Extensions []string
	Command    string
}

// Thinking is how the model thinks before it answers.
type Thinking struct {
	// Enabled is nil and Effort empty where the model's own default holds.
	Enabled *bool
	Effort  string
	// Show opens the thinking in the chat; KeepBlocks sends it back to the model.
	Show, KeepBlocks bool
}

// Notifications tell a person who looks elsewhere.
type Notifications struct {
	Channel string
	// AfterSeconds is how long a turn must take for its end to be told.
	AfterSeconds int
}

// UI is how the chat looks.
type UI struct {
	Theme string
	Vim   bool
	// StatusLine is a command whose output replaces the footer; empty for none.
	StatusLine string
	Details    bool
}

// Jobs is where scheduled work is kept and what may start it.
type Jobs struct {
	DatabaseURL, TriggerSocket string
	Triggers                   bool
}

// Audit is the log of decisions. Level is all, mutations or denials.
type Audit struct {
	Enabled, Checkpoint bool
	Level               string
	// Mandatory is set by the team policy alone: no call goes on without its line.
	Mandatory bool
}

// Source is where a value came from.
type Source struct {
	Kind SourceKind
	// Name is what a person is shown: "~/.garuda/settings.json", "--allow".
	Name string
}

// SourceKind ranks the sources: later ones win for single values.
type SourceKind int

// The sources, in the order they are read.
const (
	BuiltIn SourceKind = iota
	Project
	User
	UserProject
	File
	Flag
	Policy
)

// Sources says where a key's value came from: one source, or for a list all that
// added to it. The built-in default is a source only while nothing else said anything.
func (s *Settings) Sources(key string) []Source {
	if from := s.sources[key]; len(from) > 0 {
		return from
	}
	return []Source{{BuiltIn, "built-in"}}
}
