package wire

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/audit"
	"garuda/internal/config"
)

// TestConsents: what is remembered counts from then on, what was said for this time
// only once, a no never; each leaves its line in the audit log.
func TestConsents(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	t.Setenv("GARUDA_HOME", filepath.Join(home, ".garuda"))
	t.Setenv("HOME", home)
	if err := os.MkdirAll(filepath.Join(root, ".garuda"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"env": {"allow": ["A"]}, "network": {"ports": [81]}, "sandbox": {"writePaths": ["/x"]}}`
	if err := os.WriteFile(filepath.Join(root, ".garuda", "settings.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(consent func([]config.Want) (Consent, error)) *System {
		t.Helper()
		s, err := Open(t.Context(), &Options{CWD: root, WithoutModel: true, InMemory: true, Consent: consent})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	got := func(s *System) [3]int {
		return [3]int{len(s.settings.EnvAllow), len(s.settings.Network.Ports), len(s.settings.Sandbox.WritePaths)}
	}
	s := open(func(wants []config.Want) (Consent, error) {
		return Consent{Remember: wants[:1], ThisRun: wants[1:2]}, nil
	})
	if got(s) != [3]int{1, 1, 0} || !strings.Contains(strings.Join(s.Notices(), "\n"), `"sandbox.writePaths" is left out: you said no`) {
		t.Error(got(s), s.Notices())
	}
	log, err := s.Audit()
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	found, err := log.Last(10, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range found {
		if l.Decision != audit.Consent {
			t.Errorf("%+v", l)
		}
		lines = append(lines, l.Target+" "+l.UserChoice)
	}
	if diff := cmp.Diff([]string{`env.allow = ["A"] project`, `network.ports = [81] session`, `sandbox.writePaths = ["/x"] deny`}, lines); diff != "" {
		t.Error(diff)
	}
	if s := open(nil); got(s) != [3]int{1, 0, 0} || !strings.Contains(strings.Join(s.Notices(), "\n"), `"network.ports" is left out: it needs your yes`) {
		t.Error(got(s), s.Notices())
	}
	failed := errors.New("the input ended")
	if _, err := Open(t.Context(), &Options{CWD: root, WithoutModel: true, InMemory: true, Consent: func([]config.Want) (Consent, error) { return Consent{}, failed }}); !errors.Is(err, failed) {
		t.Error(err)
	}
}
