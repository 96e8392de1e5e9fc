package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/provider"
	"garuda/internal/secret"
)

// takeSecrets reads models.json and moves every key it or a built-in provider
// names out of the process's environment.
func takeSecrets(p places) (*provider.File, *secret.Store, []string, error) {
	file := &provider.File{}
	if p.garuda != "" {
		var err error
		if file, err = provider.ReadFile(filepath.Join(p.garuda, "models.json")); err != nil {
			return nil, nil, nil, &SettingsError{Err: err}
		}
	}
	store, err := secret.Take(secret.Options{Keys: file.KeyNames(), Home: p.garuda, Keychain: secret.SystemKeychain(p.garuda)})
	said := store.Warnings()
	if err != nil {
		return nil, nil, nil, &SettingsError{Err: err}
	}
	return file, store, said, nil
}

func newProviders(file *provider.File, keys *secret.Store, clock core.Clock, permit func(string) error) *provider.Registry {
	return provider.New(provider.Options{
		File: file, Lookup: os.LookupEnv, Keys: keys, Clock: clock, Permit: permit,
	})
}

// openModel chooses and opens the model that flags and settings name.
func (s *System) openModel(ctx context.Context, flag string) error {
	choice, err := s.providers.Choose(ctx, provider.Preferences{
		Flag: flag, Setting: s.settings.Model, Info: modelInfo(&s.settings.ModelInfo),
	})
	if errors.Is(err, provider.ErrUnknownModel) {
		return &SettingsError{Err: fmt.Errorf("choose a model: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("choose a model: %w", err)
	}
	if _, err := s.subagentChoice(choice); err != nil {
		return err
	}
	return s.useChoice(choice)
}

// subagentChoice finds the model of subagents: that of the command line, of the
// environment, of the settings, else the main one. A name that cannot be used is an
// error at the start, not when a subagent is.
func (s *System) subagentChoice(main *provider.Choice) (*provider.Choice, error) {
	for _, named := range []struct{ by, spec string }{
		{"--subagent-model", s.options.SubagentModel},
		{subagentVariable, os.Getenv(subagentVariable)},
		{"subagents.model", s.settings.Subagents.Model},
	} {
		if strings.TrimSpace(named.spec) == "" {
			continue
		}
		choice, err := s.providers.Resolve(named.spec, nil)
		if err != nil {
			return nil, &SettingsError{Err: fmt.Errorf("choose the model of subagents (%s): %w", named.by, err)}
		}
		if err := s.providers.Permitted(choice.Info.Spec); err != nil {
			return nil, &SettingsError{Err: fmt.Errorf("choose the model of subagents (%s): %s: %w", named.by, choice.Info.Spec, err)}
		}
		return choice, nil
	}
	return main, nil
}

// subagentVariable names the model of subagents in the environment, as GARUDA_MODEL
// names the main one.
const subagentVariable = "GARUDA_SUBAGENT_MODEL"

func (s *System) useChoice(choice *provider.Choice) error {
	model, err := s.providers.Open(choice)
	if err != nil {
		return fmt.Errorf("open the model: %w", err)
	}
	if choice.Notice != "" {
		s.notices = append(s.notices, choice.Notice)
	}
	s.model = model
	return nil
}

// modelInfo is what the settings say of the model, as the provider takes it.
func modelInfo(m *config.ModelInfo) *provider.ModelInfo {
	return &provider.ModelInfo{
		ContextWindow: m.ContextWindow, MaxTokens: m.MaxTokens, Price: provider.Price(m.Price),
	}
}

// thinking is how much the settings want the model to think.
func thinking(t config.Thinking) llm.ThinkingLevel {
	switch {
	case t.Enabled != nil && !*t.Enabled:
		return llm.ThinkOff
	case t.Enabled != nil && t.Effort == "":
		return llm.ThinkMedium // some models think only when a level is asked for
	}
	return llm.ThinkingLevel(t.Effort)
}
