package wire

import (
	"fmt"
	"slices"

	"garuda/internal/audit"
	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/tool"
)

// Consent is a person's answer about values that a project's settings would loosen.
type Consent struct {
	// ThisRun are accepted now, Remember for good; the others are left out.
	ThisRun, Remember []config.Want
}

// readSettings loads the settings, with those values of the project that the user
// said yes to: before, or now.
func (s *System) readSettings(root string) (*config.Settings, []config.Notice, error) {
	trust, err := config.ReadTrust(s.places.garuda)
	if err != nil {
		return nil, nil, &SettingsError{Err: err}
	}
	var now []config.Want
	load := func() (*config.Settings, []config.Notice, error) {
		settings, notices, err := config.Load(config.Options{
			Home: s.places.garuda, UserHome: s.places.user, Root: root,
			File: s.options.SettingsFile, Flags: s.options.flags(),
			Accepted: func(w config.Want) bool {
				return trust.Pinned(root, w) || slices.ContainsFunc(now, w.Same)
			},
		})
		if err != nil {
			return nil, nil, &SettingsError{Err: err}
		}
		return settings, notices, nil
	}
	settings, notices, err := load()
	if err != nil || s.options.Consent == nil || len(settings.Wanted()) == 0 {
		return settings, notices, err
	}
	said, err := s.options.Consent(settings.Wanted())
	if err != nil {
		return nil, nil, err
	}
	if len(said.Remember) > 0 {
		if err := trust.Pin(root, said.Remember); err != nil {
			return nil, nil, err
		}
	}
	now = slices.Concat(said.ThisRun, said.Remember)
	s.consents = said.lines(settings.Wanted())
	settings, notices, err = load()
	for i := range notices {
		if slices.ContainsFunc(settings.Wanted(), func(w config.Want) bool { return w.Key == notices[i].Key }) {
			notices[i].Text = fmt.Sprintf("%q is left out: you said no", notices[i].Key)
		}
	}
	return settings, notices, err
}

// lines are for the audit log, which is opened when the settings are known.
func (c *Consent) lines(asked []config.Want) []audit.Line {
	choice := func(w config.Want) string {
		switch {
		case slices.ContainsFunc(c.Remember, w.Same):
			return string(tool.AnswerProject)
		case slices.ContainsFunc(c.ThisRun, w.Same):
			return string(tool.AnswerSession)
		}
		return string(tool.AnswerDeny)
	}
	var out []audit.Line
	for _, w := range asked {
		answer := choice(w)
		out = append(out, audit.Line{
			ID: core.NewCallID(), Tool: "settings", Target: w.Key + " = " + w.Value, Decision: audit.Consent,
			Allowed: answer != string(tool.AnswerDeny), Risk: audit.Consent.Risk(), UserChoice: answer,
		})
	}
	return out
}
