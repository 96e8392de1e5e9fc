package policy

import (
	"strings"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// situation is everything the rows of the table look at, gathered once for a call
// so that one decision is made under one mode and one set of answers.
type situation struct {
	e    *Engine
	req  *tool.DecisionRequest
	plan *tool.Plan
	// tool is the name that allow rules are compared with: a command that leaves
	// the sandbox is "unsandboxed".
	tool     string
	class    tool.Class
	mode     Mode
	attended bool
	isolated bool
	outside  bool

	memo    memo
	scripts []*shellscan.Script
	reads   []target
	writes  []target

	session []*rule
	exact   []exactApproval
	denied  map[string]denial

	guarded []guardCase
	// neutralGit is set when a git command is allowed because it only reads, and
	// not by a rule of the user: it runs with configuration neutralised.
	neutralGit bool
	readOnly   *bool
	whyChange  string // why a command is not on the read-only table
}

func (e *Engine) situation(req *tool.DecisionRequest, attended bool) *situation {
	s := &situation{e: e, req: req, plan: req.Plan, class: req.Class, tool: req.Tool, mode: e.Mode(), attended: attended, memo: memo{}}
	if s.plan == nil {
		s.plan = &tool.Plan{}
	}
	if s.class == "" {
		s.class = e.tools[req.Tool].Class
	}
	s.isolated = e.cfg.Isolated != nil && e.cfg.Isolated()
	if s.plan.Effects.OutsideSandbox && s.isolated {
		s.outside, s.tool = true, "unsandboxed"
	}
	ctx := e.context(s.memo)
	for _, text := range s.plan.Effects.Commands {
		s.scripts = append(s.scripts, shellscan.Scan(text, ctx))
	}
	byTool := s.class == tool.ClassPath || s.class == tool.ClassRead
	for _, p := range s.plan.Effects.Reads {
		t := e.target(s.memo, p, s.plan.Effects.Real[p])
		t.byTool = byTool
		s.reads = append(s.reads, t)
	}
	for _, p := range s.plan.Effects.Writes {
		t := e.target(s.memo, p, s.plan.Effects.Real[p])
		t.byTool = byTool
		s.writes = append(s.writes, t)
	}
	for _, script := range s.scripts {
		for _, c := range script.Commands {
			s.reads = s.files(s.reads, script.Reads(c))
			s.writes = s.files(s.writes, script.Writes(c))
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.session, s.exact, s.denied = e.session, e.exact, e.denied
	return s
}

// grant lets the call run, under the mode that was decided in.
func (s *situation) grant() *tool.Grant {
	g := tool.NewGrant(s.req.CallID)
	g.ReadOnlyRoot, g.Outside = s.mode == Plan, s.outside
	return g
}

func (s *situation) files(out []target, files []shellscan.File) []target {
	for _, f := range files {
		if len(f.Paths) == 0 {
			out = append(out, target{shown: f.Text, unknown: true, redirect: f.Redirect})
			continue
		}
		for _, p := range f.Paths {
			t := s.e.target(s.memo, p, "")
			t.shown, t.redirect = f.Text, f.Redirect
			out = append(out, t)
		}
	}
	return out
}

// commands calls visit for every simple command, those behind wrappers too.
func (s *situation) commands(visit func(*shellscan.Script, *shellscan.Command) bool) {
	for _, script := range s.scripts {
		for _, c := range script.Commands {
			if !visit(script, c) {
				return
			}
		}
	}
}

// onlyReads tells whether every simple command is on the read-only table.
func (s *situation) onlyReads() bool {
	if s.readOnly != nil {
		return *s.readOnly
	}
	ok := len(s.scripts) > 0
	for _, script := range s.scripts {
		if script.Unreadable != "" {
			ok = false
		}
		for _, c := range script.Commands {
			if c.Via != nil {
				continue
			}
			if why := s.notReadOnly(script, c); why != "" {
				ok = false
				if s.whyChange == "" {
					s.whyChange = why
				}
			}
		}
	}
	for _, w := range s.writes {
		ok = false
		if s.whyChange == "" {
			s.whyChange = "it writes " + w.shown
		}
	}
	s.readOnly = &ok
	return ok
}

// changing tells calls that change something.
func (s *situation) changing() bool {
	switch {
	case len(s.writes) > 0:
		return true
	case s.class == tool.ClassSession:
		return false
	case s.class == tool.ClassCommand:
		return !s.onlyReads()
	}
	return !s.plan.ReadOnly
}

func (s *situation) unreadable() (string, bool) {
	for _, script := range s.scripts {
		if script.Unreadable != "" {
			return script.Unreadable, true
		}
	}
	return "", false
}

// allowRules are the rules and the session's answers that can allow.
func (s *situation) allowRules() []*rule {
	if len(s.session) == 0 {
		return s.e.rules.allow
	}
	out := make([]*rule, 0, len(s.e.rules.allow)+len(s.session))
	return append(append(out, s.e.rules.allow...), s.session...)
}

// reader tells whether a rule speaks of what this call reads: its own tool, or,
// for what a command reads, read_file.
func (s *situation) reader(r *rule) bool { return r.forTool(s.req.Tool) || r.tools["read_file"] }

// writer is the same for what a call writes.
func (s *situation) writer(r *rule, t *target) bool {
	if t.byTool {
		return r.forTool(s.req.Tool)
	}
	return r.tools["write_file"] || r.tools["edit_file"]
}

// named tells whether an allow rule of the user names a sensitive or protected
// file in all the spellings in which it is one.
func (s *situation) named(t *target, is func(string) bool, forTarget func(*rule) bool) bool {
	for _, sp := range t.spellings {
		if !is(sp.abs) {
			continue
		}
		found := false
		for _, r := range s.e.rules.allow {
			if r.glob != nil && forTarget(r) && r.glob.names(sp) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func (t *target) is(what func(string) bool) bool {
	for _, sp := range t.spellings {
		if what(sp.abs) {
			return true
		}
	}
	return false
}

// coveredCommand finds an allow rule for a simple command.
func (s *situation) coveredCommand(script *shellscan.Script, c *shellscan.Command) (*rule, bool) {
	for _, r := range s.allowRules() {
		if !r.forTool(s.tool) || !s.boundTo(r, script, c) {
			continue
		}
		if r.command != nil && r.command.Covers(c) || r.bare() && everyCommand().Covers(c) {
			return r, true
		}
	}
	return nil, false
}

// coveredWrite finds an allow rule for a file that is written, in all spellings.
func (s *situation) coveredWrite(t *target) (*rule, bool) {
	if t.unknown {
		return nil, false
	}
	for _, r := range s.allowRules() {
		if !s.writer(r, t) {
			continue
		}
		if r.bare() && t.byTool {
			return r, true
		}
		if r.glob == nil {
			continue
		}
		all := true
		for _, sp := range t.spellings {
			all = all && r.glob.matches(sp, false)
		}
		if all {
			return r, true
		}
	}
	return nil, false
}

// commandText is the text that an answer approves as it stands.
func (s *situation) commandText() string {
	return strings.Join(s.plan.Effects.Commands, "\n")
}
