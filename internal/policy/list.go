package policy

import (
	"maps"
	"slices"
	"strings"

	"garuda/internal/policy/shellscan"
)

// ListedRule is a rule for people to read.
type ListedRule struct {
	// Kind is allow, ask or deny, or team for what the team policy forbids.
	Kind   string `json:"list"`
	Rule   string `json:"rule"`
	Source string `json:"source"`
	// Findings are what a person should know of it: that it never counts, that it
	// covers more than it looks, that what it depends on has changed.
	Findings []string `json:"findings,omitempty"`
}

// Rules lists what is in force with its sources: what the team policy forbids, the
// rules as they are consulted, the session's answers last.
func (e *Engine) Rules() []ListedRule {
	out := e.teamRules()
	for _, list := range [][]*rule{e.rules.deny, e.rules.ask, e.rules.allow} {
		for _, r := range list {
			out = append(out, e.listed(r))
		}
	}
	e.mu.Lock()
	session, exact := e.session, e.exact
	e.mu.Unlock()
	for _, r := range session {
		out = append(out, e.listed(r))
	}
	for _, x := range exact {
		l := ListedRule{Kind: string(allowRule), Rule: x.tool + "(" + x.text + ")", Source: sessionSource}
		if !filesUnchanged(x.files) {
			l.Findings = []string{"it does not count any more: a script that it runs has changed"}
		}
		out = append(out, l)
	}
	return out
}

func (e *Engine) teamRules() []ListedRule {
	out := []ListedRule{}
	add := func(text, file string) { out = append(out, ListedRule{Kind: "team", Rule: text, Source: file}) }
	t := &e.team
	if t.requireSandbox {
		add("no command without a sandbox", t.requiredBy)
	}
	for _, c := range t.commands {
		add("no command "+c.Text, c.File)
	}
	for _, p := range t.paths {
		add("no path "+p.Text, p.File)
	}
	for _, h := range t.hosts {
		add("no host "+h.Text, h.File)
	}
	return out
}

func (e *Engine) listed(r *rule) ListedRule {
	return ListedRule{Kind: string(r.kind), Rule: r.text, Source: r.source, Findings: e.findings(r)}
}

// findings are what is known of a rule now: what was wrong with it at start, and
// what the other rules and the disk make of it.
func (e *Engine) findings(r *rule) []string {
	out := slices.Clone(r.warnings)
	add := func(text string) { out = append(out, text) }
	if r.files != nil && !e.filesHold(r) {
		add("it does not count now: " + strings.Join(slices.Sorted(maps.Keys(r.files)), ", ") + " changed since it was allowed")
	}
	if r.kind == denyRule {
		return out
	}
	if by := e.refusedBy(r); by != nil {
		add("it never counts: the " + string(by.kind) + " rule " + by.text + " (" + by.source + ") comes before it")
	}
	if r.kind != allowRule {
		return out
	}
	if sub := e.runsGitAsItIs(r); sub != "" {
		add("git " + sub + " then runs with the repository's own configuration: pagers, filters and external diffs that it names are executed; " +
			"without the rule it runs unasked too, with these switched off")
	}
	if r.glob != nil {
		switch path := "/" + strings.NewReplacer("**/", "", "*", "x", "?", "x").Replace(strings.TrimPrefix(r.pattern, "~")); {
		case r.glob.Literal() && e.secrets.Has(path):
			add("it opens a file that holds secrets")
		case r.glob.Literal() && e.steering.Has(path):
			add("it opens a file that decides what other programs run or are told")
		}
	}
	return out
}

// refusedBy finds a rule that is consulted first and takes every call of this one:
// the same text, or the same tool alone. Of ask rules only those count for allow.
func (e *Engine) refusedBy(r *rule) *rule {
	lists := [][]*rule{e.rules.deny}
	if r.kind == allowRule {
		lists = append(lists, e.rules.ask)
	}
	for _, list := range lists {
		for _, other := range list {
			if other.text == r.text || other.bare() && covers(other, r) {
				return other
			}
		}
	}
	return nil
}

// covers tells whether a bare rule is for all the tools of another one.
func covers(bare, r *rule) bool {
	switch {
	case bare.all:
		return true
	case r.mcp != "":
		return bare.mcp != "" && mcpMatches(bare.mcp, r.mcp)
	case r.all || len(r.tools) == 0:
		return false
	}
	for name := range r.tools {
		if !bare.tools[name] {
			return false
		}
	}
	return true
}

// runsGitAsItIs names a git command that only reads and that the rule covers.
func (e *Engine) runsGitAsItIs(r *rule) string {
	if r.command == nil || !r.tools["bash"] {
		return ""
	}
	for _, sub := range []string{"diff", "log", "show", "status"} {
		script := shellscan.Scan("git "+sub, e.context(memo{}))
		if len(script.Commands) == 1 && r.command.Covers(script.Commands[0]) {
			return sub
		}
	}
	return ""
}
