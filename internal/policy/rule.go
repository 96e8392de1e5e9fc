package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/nearest"
	"garuda/internal/pathglob"
	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// A ruleKind is the list a rule stands in.
type ruleKind string

const (
	allowRule ruleKind = "allow"
	askRule   ruleKind = "ask"
	denyRule  ruleKind = "deny"
)

// rule is a compiled rule.
type rule struct {
	text, source string
	kind         ruleKind
	// tools are the known tools it is for; mcp is the beginning of names of
	// tools that come from MCP servers.
	tools map[string]bool
	mcp   string
	all   bool
	// one of these, or none for a bare tool
	glob    *pathGlob
	command *shellscan.Pattern
	host    *hostGlob
	field   [2]string

	files map[string]string

	// pattern is what stands in the brackets, warnings what a person should know.
	pattern  string
	warnings []string
}

type ruleSet struct{ allow, ask, deny []*rule }

func (r *rule) bare() bool {
	return r.glob == nil && r.command == nil && r.host == nil && r.field[0] == ""
}

// forTool tells whether the rule is for a tool.
func (r *rule) forTool(name string) bool {
	return r.all || r.tools[name] || r.mcp != "" && mcpMatches(r.mcp, name)
}

// mcpMatches: mcp__server and mcp__server__* are all tools of a server.
func mcpMatches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return name == pattern || strings.Count(pattern, "__") == 1 && strings.HasPrefix(name, pattern+"__")
}

func (e *Engine) compileRules(sources []RuleSource) error {
	var errs []error
	for _, src := range sources {
		for _, list := range []struct {
			kind  ruleKind
			rules []Rule
			into  *[]*rule
		}{{allowRule, src.Allow, &e.rules.allow}, {askRule, src.Ask, &e.rules.ask}, {denyRule, src.Deny, &e.rules.deny}} {
			for _, in := range list.rules {
				r, err := e.compileRule(in.Text, list.kind, src.Source)
				if err == nil {
					r.files = in.Files
					err = e.checkExamples(r, in)
				}
				if err != nil {
					errs = append(errs, fmt.Errorf("%s: the %s rule %s: %w", src.Source, list.kind, in.Text, err))
					continue
				}
				*list.into = append(*list.into, r)
			}
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) compileRule(text string, kind ruleKind, source string) (*rule, error) {
	r := &rule{text: text, source: source, kind: kind}
	name, pattern, hasPattern := strings.Cut(text, "(")
	if hasPattern {
		var ok bool
		if pattern, ok = strings.CutSuffix(pattern, ")"); !ok {
			return nil, errors.New("the bracket is not closed: write tool(pattern)")
		}
		if strings.TrimSpace(pattern) == "" {
			return nil, errors.New("the pattern is empty: write the tool alone to mean all of its calls")
		}
	}
	class, err := e.ruleTools(r, name)
	if err != nil || !hasPattern {
		if err == nil {
			warnBare(r, class)
		}
		return r, err
	}
	r.pattern = pattern
	return r, e.rulePattern(r, class, pattern)
}

// ruleTools finds the tools that a rule is for; class is theirs when it is one.
func (e *Engine) ruleTools(r *rule, name string) (tool.Class, error) {
	if strings.HasPrefix(name, "mcp__") {
		r.mcp = name
		return tool.ClassInput, nil
	}
	r.tools = map[string]bool{}
	match := func(t ToolInfo) bool { return t.Name == name }
	switch prefix, star := strings.CutSuffix(name, "*"); {
	case name == "":
		return "", errors.New("it names no tool: write tool or tool(pattern)")
	case name == "*":
		r.all = true
		match = func(ToolInfo) bool { return true }
	case strings.HasPrefix(name, "@"):
		group, ok := toolGroup(name)
		if !ok {
			return "", fmt.Errorf("unknown group %s; the groups are @edit, @read and @git", name)
		}
		match = group
	case star:
		match = func(t ToolInfo) bool { return strings.HasPrefix(t.Name, prefix) }
	}
	classes := map[tool.Class]bool{}
	for _, t := range e.tools {
		if match(t) {
			r.tools[t.Name] = true
			classes[t.Class] = true
		}
	}
	if len(r.tools) == 0 && !strings.HasPrefix(name, "@") {
		return "", e.unknownTool(name)
	}
	if len(classes) == 1 {
		for c := range classes {
			return c, nil
		}
	}
	if strings.HasPrefix(name, "@") {
		return tool.ClassPath, nil
	}
	return "", nil
}

func toolGroup(name string) (func(ToolInfo) bool, bool) {
	switch name {
	case "@edit":
		return func(t ToolInfo) bool { return t.Class == tool.ClassPath }, true
	case "@read":
		return func(t ToolInfo) bool { return t.Class == tool.ClassRead }, true
	case "@git":
		return func(t ToolInfo) bool { return strings.HasPrefix(t.Name, "git_") }, true
	}
	return nil, false
}

func (e *Engine) unknownTool(name string) error {
	known := make([]string, 0, len(e.tools))
	for n := range e.tools {
		known = append(known, n)
	}
	slices.Sort(known)
	if near := nearest.Of(strings.TrimSuffix(name, "*"), known); near != "" {
		return fmt.Errorf("unknown tool %s; did you mean %s?", name, near)
	}
	return fmt.Errorf("unknown tool %s; `garuda tools` lists the known ones", name)
}

func (e *Engine) rulePattern(r *rule, class tool.Class, pattern string) error {
	switch class {
	case tool.ClassCommand:
		p, never, err := shellscan.CompilePattern(pattern)
		if err != nil {
			return err
		}
		r.command = p
		warnCommand(r, never)
	case tool.ClassPath, tool.ClassRead:
		g, err := compileGlob(pattern, e.cfg.Home, r.kind != allowRule, e.cfg.FoldCase)
		if err != nil {
			return err
		}
		r.glob = g
		e.warnPath(r, pattern)
	case tool.ClassURL:
		host, err := compileHost(pattern)
		if err != nil {
			return err
		}
		r.host = host
	case tool.ClassInput, tool.ClassSession:
		field, value, ok := strings.Cut(pattern, ":")
		if !ok || field == "" {
			return errors.New("this tool takes no pattern but (field:value)")
		}
		if r.kind == allowRule {
			return errors.New("(field:value) counts in ask and deny only; an allow rule names the tool alone")
		}
		r.field = [2]string{field, value}
		e.warnField(r)
	default:
		return errors.New("a pattern needs tools of one kind: commands, paths or hosts")
	}
	return nil
}

// pathGlob is a compiled path pattern; see package pathglob.
type pathGlob struct{ *pathglob.Glob }

func compileGlob(pattern, home string, contents, fold bool) (*pathGlob, error) {
	if strings.HasPrefix(pattern, "!") {
		return nil, fmt.Errorf("no pattern takes anything back: write \\%s for a name that begins so, or another rule for what is to be left out", pattern)
	}
	g, err := pathglob.Compile(pattern, home, contents, fold)
	if err != nil {
		return nil, err
	}
	return &pathGlob{g}, nil
}

func (s spelling) place() pathglob.Place {
	return pathglob.Place{Abs: s.abs, Rel: s.rel, FromRoot: s.fromRoot}
}

// matches tells whether the pattern covers one spelling of a path. A refusing
// rule at any depth also reaches outside the root.
func (g *pathGlob) matches(s spelling, refusing bool) bool { return g.Matches(s.place(), refusing) }

// names tells whether the pattern's last part has a literal character and matches
// the file's own name: only such a rule opens sensitive and protected files.
func (g *pathGlob) names(s spelling) bool { return g.Names(s.place()) }
