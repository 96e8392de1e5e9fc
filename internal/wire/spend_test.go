package wire

import (
	"errors"
	"strings"
	"testing"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/llm"
)

func TestSpendLimitNeedsAPrice(t *testing.T) {
	for _, tc := range []struct {
		name           string
		limit          float64
		model          llm.Info
		refused, noted bool
	}{
		{"no limit", 0, llm.Info{Spec: "x/m"}, false, false},
		{"a known price", 1, llm.Info{Spec: "x/m", Price: core.Price{Known: true}}, false, false},
		{"an unknown price", 1, llm.Info{Spec: "x/m"}, true, false},
		{"on this machine", 1, llm.Info{Spec: "x/m", Local: true}, false, true},
	} {
		s := &System{settings: &config.Settings{}}
		s.settings.Limits.SpendUSD = tc.limit
		said, err := s.checkSpend(&tc.model)
		var settings *SettingsError
		if errors.As(err, &settings) != tc.refused || strings.Contains(said, "does not bound") != tc.noted {
			t.Errorf("%s: %q, %v", tc.name, said, err)
		}
	}
}

func TestRelativeHomesAreRefused(t *testing.T) {
	for _, name := range []string{"HOME", "GARUDA_HOME"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			t.Setenv("GARUDA_HOME", "")
			t.Setenv(name, "here")
			if _, err := findPlaces(); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%v", err)
			}
		})
	}
}
