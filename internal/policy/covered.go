package policy

import (
	"slices"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// hit finds a deny or ask rule that matches any part of the call.
func (s *situation) hit(rules []*rule) (*rule, string) {
	for _, r := range rules {
		if what, ok := s.matches(r); ok {
			return r, what
		}
	}
	return nil, ""
}

// matches tells whether a deny or ask rule matches any part of the call.
func (s *situation) matches(r *rule) (what string, ok bool) {
	switch {
	case r.bare():
		if r.forTool(s.req.Tool) || r.forTool(s.tool) {
			return s.req.Tool, true
		}
	case r.command != nil:
		if r.tools["unsandboxed"] && len(r.tools) == 1 && !s.outside {
			return "", false
		}
		s.commands(func(_ *shellscan.Script, c *shellscan.Command) bool {
			if ok = r.command.Hits(c, s.e.cfg.FoldCase); ok {
				what = show(c)
			}
			return !ok
		})
	case r.glob != nil:
		for i := range s.reads {
			if t := &s.reads[i]; s.reader(r) && t.matchedBy(r.glob) {
				return t.shown, true
			}
		}
		for i := range s.writes {
			if t := &s.writes[i]; s.writer(r, t) && t.matchedBy(r.glob) {
				return t.shown, true
			}
		}
	case r.host != nil:
		i := slices.IndexFunc(s.plan.Effects.Hosts, func(h string) bool { return r.host.matches(h) })
		if i >= 0 {
			return s.plan.Effects.Hosts[i], true
		}
	default:
		return s.req.Tool, r.forTool(s.req.Tool) && fieldIs(s.req.Input, r.field[0], r.field[1])
	}
	return what, ok
}

func (t *target) matchedBy(g *pathGlob) bool {
	for _, sp := range t.spellings {
		if g.matches(sp, true) {
			return true
		}
	}
	return false
}

// approvedCommand: a person approved this very text for the session.
func (s *situation) approvedCommand() *verdict {
	if !s.approvedAsItStands() {
		return nil
	}
	return allow(byAnswer, "the user approved this very command for the session")
}

// coveredUnlessCarrying is row 10: a rule covers the call, and no address in it looks
// as if it carried data out.
func (s *situation) coveredUnlessCarrying() *verdict {
	if s.carriesOut() != "" {
		return nil
	}
	return s.covered()
}

// covered tells that everything the call would do is covered by a rule of the user or
// by an answer of this session.
func (s *situation) covered() *verdict {
	var used *rule
	switch s.class {
	case tool.ClassCommand:
		if len(s.plan.Effects.Commands) == 0 {
			used = s.bareRule() // its text is not known, so only the tool's own name covers it
			break
		}
		if used = s.coveredScripts(); used == nil {
			return nil
		}
	case tool.ClassPath:
		if len(s.writes) == 0 {
			used = s.bareRule()
		}
		for i := range s.writes {
			r, ok := s.coveredWrite(&s.writes[i])
			if !ok {
				return nil
			}
			used = r
		}
	case tool.ClassURL:
		used = s.coveredHosts()
	case tool.ClassInput:
		used = s.bareRule()
	}
	if used == nil {
		return nil
	}
	by := byRule
	if used.source == sessionSource {
		by = byAnswer
	}
	return &verdict{outcome: tool.Allow, by: by, rule: used, reason: "the rule " + used.text + " (" + used.source + ") allows it"}
}

func (s *situation) bareRule() *rule {
	for _, r := range s.allowRules() {
		if r.bare() && r.forTool(s.tool) {
			return r
		}
	}
	return nil
}

func (s *situation) coveredHosts() *rule {
	if len(s.plan.Effects.Hosts) == 0 {
		return s.bareRule()
	}
	var used *rule
	for _, h := range s.plan.Effects.Hosts {
		i := slices.IndexFunc(s.allowRules(), func(r *rule) bool {
			return r.forTool(s.tool) && (r.bare() || r.host != nil && r.host.matches(h))
		})
		if i < 0 {
			return nil
		}
		used = s.allowRules()[i]
	}
	return used
}

// coveredScripts: every simple command that is not on the read-only table is
// covered by a rule, and every file written by a path rule for a writing tool.
func (s *situation) coveredScripts() *rule {
	var used *rule
	for _, script := range s.scripts {
		if script.Unreadable != "" || len(script.Commands) == 0 {
			return nil
		}
		for _, c := range script.Commands {
			if c.Via != nil {
				continue
			}
			if !s.outside && s.notReadOnly(script, c) == "" {
				s.neutralGit = s.neutralGit || c.UsesGit()
				continue
			}
			r, ok := s.coveredCommand(script, c)
			if !ok {
				return nil
			}
			used = r
		}
	}
	for i := range s.writes {
		t := &s.writes[i]
		if !t.redirect && !t.unknown {
			continue // a tool's own operand, which the rule for the tool covers
		}
		r, ok := s.coveredWrite(t)
		if !ok {
			return nil
		}
		used = r
	}
	return used
}
