package wire

import (
	"context"
	"strings"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/front/lines"
	"garuda/internal/policy"
	"garuda/internal/tool"
)

// Rules lists what is in force: what the team policy forbids, deny, ask, allow, the
// answers of the session, and the entries of the guard that the settings change.
func (s *System) Rules() []policy.ListedRule {
	out := s.policy.Rules()
	for _, v := range s.settings.Values() {
		id, ok := strings.CutPrefix(v.Key, "guard.")
		if !ok || len(v.Sources) == 0 || v.Sources[0].Kind == config.BuiltIn {
			continue
		}
		out = append(out, policy.ListedRule{
			Kind: "guard", Rule: id + ": " + strings.Trim(v.JSON, `"`), Source: v.Sources[len(v.Sources)-1].Name,
		})
	}
	return out
}

// RuleLines are the same for people.
func (s *System) RuleLines() []lines.Rule {
	rules := s.Rules()
	out := make([]lines.Rule, len(rules))
	for i, r := range rules {
		out[i] = lines.Rule{List: r.Kind, Text: r.Rule, Source: r.Source, Findings: r.Findings}
	}
	return out
}

// Permissions are the rules in force.
func (h *Host) Permissions() []lines.Rule { return h.sys.RuleLines() }

// Explain says what would be decided about a call of this tool now.
func (h *Host) Explain(ctx context.Context, name, input string) (*tool.Decision, error) {
	return h.sys.Explain(ctx, core.Block{Type: core.BlockToolUse, ID: "explain", Name: name, Input: input})
}

// rules tells what is to be said of rules, besides what was said at the start.
func (d *doctor) rules(s *System) {
	for _, r := range s.Rules() {
		for _, text := range r.Findings {
			if !strings.Contains(strings.Join(s.notices, "\n"), "rule "+r.Rule+": "+text) {
				d.say(CheckNote, "rule "+r.Rule, text+" ("+r.Source+")")
			}
		}
	}
}
