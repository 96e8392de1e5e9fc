package policy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"garuda/internal/pathglob"
	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// show is a command as it could be typed, with hidden characters as what they are.
func show(c *shellscan.Command) string {
	text := c.String()
	text, _ = shellscan.Visible(text, false)
	return "`" + text + "`"
}

func (s *situation) commandInfo() []tool.CommandInfo {
	var out []tool.CommandInfo
	s.commands(func(_ *shellscan.Script, c *shellscan.Command) bool {
		info := tool.CommandInfo{Argv: c.Argv(), Assignments: append([]string{}, c.Assigns...), Redirects: []string{}, Known: c.Known()}
		for _, r := range c.Redirects {
			info.Redirects = append(info.Redirects, r.String())
		}
		out = append(out, info)
		return true
	})
	return out
}

// unattended denies what nobody is there to be asked.
func (s *situation) unattended(d *tool.Decision) *tool.Decision {
	d.Outcome, d.By = tool.Deny, byUnattended
	hint := "nobody is there to ask"
	switch {
	case d.Row == 6:
		hint += ". Only a person can allow this, in a session with a terminal"
	default:
		if flags := s.allowFlags(); flags != "" {
			hint += ". The user can allow it with " + flags + ", or everything that nothing forbids with --yolo"
		} else {
			hint += ". The user can allow everything that nothing forbids with --yolo"
		}
	}
	d.Reason = d.Reason + ", and " + hint
	return d
}

// maxAllowFlags is how many rules a person can be expected to type for one call.
const maxAllowFlags = 3

// allowFlags are the flags that would allow the call in the next run, or "".
func (s *situation) allowFlags() string {
	if s.carriesOut() != "" {
		return "" // no rule allows that
	}
	rules := s.sessionRules()
	if s.class == tool.ClassCommand {
		rules = s.commandRules()
	}
	if len(rules) > maxAllowFlags {
		return ""
	}
	flags := make([]string, len(rules))
	for i, rule := range rules {
		flags[i] = "--allow '" + strings.ReplaceAll(rule, "'", `'\''`) + "'"
	}
	return strings.Join(flags, " ")
}

// whyAsk is the reason of row 13.
func (s *situation) whyAsk() string {
	if why := s.carriesOut(); why != "" {
		return "the address looks as if it carried data out (" + why + "), and that is asked about every time"
	}
	switch s.class {
	case tool.ClassCommand:
		switch {
		case s.outside:
			return "the command leaves the sandbox, and no rule allows that"
		case len(s.scripts) == 0:
			return "what it would run is not known"
		}
		s.onlyReads()
		return "no rule allows the command, and it does not certainly just read: " + s.whyChange
	case tool.ClassPath:
		if len(s.writes) > 0 {
			return "no rule allows writing " + s.writes[0].shown
		}
	case tool.ClassURL:
		if len(s.plan.Effects.Hosts) > 0 {
			return "no rule allows connecting to " + strings.Join(s.plan.Effects.Hosts, ", ")
		}
	}
	return "no rule allows " + s.req.Tool
}

// question is what a person is asked.
func (s *situation) question(d *tool.Decision) *tool.Question {
	q := &tool.Question{CallID: s.req.CallID, Tool: s.req.Tool, Agent: s.req.Agent, Why: d.Reason}
	q.Title, q.Where = s.title(), s.where()
	files := s.class == tool.ClassPath
	var hiddenTarget, hiddenPreview bool
	q.Target, hiddenTarget = shellscan.Visible(s.plan.Target, false)
	q.Preview, hiddenPreview = shellscan.Visible(s.plan.Preview, files)
	if q.Preview == "" && s.class == tool.ClassCommand {
		q.Preview, hiddenPreview = shellscan.Visible(s.commandText(), false)
	}
	if hiddenTarget || hiddenPreview {
		q.Warning = "It holds characters that do not show, or that change how others show. They stand here as <U+…>."
	}
	if s.plan.Hunks > 1 {
		q.Hunks = s.plan.Hunks
	}
	if d.By == byProtected || s.carriesOut() != "" {
		return q // such files and addresses are asked about every time
	}
	q.SessionRule = strings.Join(s.sessionRules(), ", ")
	if q.SessionRule != "" && s.class == tool.ClassCommand {
		r := Rule{Text: q.SessionRule, Files: map[string]string{}}
		for _, p := range s.scriptFiles() { // keep binds the answer to them
			r.Files[s.fromRoot(p)] = ""
		}
		q.SessionRule = r.shown()
	}
	if q.SessionRule != "" && d.Row == 13 {
		if r, ok := s.projectRule(); ok {
			q.ProjectRule = r.shown()
		}
	}
	if d.Row == 6 {
		q.SessionRule = "" // an answer in row 10 could not reach this row
	}
	return q
}

func (s *situation) title() string {
	switch s.class {
	case tool.ClassCommand:
		if s.wrote() {
			return s.fileTitle()
		}
		title := "Run a command"
		if s.plan.Effects.Background {
			title += " in the background"
		}
		if s.outside {
			title += " outside the sandbox"
		}
		return title
	case tool.ClassPath:
		return s.fileTitle()
	case tool.ClassURL:
		if len(s.plan.Effects.Hosts) > 0 {
			return "Connect to " + strings.Join(s.plan.Effects.Hosts, ", ")
		}
	}
	if rest, ok := strings.CutPrefix(s.req.Tool, "mcp__"); ok {
		server, name, _ := strings.Cut(rest, "__")
		return "Use " + name + " of the server " + server
	}
	return "Use " + s.req.Tool
}

