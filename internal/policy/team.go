package policy

import (
	"errors"
	"fmt"

	"garuda/internal/policy/shellscan"
	"garuda/internal/tool"
)

// Team is what an organisation forbids. It stands before every rule, and nothing
// that a user, a project or an answer says takes from it.
type Team struct {
	// Commands are patterns as in bash rules, Paths as in path rules, Hosts as in
	// rules for hosts.
	Commands, Paths, Hosts []TeamEntry
	// RequireSandbox lets no command run without isolation; RequiredBy names the file.
	RequireSandbox bool
	RequiredBy     string
}

// TeamEntry is an element of a list with the file that it stands in.
type TeamEntry struct{ Text, File string }

// team is a Team made ready.
type team struct {
	commands []teamCommand
	paths    []teamPath
	hosts    []teamHost

	requireSandbox bool
	requiredBy     string
}

type teamCommand struct {
	TeamEntry
	pattern *shellscan.Pattern
}

type teamPath struct {
	TeamEntry
	glob *pathGlob
}

type teamHost struct {
	TeamEntry
	glob *hostGlob
}

func (e *Engine) compileTeam(t Team) error {
	e.team.requireSandbox, e.team.requiredBy = t.RequireSandbox, t.RequiredBy
	for _, in := range t.Commands {
		p, never, err := shellscan.CompilePattern(in.Text)
		if err == nil && never != "" {
			err = errors.New(never) // a policy that only seems to forbid is worse than none
		}
		if err != nil {
			return fmt.Errorf("%s: the disallowed command %s: %w", in.File, in.Text, err)
		}
		e.team.commands = append(e.team.commands, teamCommand{in, p})
	}
	for _, in := range t.Paths {
		g, err := compileGlob(in.Text, e.cfg.Home, true, e.cfg.FoldCase)
		if err != nil {
			return fmt.Errorf("%s: the denied path %s: %w", in.File, in.Text, err)
		}
		e.team.paths = append(e.team.paths, teamPath{in, g})
	}
	for _, in := range t.Hosts {
		host, err := compileHost(in.Text)
		if err != nil {
			return fmt.Errorf("%s: the blocked host %s: %w", in.File, in.Text, err)
		}
		e.team.hosts = append(e.team.hosts, teamHost{in, host})
	}
	return nil
}

// hides finds the entry that hides a path, in one spelling.
func (t *team) hides(sp spelling) *teamPath {
	for i := range t.paths {
		if t.paths[i].glob.matches(sp, true) {
			return &t.paths[i]
		}
	}
	return nil
}

// The checks of row 0.

func (s *situation) teamDenies(file, text string) *verdict {
	return deny(byPolicy, fmt.Sprintf("the team policy (%s) %s. Go on without it, or tell the user that the policy stands in the way", file, text))
}

// teamWantsSandbox: no command runs without isolation where one is required.
func (s *situation) teamWantsSandbox() *verdict {
	t := &s.e.team
	if !t.requireSandbox || len(s.scripts) == 0 && s.class != tool.ClassCommand || s.isolated && !s.outside {
		return nil
	}
	return s.teamDenies(t.requiredBy, "lets no command run without a sandbox")
}

func (s *situation) teamCommands() (v *verdict) {
	for i := range s.e.team.commands {
		entry := &s.e.team.commands[i]
		s.commands(func(_ *shellscan.Script, c *shellscan.Command) bool {
			if entry.pattern.Hits(c, s.e.cfg.FoldCase) {
				v = s.teamDenies(entry.File, fmt.Sprintf("lets no command run that is %s: %s", entry.Text, show(c)))
			}
			return v == nil
		})
		if v != nil {
			return v
		}
	}
	return nil
}

func (s *situation) teamPaths() *verdict {
	for _, list := range [][]target{s.reads, s.writes} {
		for i := range list {
			for _, sp := range list[i].spellings {
				if entry := s.e.team.hides(sp); entry != nil {
					return s.teamDenies(entry.File, "hides "+list[i].shown)
				}
			}
		}
	}
	return nil
}

func (s *situation) teamHosts() *verdict {
	for _, host := range s.plan.Effects.Hosts {
		for _, entry := range s.e.team.hosts {
			if entry.glob.matches(host) {
				return s.teamDenies(entry.File, "blocks the host "+host)
			}
		}
	}
	return nil
}
