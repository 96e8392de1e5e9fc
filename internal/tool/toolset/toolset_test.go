package toolset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/tool"
)

func specs(words ...string) []*tool.Spec {
	var out []*tool.Spec
	for _, w := range words {
		name, set, _ := strings.Cut(w, "@")
		out = append(out, &tool.Spec{Name: name, Set: set})
	}
	return out
}

// given is a session with the built-in settings.
func given(change func(*Given)) *Given {
	g := &Given{
		Sets:    []string{"core", "edit", "git", "web"},
		Daemons: true, Subagents: true, Web: true, CodeIndex: "off",
	}
	if change != nil {
		change(g)
	}
	return g
}

func TestStates(t *testing.T) {
	for _, tc := range []struct {
		name  string
		given *Given
		tool  string
		want  Row
	}{
		{"core", given(nil), "bash@core", Row{State: On, Why: "set core"}},
		{"core is never deferred", given(func(g *Given) { g.Sets = []string{"edit"} }), "bash@core", Row{State: On, Why: "set core"}},
		{"core can be off", given(func(g *Given) { g.Sets = []string{"-core"} }), "bash@core", Row{State: Off, Why: "toolSets has -core"}},
		{"a set that is named", given(nil), "git_log@git", Row{State: On, Why: "set git"}},
		{"a set that is not named", given(nil), "repl@more", Row{State: Deferred, Why: "toolSets has no more"}},
		{"named", given(func(g *Given) { g.Sets = append(g.Sets, "more") }), "repl@more", Row{State: On, Why: "set more"}},
		{"with a minus", given(func(g *Given) { g.Sets = append(g.Sets, "-more") }), "repl@more", Row{State: Off, Why: "toolSets has -more"}},
		{"-web", given(func(g *Given) { g.Sets = []string{"core", "-web"} }), "web_fetch@web", Row{State: Off, Why: "toolSets has -web"}},
		{"web without its key", given(func(g *Given) { g.Web = false }), "web_fetch@web", Row{State: Off, Why: "web.enabled is off"}},
		{"web follows its set", given(func(g *Given) { g.Sets = []string{"core"} }), "web_fetch@web", Row{State: Deferred, Why: "toolSets has no web"}},
		{"a set that this version does not know", given(nil), "x@other", Row{State: Deferred, Why: "toolSets has no other"}},

		{"daemons", given(nil), "process_manager@tasks", Row{State: On, Why: "daemons.enabled"}},
		{"a key counts before a minus", given(func(g *Given) { g.Sets = []string{"-tasks"} }), "process_manager@tasks", Row{State: On, Why: "daemons.enabled"}},
		{"a key without which a tool is off", given(nil), "monitor@tasks", Row{State: Deferred, Why: "toolSets has no tasks"}},
		{"and its set", given(func(g *Given) { g.Sets = []string{"tasks"} }), "sleep@tasks", Row{State: On, Why: "set tasks"}},
		{"a key counts before a set", given(func(g *Given) { g.Sets, g.Daemons = []string{"tasks"}, false }), "sleep@tasks", Row{State: Off, Why: "daemons.enabled is off"}},
		{"a key leaves the rest of the set", given(nil), "task_create@tasks", Row{State: Deferred, Why: "toolSets has no tasks"}},
		{"todo", given(func(g *Given) { g.Todo = true }), "todo_write@tasks", Row{State: On, Why: "todo.enabled"}},
		{"no todo", given(nil), "todo_write@tasks", Row{State: Off, Why: "todo.enabled is off"}},
		{"lsp", given(func(g *Given) { g.LSP = true }), "lsp@code", Row{State: On, Why: "lsp.enabled"}},
		{"no lsp", given(func(g *Given) { g.Sets = []string{"code"} }), "lsp@code", Row{State: Off, Why: "lsp.enabled is off"}},
		{"moe", given(func(g *Given) { g.MoE = true }), "delegate_expert@agents", Row{State: On, Why: "moe.enabled"}},
		{"no moe", given(nil), "delegate_expert@agents", Row{State: Off, Why: "moe.enabled is off"}},
		{"subagents", given(nil), "task@agents", Row{State: On, Why: "subagents.enabled"}},
		{"no subagents", given(func(g *Given) { g.Subagents = false }), "team_create@agents", Row{State: Off, Why: "subagents.enabled is off"}},
		{"no index", given(nil), "find_symbol@code", Row{State: Off, Why: "codeIndex is off"}},
		{"index", given(func(g *Given) { g.CodeIndex = "lookup" }), "ast_query@code", Row{State: On, Why: "codeIndex"}},
		{"index without the map", given(func(g *Given) { g.CodeIndex = "lookup" }), "repo_map@code", Row{State: Off, Why: "codeIndex all is off"}},
		{"index with the map", given(func(g *Given) { g.CodeIndex = "all" }), "repo_map@code", Row{State: On, Why: "codeIndex all"}},

		{"of the session", given(nil), "recall", Row{State: On, Why: "of the session"}},
		{"without use", given(func(g *Given) { g.NoUse = map[string]string{"ask": "nobody answers questions here"} }), "ask", Row{State: Off, Why: "nobody answers questions here"}},
		{"without use, whatever a key says", given(func(g *Given) { g.NoUse = map[string]string{"monitor": "no commands here"} }), "monitor@tasks", Row{State: Off, Why: "no commands here"}},
		{"nothing to find", given(nil), "tool_search", Row{State: Off, Why: "no tool is deferred"}},
	} {
		all := specs(tc.tool)
		rows, err := Decide(all, tc.given)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		tc.want.Spec = all[0]
		if diff := cmp.Diff([]Row{tc.want}, rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func states(rows []Row) string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Spec.Name+" "+string(r.State))
	}
	return strings.Join(out, ", ")
}

