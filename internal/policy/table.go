package policy

import (
	"fmt"
	"slices"
	"strings"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// verdict is what a row says of a call.
type verdict struct {
	outcome tool.Outcome
	by      string
	reason  string
	rule    *rule
}

// row is one line of the decision table. check returns nil when it has nothing to say.
type row struct {
	number int
	name   string
	check  func(*situation) *verdict
}

// table is the decision table: the first row that matches decides. The numbers
// and words are those that people, audits and scripts read; do not renumber.
func table() []row {
	return append(append([]row{
		{0, "team policy", (*situation).teamDenies},
		{1, "guard", (*situation).guardDenies},
		{2, "sensitive", (*situation).sensitive},
		{3, "protected", (*situation).insideGit},
		{4, "deny rule", (*situation).denyRules},
		{5, "plan mode", (*situation).planMode},
	}, askRows()...), []row{
		{7, "read-only", (*situation).readsOnly},
		{8, "session state", (*situation).sessionState},
		{9, "sandbox", (*situation).sandboxed},
		{10, "allow rule", (*situation).allowed},
		{11, "accept edits", (*situation).acceptEdits},
		{12, "yolo", (*situation).yolo},
		{13, "ask", (*situation).askOtherwise},
	}...)
}

// askRows are row 6: what is asked although it might be allowed below. --yolo does
// not reach them, and plan mode denies what they would ask.
func askRows() []row {
	return []row{
		{6, "guard asks", (*situation).guardAsks},
		{6, "protected", (*situation).protectedWrite},
		{6, "ask rule", (*situation).askRules},
		{6, "denied before", (*situation).deniedBefore},
		{6, "repeat", (*situation).repeated},
		{6, "unreadable", (*situation).notReadable},
	}
}

// decide goes through the table.
func (s *situation) decide() *tool.Decision {
	for _, r := range s.e.rows {
		v := r.check(s)
		if v == nil {
			continue
		}
		d := &tool.Decision{Outcome: v.outcome, Row: r.number, By: v.by, Reason: v.reason, Commands: s.commandInfo()}
		if v.rule != nil {
			d.Rule, d.Source = v.rule.text, v.rule.source
		}
		if v.outcome == tool.Ask {
			if !s.attended {
				return s.unattended(d)
			}
			d.Question = s.question(d)
		}
		return d
	}
	return &tool.Decision{Outcome: tool.Deny, Row: 13, By: byUser, Reason: "no row of the decision table matched"}
}

// The words of a decision's By.
const (
	byPolicy     = "policy"
	byGuard      = "guard"
	bySensitive  = "sensitive"
	byProtected  = "protected"
	byRule       = "rule"
	byPlan       = "plan"
	byBefore     = "denied_before"
	byRepeat     = "repeat"
	byUnreadable = "unreadable"
	byReadOnly   = "read_only"
	bySession    = "session_state"
	bySandbox    = "sandbox"
	byAnswer     = "session"
	byEdits      = "accept_edits"
	byYolo       = "yolo"
	byUser       = "user"
	byUnattended = "unattended"
)

func deny(by, reason string) *verdict  { return &verdict{outcome: tool.Deny, by: by, reason: reason} }
func ask(by, reason string) *verdict   { return &verdict{outcome: tool.Ask, by: by, reason: reason} }
func allow(by, reason string) *verdict { return &verdict{outcome: tool.Allow, by: by, reason: reason} }

func (s *situation) guardDenies() *verdict {
	entry, c, ok := s.guardHit(guardDeny)
	if !ok {
		return nil
	}
	return deny(byGuard, fmt.Sprintf("the guard (%s) does not let a command run that %s: %s. "+
		"Do it in a narrower way, or ask the user to run it themselves", entry.id, entry.does, show(c)))
}

func (s *situation) sensitive() *verdict {
	check := func(t *target, forTarget func(*rule) bool) *verdict {
		is := func(p string) bool { return sensitive(p, t.byTool, s.e.cfg.FoldCase) }
		if !t.is(is) || s.named(t, is, forTarget) {
			return nil
		}
		return deny(bySensitive, fmt.Sprintf("%s holds secrets and is never read or written unless a rule of the user "+
			"names it, such as read_file(%s). Ask the user for what you need from it", t.shown, t.shown))
	}
	for i := range s.reads {
		if v := check(&s.reads[i], s.reader); v != nil {
			return v
		}
	}
	for i := range s.writes {
		t := &s.writes[i]
		if v := check(t, func(r *rule) bool { return s.writer(r, t) }); v != nil {
			return v
		}
	}
	return nil
}

func (s *situation) insideGit() *verdict {
	for i := range s.writes {
		t := &s.writes[i]
		if t.byTool && t.is(func(p string) bool { return inGit(p, s.e.cfg.FoldCase) }) {
			return deny(byProtected, t.shown+" belongs to git; file tools never write there. Use git commands instead")
		}
	}
	return nil
}

func (s *situation) denyRules() *verdict {
	if r, what := s.hit(s.e.rules.deny); r != nil {
		v := deny(byRule, fmt.Sprintf("the rule %s (%s) forbids %s. Do not try it by other means; "+
			"go on without it, or ask the user", r.text, r.source, what))
		v.rule = r
		return v
	}
	return nil
}

// planMode denies what changes something, and what would have to be asked.
func (s *situation) planMode() *verdict {
	if s.mode != Plan {
		return nil
	}
	no := func(what string) *verdict {
		return deny(byPlan, "plan mode: "+what+". Nothing is changed now; put this change into your plan instead")
	}
	for _, r := range askRows() {
		if v := r.check(s); v != nil {
			return no(v.reason)
		}
	}
	switch s.class {
	case tool.ClassRead, tool.ClassSession:
		if !s.changing() {
			return nil
		}
	case tool.ClassCommand:
		if s.isolated && !s.outside || s.onlyReads() && !s.outside {
			return nil
		}
		if s.outside {
			return no("commands do not leave the sandbox")
		}
		return no("without a sandbox only commands that certainly just read run (" + s.whyChange + ")")
	case tool.ClassURL:
		if s.covered() != nil {
			return nil
		}
		return no("the web needs an allow rule")
	case tool.ClassInput:
		outward := strings.HasPrefix(s.req.Tool, "mcp__") || s.req.Tool == "web_search" ||
			s.req.Tool == "list_mcp_resources" || s.req.Tool == "read_mcp_resource"
		if outward && s.covered() != nil {
			return nil
		}
	}
	return no(s.req.Tool + " changes something")
}

func (s *situation) guardAsks() *verdict {
	entry, c, ok := s.guardHit(guardAsk)
	if !ok {
		return nil
	}
	return ask(byGuard, fmt.Sprintf("the guard (%s) asks before a command that %s: %s", entry.id, entry.does, show(c)))
}

func (s *situation) protectedWrite() *verdict {
	is := func(p string) bool { return protected(p, s.e.cfg.FoldCase) }
	for i := range s.writes {
		t := &s.writes[i]
		if t.is(is) && !s.named(t, is, func(r *rule) bool { return s.writer(r, t) }) {
			return ask(byProtected, t.shown+" decides what other programs run or are told, so writing it is always asked")
		}
	}
	return nil
}

func (s *situation) askRules() *verdict {
	if r, what := s.hit(s.e.rules.ask); r != nil {
		v := ask(byRule, fmt.Sprintf("the rule %s (%s) asks before %s", r.text, r.source, what))
		v.rule = r
		return v
	}
	return nil
}

func (s *situation) deniedBefore() *verdict {
	if len(s.denied) == 0 {
		return nil
	}
	for _, key := range s.keys() {
		if d, ok := s.denied[key]; ok {
			return ask(byBefore, fmt.Sprintf("%s was denied earlier in this turn (by %s: %s)", d.what, d.by, d.reason))
		}
	}
	return nil
}

// repeatLimit is how many equal calls a turn may make before the next is asked.
const repeatLimit = 2

func (s *situation) repeated() *verdict {
	if s.req.Repeat < repeatLimit || !s.changing() {
		return nil
	}
	return ask(byRepeat, fmt.Sprintf("this very call was already made %d times in this turn", s.req.Repeat))
}

func (s *situation) notReadable() *verdict {
	why, ok := s.unreadable()
	if !ok {
		return nil
	}
	return ask(byUnreadable, "what the command would do cannot be told: "+why+
		". Write it in a simpler way, or put it into a script file and run that")
}

func (s *situation) readsOnly() *verdict {
	switch {
	case s.class == tool.ClassRead && len(s.writes) == 0 && s.changing():
		return allow(byReadOnly, s.req.Tool+" changes only what this session started itself")
	case s.class == tool.ClassRead && len(s.writes) == 0:
		return allow(byReadOnly, s.req.Tool+" only reads")
	case s.class == tool.ClassCommand && !s.outside && s.onlyReads():
		s.commands(func(_ *shellscan.Script, c *shellscan.Command) bool {
			s.neutralGit = s.neutralGit || c.UsesGit()
			return !s.neutralGit
		})
		return allow(byReadOnly, "every part of the command only reads, and inside the project")
	}
	return nil
}

func (s *situation) sessionState() *verdict {
	if s.class != tool.ClassSession || len(s.writes) > 0 || len(s.scripts) > 0 {
		return nil
	}
	return allow(bySession, s.req.Tool+" touches only the session's own state")
}

func (s *situation) sandboxed() *verdict {
	if s.class != tool.ClassCommand || !s.isolated || s.outside {
		return nil
	}
	return allow(bySandbox, "it runs inside the sandbox")
}

func (s *situation) allowed() *verdict { return s.covered() }

// acceptEdits lets edits pass, and nothing that deletes: a patch may, too.
func (s *situation) acceptEdits() *verdict {
	if s.mode != AcceptEdits || s.class != tool.ClassPath || s.req.Tool == "delete_file" || s.plan.Destructive ||
		len(s.writes) == 0 || len(s.scripts) > 0 {
		return nil
	}
	for i := range s.writes {
		if !s.writes[i].insideRoot() {
			return nil
		}
	}
	return allow(byEdits, "edits inside the project are accepted")
}

func (s *situation) yolo() *verdict {
	if !s.e.cfg.Yolo {
		return nil
	}
	return allow(byYolo, "--yolo allows what nothing forbids")
}

func (s *situation) askOtherwise() *verdict { return ask(byUser, s.whyAsk()) }

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
	case r.host != "":
		i := slices.IndexFunc(s.plan.Effects.Hosts, func(h string) bool { return hostMatches(r.host, h) })
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

// covered is row 10: everything the call would do is covered by a rule of the
// user or by an answer of this session.
func (s *situation) covered() *verdict {
	if s.approvedAsItStands() {
		return allow(byAnswer, "the user approved this very command for the session")
	}
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
			return r.forTool(s.tool) && (r.bare() || r.host != "" && hostMatches(r.host, h))
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
			r, ok := s.coveredCommand(c)
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
