package wire

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestModelsThatTheTeamDoesNotAllow are not listed as models that can be used now,
// and among all with what stands against them.
func TestModelsThatTheTeamDoesNotAllow(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GARUDA_HOME", home)
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-x")
	if err := os.WriteFile(filepath.Join(home, "policy.json"), []byte(`{"allowedModels": ["anthropic/claude-haiku-*"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), &Options{CWD: t.TempDir(), InMemory: true, WithoutModel: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	haiku := func(r ModelRow) bool { return strings.HasPrefix(r.Spec, "anthropic/claude-haiku-") }
	usable := s.Models(t.Context(), false)
	if !slices.ContainsFunc(usable, haiku) {
		t.Errorf("no allowed model is listed: %v", usable)
	}
	for _, all := range []bool{false, true} {
		for _, r := range s.Models(t.Context(), all) {
			if r.Provider != "anthropic" {
				continue
			}
			if denied := strings.Contains(r.Problem, "team policy"); denied == haiku(r) || denied && !all && !r.Chosen {
				t.Errorf("all %v: %s: %q", all, r.Spec, r.Problem)
			}
		}
	}
}

// TestADefaultThatTheTeamDoesNotAllow: where nobody names a model, the first one
// that is allowed is taken; one that was named is refused.
func TestADefaultThatTheTeamDoesNotAllow(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GARUDA_HOME", home)
	open := func(allowed, named string) (string, error) {
		t.Helper()
		t.Setenv("ANTHROPIC_API_KEY", "sk-ant-x") // a start takes it out of the environment
		if err := os.WriteFile(filepath.Join(home, "policy.json"), []byte(`{"allowedModels": [`+allowed+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), &Options{CWD: t.TempDir(), InMemory: true, Model: named})
		if err != nil {
			return "", err
		}
		defer s.Close()
		return s.Model().Spec, nil
	}
	if spec, err := open(`"anthropic/claude-haiku-*"`, ""); err != nil || !strings.HasPrefix(spec, "anthropic/claude-haiku-") {
		t.Errorf("%s: %v", spec, err)
	}
	if spec, err := open(`"anthropic/claude-haiku-*"`, "opus"); err == nil || !strings.Contains(err.Error(), "team policy") {
		t.Errorf("a named model: %s: %v", spec, err)
	}
	for _, none := range []string{`"nobody/x"`, ""} {
		if spec, err := open(none, ""); err == nil || !strings.Contains(err.Error(), "team policy") {
			t.Errorf("allowed %s: %s: %v", none, spec, err)
		}
	}
}
