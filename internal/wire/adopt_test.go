package wire

import (
	"testing"

	"garuda/internal/config"
	"garuda/internal/llm"
)

// fakeModel is a model with a name and nothing behind it.
type fakeModel struct {
	llm.Model
	spec string
}

func (m fakeModel) Info() *llm.Info { return &llm.Info{Spec: m.spec} }

// What the settings say of a model holds for the one that was begun with, also
// after it was switched away from and back; the prompt that names it is built anew.
func TestSettingsDescribeOneModel(t *testing.T) {
	s := &System{settings: &config.Settings{ModelInfo: config.ModelInfo{MaxTokens: 5}}, model: fakeModel{spec: "a/m"}, system: "you run on a/m"}
	check := func(when string) {
		t.Helper()
		if got := s.infoOf("a/m").MaxTokens; got != 5 {
			t.Errorf("%s: the described model has a limit of %d", when, got)
		}
		if got := s.infoOf("b/m").MaxTokens; got != 0 {
			t.Errorf("%s: another model has a limit of %d", when, got)
		}
	}
	check("at the start")
	for _, spec := range []string{"b/m", "c/m", "a/m"} {
		s.adopt(fakeModel{spec: spec})
		check("with " + spec)
		if s.system != "" || s.model.Info().Spec != spec {
			t.Errorf("new sessions begin with %s and %q", s.model.Info().Spec, s.system)
		}
	}
}
