package policy

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTeamHidesFromSearches(t *testing.T) {
	e := newEngine(t, configure(allowing("read_file(secret/plans.txt)"), forTeam))
	for name, want := range map[string]bool{"a.txt": true, "secret/plans.txt": false, "secret/deep/x": false, "secrets/x": true, "secret": false} {
		if got := e.MayRead(filepath.Join(e.root.given, filepath.FromSlash(name))); got != want {
			t.Errorf("%s may be read: %v", name, got)
		}
	}
}

func TestTeamThatCannotBeUsed(t *testing.T) {
	root := t.TempDir()
	for want, team := range map[string]Team{
		"f: the disallowed command": {Commands: []TeamEntry{{"a && b", "f"}}},
		"f: the denied path":        {Paths: []TeamEntry{{"../x", "f"}}},
		"f: the blocked host":       {Hosts: []TeamEntry{{"https://x", "f"}}},
	} {
		if _, err := New(Config{Root: root, Team: team}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
