package wire

import (
	"encoding/json"
	"maps"
	"slices"

	"garuda/internal/engine"
	"garuda/internal/llm"
	"garuda/internal/policy"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
	"garuda/internal/tools/toolsearch"
)

// openTools decides which tools there are and makes tool_search for the deferred
// ones. All that are not off can be called; what the model gets is in s.tools.
func (s *System) openTools() error {
	all := append(allTools(s), toolsearch.New(nil))
	rows, err := toolset.Decide(specsOf(all), s.given())
	if err != nil {
		return &SettingsError{Err: err}
	}
	callable := make(map[string]bool, len(rows))
	off := map[string]string{}
	var deferred []*tool.Spec
	for _, r := range rows {
		callable[r.Spec.Name] = r.State != toolset.Off
		if r.State == toolset.Deferred {
			deferred = append(deferred, r.Spec)
		}
		if r.State == toolset.Off {
			off[r.Spec.Name] = r.Why
		}
	}
	search := toolsearch.New(deferred)
	all[len(all)-1] = search
	var tools []tool.Tool
	for _, t := range all {
		if callable[t.Spec().Name] {
			tools = append(tools, t)
		}
	}
	for i := range rows {
		if rows[i].Spec.Name == toolset.Search {
			rows[i].Spec = search.Spec()
		}
	}
	s.tools = rows
	if s.registry, err = tool.NewRegistry(tools...); err != nil {
		return err
	}
	s.registry.Off = off
	return nil
}

func specsOf(tools []tool.Tool) []*tool.Spec {
	out := make([]*tool.Spec, len(tools))
	for i, t := range tools {
		out[i] = t.Spec()
	}
	return out
}

// given is what decides which tools this system offers.
func (s *System) given() *toolset.Given {
	set := s.settings
	return &toolset.Given{
		Sets: set.ToolSets, Only: s.only(),
		Daemons: set.Daemons, Todo: set.Todo, LSP: set.LSP, MoE: set.MoE.Enabled, Subagents: set.Subagents.Enabled,
		Web: set.Web.Enabled, CodeIndex: set.CodeIndex, NoUse: s.noUse(),
	}
}

// noUse says of session tools why this system has no use for them.
func (s *System) noUse() map[string]string {
	out := map[string]string{}
	s.memoryNoUse(out)
	if !s.options.Attended {
		for _, name := range []string{"ask", "enter_plan_mode", "exit_plan_mode"} {
			out[name] = "nobody answers questions here"
		}
	}
	return out
}

// Tools lists every tool with its state, sorted by name.
func (s *System) Tools() []toolset.Row { return s.tools }

// ToolNames lists the tools that are in every request.
func (s *System) ToolNames() []string {
	var out []string
	for _, spec := range s.toolSpecs(toolset.On) {
		out = append(out, spec.Name)
	}
	return out
}

// Registry holds the tools that can be called, those among them that are deferred
// too.
func (s *System) Registry() *tool.Registry { return s.registry }

// toolSpecs are the tools of a state as a model gets them.
func (s *System) toolSpecs(state toolset.State) []llm.ToolSpec {
	var out []llm.ToolSpec
	for _, r := range s.tools {
		if r.State == state {
			out = append(out, toolSpec(r.Spec))
		}
	}
	return out
}

// toolSpec is a tool as a model gets it.
func toolSpec(s *tool.Spec) llm.ToolSpec {
	return llm.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema}
}

// toolInfos are all tools that a rule may name, offered or not.
func (s *System) toolInfos() []policy.ToolInfo {
	out := make([]policy.ToolInfo, len(s.tools))
	for i, r := range s.tools {
		out[i] = policy.ToolInfo{Name: r.Spec.Name, Class: r.Spec.Class, Fields: fieldsOf(r.Spec)}
	}
	return out
}

// fieldsOf are the names in a tool's input.
func fieldsOf(spec *tool.Spec) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(spec.Schema, &schema) != nil {
		return nil // then nothing is said of its fields
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

// toolsOf are the tools as a session has them: a deferred one that it has loaded
// is on.
func (s *System) toolsOf(e *engine.Session) []toolset.Row {
	loaded := make(map[string]bool)
	for _, name := range e.LoadedTools() {
		loaded[name] = true
	}
	out := make([]toolset.Row, len(s.tools))
	for i, r := range s.tools {
		if loaded[r.Spec.Name] {
			r.State, r.Why = toolset.On, "loaded by "+toolset.Search
		}
		out[i] = r
	}
	return out
}
