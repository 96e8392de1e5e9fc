// Package toolset decides which tools a session has on the wire, which ones the
// model has to find first, and which ones are nowhere.
//
// It is one pure function over what tools say of themselves and what settings,
// flags and the surface say. It reads no settings, makes no tool and never asks.
package toolset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"garuda/internal/nearest"
	"garuda/internal/tool"
)

// State is how a session has a tool.
type State string

const (
	// On tools are in every request, Deferred ones are found through tool_search,
	// Off ones are nowhere.
	On       State = "on"
	Deferred State = "deferred"
	Off      State = "off"
)

// Search is the tool that finds deferred ones; it is on where there are any.
const Search = "tool_search"

// core is the set that is never deferred.
const core = "core"

// Given is what the decision depends on, beside the tools.
type Given struct {
	// Sets are the names of toolSets in force: "git" is on, "-web" is off, a set
	// that is not named is deferred.
	Sets []string
	// Only, when not empty, are the tools of --tools: exactly these.
	Only []string
	// The keys that switch features, whatever Sets says. Web only switches off:
	// on, its tools follow their set.
	Daemons, Todo, LSP, MoE, Subagents, Web bool
	// CodeIndex is off, lookup or all.
	CodeIndex string
	// NoUse says of tools for which this session has no use why that is so, by
	// name: "nobody answers questions here" for ask.
	NoUse map[string]string
}

// Row is one tool with its state, and what decided it, in a few words.
type Row struct {
	Spec  *tool.Spec
	State State
	Why   string
}

// feature is a key of the settings and the tools that it switches on and off.
type feature struct {
	key   string
	on    bool
	tools []string
	// follow says that tools of a feature that is on still follow their set: only
	// those without which the feature is of no use cost bytes in every request.
	follow bool
}

// features are the tools that a key of their own decides about; a tool that is
// switched by its key needs its name here, and every other one nothing.
func (g *Given) features() []feature {
	return []feature{
		{"daemons.enabled", g.Daemons, []string{"process_manager"}, false},
		{"daemons.enabled", g.Daemons, []string{"monitor", "sleep"}, true},
		{"todo.enabled", g.Todo, []string{"todo_write"}, false},
		{"lsp.enabled", g.LSP, []string{"lsp"}, false},
		{"moe.enabled", g.MoE, []string{"delegate_expert"}, false},
		{"subagents.enabled", g.Subagents, []string{"task", "agent", "send_message", "team_create", "team_delete"}, false},
		{"codeIndex", g.CodeIndex == "lookup" || g.CodeIndex == "all", []string{
			"find_symbol", "find_references", "find_callers", "impact_analysis", "ast_query",
		}, false},
		{"codeIndex all", g.CodeIndex == "all", []string{"repo_map"}, false},
	}
}

// gated are the keys without which a set is off.
func (g *Given) gated(set string) string {
	if set == "web" && !g.Web {
		return "web.enabled is off"
	}
	return ""
}

// Decide gives each tool its state, sorted by name. The error is the user's: a
// name in Only that is no tool, or one that nothing can offer here.
func Decide(specs []*tool.Spec, g *Given) ([]Row, error) {
	rows := make([]Row, len(specs))
	waiting := 0
	for i, s := range specs {
		rows[i] = g.row(s)
		if rows[i].State == Deferred {
			waiting++
		}
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Compare(a.Spec.Name, b.Spec.Name) })
	if len(g.Only) > 0 {
		return g.only(rows)
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Spec.Name != Search || r.State == Off:
		case waiting == 0:
			r.State, r.Why = Off, "no tool is deferred"
		default:
			r.Why = "finds those that are deferred"
		}
	}
	return rows, nil
}

// row is the state of one tool, before --tools.
func (g *Given) row(s *tool.Spec) Row {
	if why, none := g.NoUse[s.Name]; none {
		return Row{s, Off, why}
	}
	for _, f := range g.features() {
		switch {
		case !slices.Contains(f.tools, s.Name):
		case !f.on:
			return Row{s, Off, f.key + " is off"}
		case !f.follow:
			return Row{s, On, f.key}
		}
	}
	if why := g.gated(s.Set); why != "" {
		return Row{s, Off, why}
	}
	switch {
	case s.Set == "":
		return Row{s, On, "of the session"}
	case slices.Contains(g.Sets, "-"+s.Set):
		return Row{s, Off, "toolSets has -" + s.Set}
	case s.Set == core || slices.Contains(g.Sets, s.Set):
		return Row{s, On, "set " + s.Set}
	}
	return Row{s, Deferred, "toolSets has no " + s.Set}
}

// only leaves on what --tools names. It counts before toolSets, but switches on
// nothing that a key has switched off or that has no use here.
func (g *Given) only(rows []Row) ([]Row, error) {
	withoutSets := *g
	withoutSets.Sets = nil
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Spec.Name
	}
	for _, name := range g.Only {
		i := slices.Index(names, name)
		if i < 0 {
			text := fmt.Sprintf("--tools: there is no tool %q", name)
			if near := nearest.Of(name, names); near != "" {
				text += fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, errors.New(text)
		}
		if name == Search {
			return nil, fmt.Errorf("--tools: %s finds tools that are deferred, and --tools offers exactly those that it names; leave it out", Search)
		}
		if r := withoutSets.row(rows[i].Spec); r.State == Off {
			return nil, fmt.Errorf("--tools: %s cannot be offered: %s", name, r.Why)
		}
	}
	for i := range rows {
		r := &rows[i]
		switch {
		case slices.Contains(g.Only, r.Spec.Name):
			r.State, r.Why = On, "--tools"
		case r.State != Off:
			r.State, r.Why = Off, "not in --tools"
		}
	}
	return rows, nil
}

// Sums says what the tools cost, in a line.
func Sums(rows []Row) string {
	sum := map[State]int{}
	for _, r := range rows {
		sum[r.State] += r.Spec.Bytes()
	}
	text := fmt.Sprintf("%d bytes of tools in each request", sum[On])
	if n := sum[Deferred]; n > 0 {
		text += fmt.Sprintf("; %d bytes more if all that are deferred were loaded", n)
	}
	return text
}