func TestSearchIsOfferedWhereThereIsSomethingToFind(t *testing.T) {
	for sets, want := range map[string]string{
		"core":       "bash on, repl deferred, tool_search on",
		"core more":  "bash on, repl on, tool_search off",
		"core -more": "bash on, repl off, tool_search off",
	} {
		rows, err := Decide(specs("tool_search", "repl@more", "bash@core"), given(func(g *Given) { g.Sets = strings.Fields(sets) }))
		if got := states(rows); err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", sets, got, err, want)
		}
	}
}

func TestExactlyTheNamedTools(t *testing.T) {
	all := specs("tool_search", "repl@more", "bash@core", "web_fetch@web", "process_manager@tasks", "ask")
	for _, tc := range []struct {
		only  string
		given func(*Given)
		want  string
		err   string
	}{
		{only: "bash", want: "ask off, bash on, process_manager off, repl off, tool_search off, web_fetch off"},
		{only: "repl bash", want: "ask off, bash on, process_manager off, repl on, tool_search off, web_fetch off"},
		{only: "web_fetch", given: func(g *Given) { g.Sets = []string{"-web"} }, want: "ask off, bash off, process_manager off, repl off, tool_search off, web_fetch on"},
		{only: "rep", err: `--tools: there is no tool "rep"; did you mean "repl"?`},
		{only: "bash zzzzzz", err: `--tools: there is no tool "zzzzzz"`},
		{only: "tool_search bash", err: `--tools: tool_search finds tools that are deferred, and --tools offers exactly those that it names; leave it out`},
		{only: "process_manager", given: func(g *Given) { g.Daemons = false }, err: "--tools: process_manager cannot be offered: daemons.enabled is off"},
		{only: "web_fetch", given: func(g *Given) { g.Web = false }, err: "--tools: web_fetch cannot be offered: web.enabled is off"},
		{only: "web_fetch", given: func(g *Given) { g.Web, g.Sets = false, []string{"-web"} }, err: "--tools: web_fetch cannot be offered: web.enabled is off"},
		{only: "ask", given: func(g *Given) { g.NoUse = map[string]string{"ask": "nobody answers here"} }, err: "--tools: ask cannot be offered: nobody answers here"},
	} {
		g := given(tc.given)
		g.Only = strings.Fields(tc.only)
		rows, err := Decide(all, g)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != tc.err || err == nil && states(rows) != tc.want {
			t.Errorf("--tools %s: %s, error %q; want %s, error %q", tc.only, states(rows), text, tc.want, tc.err)
		}
		for _, r := range rows {
			named := slices.Contains(g.Only, r.Spec.Name)
			if named && r.Why != "--tools" || !named && r.Why == "" {
				t.Errorf("--tools %s: %s because of %q", tc.only, r.Spec.Name, r.Why)
			}
		}
	}
}
