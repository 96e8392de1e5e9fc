package lines

import (
	"fmt"
	"strings"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// Rule is a permission rule for a person.
type Rule struct {
	// List is allow, ask or deny; team for what the team policy forbids; guard for an
	// entry of the guard that the settings change.
	List, Text, Source string
	// Findings are what a person should know of it.
	Findings []string
}

// Rules lists rules with their sources, and below each what is to be said of it.
func Rules(rules []Rule) []string {
	if len(rules) == 0 {
		return []string{"No rules are set. What is not read-only is asked for."}
	}
	var out []string
	for _, r := range rules {
		out = append(out, core.Visible(fmt.Sprintf("%-5s  %s  (%s)", r.List, r.Text, r.Source)))
		for _, f := range r.Findings {
			out = append(out, core.Visible("         "+f))
		}
	}
	return out
}

// Decision says what was decided about a call, by which row and rule, and which
// simple commands were found in it.
func Decision(d *tool.Decision) []string {
	out := []string{fmt.Sprintf("%s (row %d, %s): %s", d.Outcome, d.Row, d.By, core.Visible(d.Reason))}
	if d.Rule != "" {
		out = append(out, core.Visible(fmt.Sprintf("rule: %s (%s)", d.Rule, d.Source)))
	}
	for _, c := range d.Commands {
		out = append(out, "command: "+commandLine(c))
	}
	return out
}

// commandLine shows a simple command as the analysis saw it.
func commandLine(c tool.CommandInfo) string {
	parts := append(append([]string{}, c.Assignments...), quoteAll(c.Argv)...)
	parts = append(parts, c.Redirects...)
	text := strings.Join(parts, " ")
	if !c.Known {
		text += "  (a part of it is not known before it runs)"
	}
	return core.Visible(text)
}

func quoteAll(argv []string) []string {
	out := make([]string, len(argv))
	for i, a := range argv {
		out[i] = a
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`;&|<>()*?[]{}") {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return out
}