// wrote tells what a command that is over did to a file, which is asked about now.
func (s *situation) wrote() bool {
	return s.class == tool.ClassCommand && len(s.plan.Effects.Commands) == 0 && len(s.writes) > 0
}

func (s *situation) fileTitle() string {
	verb := "Change "
	changes := s.plan.Effects.Changes
	if len(changes) == 1 {
		switch c := changes[0]; {
		case c.MovedTo != "":
			verb = "Move "
		case c.New == nil:
			verb = "Delete "
		case c.Old == nil:
			verb = "Create "
		}
	}
	var names []string
	for _, t := range s.writes {
		name, _ := shellscan.Visible(t.shown, false)
		names = append(names, name)
	}
	if len(names) > 3 {
		return fmt.Sprintf("%s%d files", verb, len(names))
	}
	if len(names) == 0 {
		return "Use " + s.req.Tool
	}
	return verb + strings.Join(names, ", ")
}

func (s *situation) where() string {
	if s.class != tool.ClassCommand || s.wrote() {
		return ""
	}
	switch {
	case s.outside:
		return "on this machine, outside the sandbox"
	case s.isolated:
		return "inside the sandbox"
	}
	return "on this machine, without a sandbox"
}

// sessionRules are the rules that the answer "session" adds; none when it is not
// offered.
func (s *situation) sessionRules() []string {
	if s.plan.Each {
		return nil
	}
	switch s.class {
	case tool.ClassCommand:
		if len(s.plan.Effects.Commands) == 0 {
			return nil
		}
		text, _ := shellscan.Visible(s.commandText(), false)
		return []string{s.tool + "(" + text + ")"}
	case tool.ClassPath:
		return s.folderRules()
	case tool.ClassURL:
		var rules []string
		for _, h := range s.plan.Effects.Hosts {
			host, err := compileHost(h)
			if err != nil {
				return nil // no rule can name it
			}
			rules = append(rules, s.tool+"("+host.String()+")")
		}
		return rules
	case tool.ClassInput:
		return []string{s.tool}
	}
	return nil
}

// folderRules cover the folder of each file that is written.
func (s *situation) folderRules() []string {
	var rules []string
	seen := map[string]bool{}
	for i := range s.writes {
		t := &s.writes[i]
		if t.unknown || len(t.spellings) == 0 {
			return nil
		}
		for _, sp := range t.spellings {
			pattern := "/" + pathglob.Escape(path.Dir(sp.abs)) + "/**" // two slashes: absolute
			if sp.fromRoot {
				pattern = pathglob.Escape(path.Dir(sp.rel)) + "/**"
				if path.Dir(sp.rel) == "." {
					pattern = "/**"
				}
			}
			if text := s.tool + "(" + pattern + ")"; !seen[text] {
				seen[text] = true
				rules = append(rules, text)
			}
		}
	}
	return rules
}

// shown is a rule as a person sees it before saying yes to it.
func (r *Rule) shown() string {
	if len(r.Files) == 0 {
		return r.Text
	}
	names := slices.Sorted(maps.Keys(r.Files))
	if len(names) == 1 {
		return r.Text + ", while " + names[0] + " stays as it is"
	}
	return r.Text + ", while " + strings.Join(names, ", ") + " stay as they are"
}

// projectRule is the rule that "always in this project" keeps: only where one
// rule says exactly what was asked, and would be enough next time. A rule for a
// command that runs scripts of the project holds for them as they are now.
func (s *situation) projectRule() (Rule, bool) {
	if s.e.cfg.SaveProjectRule == nil && s.attended {
		return Rule{}, false
	}
	if s.class != tool.ClassCommand {
		if rules := s.sessionRules(); len(rules) == 1 {
			return Rule{Text: rules[0]}, true
		}
		return Rule{}, false
	}
	rules := s.commandRules()
	if len(rules) != 1 {
		return Rule{}, false
	}
	r := Rule{Text: rules[0]}
	for _, p := range s.scriptFiles() {
		sum, err := hashFile(p)
		if err != nil {
			return Rule{}, false // what cannot be read cannot be bound
		}
		if r.Files == nil {
			r.Files = map[string]string{}
		}
		r.Files[s.fromRoot(p)] = "sha256:" + sum
	}
	return r, true
}

// fromRoot names a file from the root where it lies inside.
func (s *situation) fromRoot(p string) string {
	if rel, ok := below(p, s.e.root.real, s.e.cfg.FoldCase); ok {
		return rel
	}
	return p
}

// commandRules allow the simple commands that no rule covers, one each; none
// where a part of the call cannot be allowed by rules.
func (s *situation) commandRules() []string {
	var rules []string
	for _, script := range s.scripts {
		for _, c := range script.Commands {
			if c.Via != nil || !s.outside && s.notReadOnly(script, c) == "" {
				continue
			}
			if _, covered := s.coveredCommand(script, c); covered {
				continue
			}
			text, ok := shellscan.QuotePattern(c.Words)
			if !ok || c.Never != "" {
				return nil
			}
			p, never, err := shellscan.CompilePattern(text)
			if err != nil || never != "" || !p.Covers(c) {
				return nil
			}
			if rule := s.tool + "(" + text + ")"; !slices.Contains(rules, rule) {
				rules = append(rules, rule)
			}
		}
	}
	for i := range s.writes {
		if t := &s.writes[i]; t.redirect || t.unknown {
			if _, ok := s.coveredWrite(t); !ok {
				return nil
			}
		}
	}
	return rules
}
