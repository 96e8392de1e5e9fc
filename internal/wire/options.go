// Package wire builds the system out of its parts, from settings, flags and the
// environment. It is the only package that imports everything, and it holds no
// behaviour of its own: it decides who is connected to whom.
package wire

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"garuda/internal/config"
	"garuda/internal/llm"
	"garuda/internal/sandbox"
	"garuda/internal/tools/structured"
)

// Options are what the command line says about the system.
type Options struct {
	Version string
	// CWD is the folder to work in; empty means the process's own.
	CWD          string
	AddDirs      []string
	SettingsFile string
	Model        string
	// SubagentModel is the model of subagents; empty is the settings', else Model.
	SubagentModel string
	Mode          string
	Executor      string
	Yolo          bool
	Allow         []string
	Ask, Deny     []string
	// Tools, when not empty, names the only tools that are offered.
	Tools       []string
	MaxTurns    int
	MaxSpendUSD float64
	Think       string
	// AnswerSchema, when set, is what the answer of each turn must look like.
	AnswerSchema *structured.Schema
	// NoMemory leaves the project's memory alone: out of the prompt, and without its tools.
	NoMemory bool
	// NoUndo keeps no snapshots of the work tree, so that no turn can be taken back.
	NoUndo bool
	// NoInstructions leaves AGENTS.md and the like out of the prompt.
	NoInstructions bool
	// Attended says that a person answers questions.
	Attended bool
	// Consent asks the person about values of the project that count only with a
	// yes; nil asks nobody, and they are left out.
	Consent func([]config.Want) (Consent, error)
	// WithoutModel opens no model; InMemory keeps no journal, and no memory of the
	// sandbox, which is tried then; WithoutFolder opens
	// no project: the user's settings and providers are there, tools are not.
	WithoutModel, InMemory, WithoutFolder bool
	// RunsNothing is for commands that only read or write what Garuda keeps: the sandbox
	// is not looked for, nor is a word said of it, unless somebody asks.
	RunsNothing bool
	// FindSandbox stands in for the search of this machine's sandbox; for tests.
	FindSandbox func(context.Context) (sandbox.Executor, error)
	// UseModel stands in for the model that would be chosen; for the demo.
	UseModel llm.Model
}

// flags are the settings that were given on the command line.
func (o *Options) flags() []config.FlagValue {
	var out []config.FlagValue
	add := func(flag, key, text string) {
		if text != "" {
			out = append(out, config.FlagValue{Flag: flag, Key: key, Text: text})
		}
	}
	add("--mode", "mode", o.Mode)
	add("--subagent-model", "subagents.model", o.SubagentModel)
	add("--executor", "executor", o.Executor)
	add("--think", "thinking.effort", o.Think)
	if o.Think != "" {
		add("--think", "thinking.enabled", "true") // a level asks for thinking, whatever the settings say
	}
	add("--max-turns", "limits.maxSteps", positive(o.MaxTurns))
	add("--max-spend-usd", "limits.spendUsd", money(o.MaxSpendUSD))
	for _, rule := range o.Allow {
		add("--allow", "permissions.allow", rule)
	}
	for _, rule := range o.Ask {
		add("--ask", "permissions.ask", rule)
	}
	for _, rule := range o.Deny {
		add("--deny", "permissions.deny", rule)
	}
	return out
}

// places are the folders outside the project that the system knows.
type places struct {
	// user is the user's home folder, garuda Garuda's own in it.
	user, garuda, configHome string
}

// findPlaces reads them from the environment. A relative one would be another
// folder in each project, and then the project's own: what lies in it is trusted
// as the user's.
func findPlaces() (places, error) {
	// Without a home there are simply no user settings and no credentials.
	home, _ := os.UserHomeDir()
	p := places{user: home, garuda: os.Getenv("GARUDA_HOME"), configHome: os.Getenv("XDG_CONFIG_HOME")}
	if p.garuda == "" && home != "" {
		p.garuda = filepath.Join(home, ".garuda")
	}
	for _, v := range []struct{ name, path string }{{"HOME", p.user}, {"GARUDA_HOME", p.garuda}} {
		if v.path != "" && !filepath.IsAbs(v.path) {
			return p, &SettingsError{Err: fmt.Errorf("%s is %q, which is no absolute path", v.name, v.path)}
		}
	}
	if !filepath.IsAbs(p.configHome) {
		p.configHome = "" // its own rules say to pass over a relative one
	}
	return p, nil
}
