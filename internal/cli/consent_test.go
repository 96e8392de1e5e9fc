package cli

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/config"
	"garuda/internal/wire"
)

// answers gives one line after the other.
type answers []string

func (a *answers) line(string) (string, error) {
	if len(*a) == 0 {
		return "", errors.New("the input ended")
	}
	one := (*a)[0]
	*a = (*a)[1:]
	return one, nil
}

func (a *answers) hidden(q string) (string, error) { return a.line(q) }

func TestConsent(t *testing.T) {
	var wants []config.Want
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		wants = append(wants, config.Want{Key: key})
	}
	shown := 0
	got, err := consent(wants, &answers{"t", "Remember", "", "yes", "n"}, func(config.Want) { shown++ })
	if err != nil || shown != len(wants) {
		t.Fatal(shown, err)
	}
	if diff := cmp.Diff(wire.Consent{ThisRun: wants[:1], Remember: wants[1:2]}, got); diff != "" {
		t.Error(diff)
	}
	if got, err := consent(wants, &answers{"t"}, func(config.Want) {}); err == nil || len(got.ThisRun) > 0 {
		t.Errorf("an input that ended accepted %v, %v", got, err)
	}
}
