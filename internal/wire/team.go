package wire

import (
	"fmt"
	"strings"

	"garuda/internal/config"
	"garuda/internal/policy"
)

// loadTeam reads the team's policy and holds the settings to it.
func (s *System) loadTeam(root string) error {
	team, notices, err := config.LoadTeam(config.TeamOptions{
		Home: s.places.garuda, UserHome: s.places.user, Root: root,
	})
	if err != nil {
		return &SettingsError{Err: err}
	}
	if team.NoYolo && s.options.Yolo {
		return &SettingsError{Err: fmt.Errorf("--yolo: the team policy (%s) does not allow it", teamFiles(team))}
	}
	for _, n := range notices {
		s.notices = append(s.notices, n.String())
	}
	team.Bound(s.settings)
	s.team = team
	return nil
}

func teamFiles(t *config.Team) string { return strings.Join(t.Files, " and ") }

// permitModel refuses a model that the team's policy does not name.
func (s *System) permitModel(spec string) error {
	if s.team == nil || s.team.AllowsModel(spec) {
		return nil
	}
	if len(s.team.Models) == 0 {
		return &SettingsError{Err: fmt.Errorf("the team policy (%s) allows no model", teamFiles(s.team))}
	}
	return &SettingsError{Err: fmt.Errorf("the team policy (%s) allows only %s; choose one of these", teamFiles(s.team), strings.Join(s.team.Models, ", "))}
}

// teamPolicy is what the decision table takes of the team's policy.
func (s *System) teamPolicy() policy.Team {
	t := s.team
	requiredBy := teamFiles(t)
	if !t.RequireSandbox && s.settings.Strict {
		requiredBy = "the strict profile"
	}
	return policy.Team{
		Commands: teamEntries(t.Commands), Paths: teamEntries(t.Paths), Hosts: teamEntries(t.BlockedHosts),
		RequireSandbox: t.RequireSandbox || s.settings.Strict, RequiredBy: requiredBy,
	}
}

func teamEntries(in []config.TeamEntry) []policy.TeamEntry {
	out := make([]policy.TeamEntry, len(in))
	for i, e := range in {
		out[i] = policy.TeamEntry(e)
	}
	return out
}
