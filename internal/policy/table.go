package policy

import (
	"fmt"
	"strings"

	"garuda/internal/policy/shellscan"
	"garuda/internal/protect"
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
		{0, "required sandbox", (*situation).teamWantsSandbox},
		{0, "team commands", (*situation).teamCommands},
		{0, "team paths", (*situation).teamPaths},
		{0, "team hosts", (*situation).teamHosts},
		{1, "guard", (*situation).guardDenies},
		{2, "sensitive reads", (*situation).sensitiveReads},
		{2, "sensitive writes", (*situation).sensitiveWrites},
		{3, "inside .git", (*situation).insideGit},
		{4, "deny rule", (*situation).denyRules},
		{4, "hook denies", (*situation).hookDenies},
		{5, "plan: asked", (*situation).planAsked},
		{5, "plan: commands", (*situation).planCommands},
		{5, "plan: outward", (*situation).planOutward},
		{5, "plan: changes", (*situation).planChanges},
	}, askRows()...), []row{
		{7, "reading tool", (*situation).readingTool},
		{7, "reading command", (*situation).readingCommand},
		{8, "session state", (*situation).sessionState},
		{9, "sandbox", (*situation).sandboxed},
		{10, "answer to this command", (*situation).approvedCommand},
		{10, "allow rule", (*situation).coveredUnlessCarrying},
		{10, "hook allows", (*situation).hookAllows},
		{11, "accept edits", (*situation).acceptEdits},
		{12, "yolo", (*situation).yolo},
		{13, "ask", (*situation).askOtherwise},
	}...)
}

// askRow is the number of what is asked whatever allows it below.
const askRow = 6

// askRows are row 6: what is asked although it might be allowed below. --yolo does
// not reach them, and plan mode denies what they would ask.
func askRows() []row {
	return []row{
		{askRow, "guard asks", (*situation).guardAsks},
		{askRow, "protected", (*situation).protectedWrite},
		{askRow, "ask rule", (*situation).askRules},
		{askRow, "hook asks", (*situation).hookAsks},
		{askRow, "denied before", (*situation).deniedBefore},
		{askRow, "repeat", (*situation).repeated},
		{askRow, "unreadable", (*situation).notReadable},
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

// secret tells whether a path holds secrets; byTool takes all of /proc.
func (e *Engine) secret(path string, byTool bool) bool {
	return e.secrets.Has(path) || protect.Proc(path, byTool)
}

func (s *situation) sensitiveReads() *verdict {
	for i := range s.reads {
		if v := s.sensitive(&s.reads[i], s.reader); v != nil {
			return v
		}
	}
	return nil
}

func (s *situation) sensitiveWrites() *verdict {
	for i := range s.writes {
		t := &s.writes[i]
		if v := s.sensitive(t, func(r *rule) bool { return s.writer(r, t) }); v != nil {
			return v
		}
	}
	return nil
}

func (s *situation) sensitive(t *target, forTarget func(*rule) bool) *verdict {
	is := func(p string) bool { return s.e.secret(p, t.byTool) }
	if !t.is(is) || s.named(t, is, forTarget) {
		return nil
	}
	return deny(bySensitive, fmt.Sprintf("%s holds secrets and is never read or written unless a rule of the user "+
		"names it, such as read_file(%s). Ask the user for what you need from it", t.shown, t.shown))
}

func (s *situation) insideGit() *verdict {
	for i := range s.writes {
		t := &s.writes[i]
		if t.byTool && t.is(func(p string) bool { return protect.InGit(p, s.e.cfg.FoldCase) }) {
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

// Row 5: plan mode changes nothing and asks nothing. What it lets pass is what the
// rows below allow; it only ever denies.

func (s *situation) planDenies(what string) *verdict {
	return deny(byPlan, "plan mode: "+what+". Nothing is changed now; put this change into your plan instead")
}

// planAsked denies what row 6 would ask.
func (s *situation) planAsked() *verdict {
	if s.mode != Plan {
		return nil
	}
	for _, r := range s.e.rows {
		if r.number != askRow {
			continue
		}
		if v := r.check(s); v != nil {
			return s.planDenies(v.reason)
		}
	}
	return nil
}

// planCommands lets commands run inside the sandbox, where the project cannot be
// written, and those that certainly only read.
func (s *situation) planCommands() *verdict {
	switch {
	case s.mode != Plan || s.class != tool.ClassCommand:
		return nil
	case s.outside:
		return s.planDenies("commands do not leave the sandbox")
	case s.isolated || s.onlyReads():
		return nil
	}
	return s.planDenies("without a sandbox only commands that certainly just read run (" + s.whyChange + ")")
}

// planOutward lets the web and servers be asked where a rule allows it.
func (s *situation) planOutward() *verdict {
	if s.mode != Plan || !s.outward() {
		return nil
	}
	if why := s.carriesOut(); why != "" {
		return s.planDenies("the address looks as if it carried data out: " + why)
	}
	if s.covered() != nil {
		return nil
	}
	return s.planDenies("the web and servers need an allow rule, and none allows this call of " + s.req.Tool)
}

// outward calls reach the web or a server, and change nothing here.
func (s *situation) outward() bool {
	return s.class == tool.ClassURL || s.class == tool.ClassInput && (strings.HasPrefix(s.req.Tool, "mcp__") ||
		s.req.Tool == "web_search" || s.req.Tool == "list_mcp_resources" || s.req.Tool == "read_mcp_resource")
}

// planChanges denies every other call that changes something.
func (s *situation) planChanges() *verdict {
	switch {
	case s.mode != Plan || s.class == tool.ClassCommand || s.outward():
		return nil
	case (s.class == tool.ClassRead || s.class == tool.ClassSession) && !s.changing():
		return nil
	}
	return s.planDenies(s.req.Tool + " changes something")
}

func (s *situation) guardAsks() *verdict {
	entry, c, ok := s.guardHit(guardAsk)
	if !ok {
		return nil
	}
	return ask(byGuard, fmt.Sprintf("the guard (%s) asks before a command that %s: %s", entry.id, entry.does, show(c)))
}

func (s *situation) protectedWrite() *verdict {
	is := s.e.steering.Has
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

func (s *situation) readingTool() *verdict {
	switch {
	case s.class != tool.ClassRead || len(s.writes) > 0:
		return nil
	case s.changing():
		return allow(byReadOnly, s.req.Tool+" changes only what this session started itself")
	}
	return allow(byReadOnly, s.req.Tool+" only reads")
}

func (s *situation) readingCommand() *verdict {
	if s.class != tool.ClassCommand || s.outside || !s.onlyReads() {
		return nil
	}
	s.commands(func(_ *shellscan.Script, c *shellscan.Command) bool {
		s.neutralGit = s.neutralGit || c.UsesGit()
		return !s.neutralGit
	})
	return allow(byReadOnly, "every part of the command only reads, and inside the project")
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
