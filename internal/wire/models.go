package wire

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/provider"
)

// ModelRow is one model in a list.
type ModelRow struct {
	Spec     string `json:"model"`
	Provider string `json:"provider"`
	ID       string `json:"id"`
	// ContextWindow is in tokens; an assumption where ContextWindowKnown is false.
	ContextWindow      int  `json:"contextWindow"`
	ContextWindowKnown bool `json:"contextWindowKnown"`
	// MaxOutput is the model's own output limit in tokens; 0 where nobody knows.
	MaxOutput  int        `json:"maxOutput"`
	Price      core.Price `json:"price"`
	PriceKnown bool       `json:"priceKnown"`
	// Thinks is nil where nobody knows whether the model can think.
	Thinks *bool `json:"thinks"`
	// ThinkingLevels are the provider's words; empty where nobody knows them.
	ThinkingLevels []string `json:"thinkingLevels"`
	// Vision is nil where nobody knows whether the model sees images.
	Vision *bool `json:"vision"`
	Local  bool  `json:"local"`
	// Key says where the key comes from: a variable's name, credentials, keychain
	// or none.
	Key string `json:"key"`
	// Chosen is true for the model that is taken when none is named.
	Chosen bool `json:"chosen"`
	// Problem is why the model cannot be used now.
	Problem string `json:"problem,omitempty"`
}

// Models lists what can be used now, with all also what cannot, in the order of
// the providers' table, then of models.json. The model that is taken when none is
// named is always in it.
func (s *System) Models(ctx context.Context, all bool) []ModelRow {
	chosen := ""
	choice, err := s.providers.Choose(ctx, provider.Preferences{Setting: s.settings.Model, Info: modelInfo(&s.settings.ModelInfo)})
	if err == nil {
		chosen = choice.Info.Spec
	}
	out := []ModelRow{}
	for _, p := range s.providers.List(ctx, all) {
		if p.Problem != nil && !all {
			continue
		}
		for _, m := range p.Models {
			row := modelRow(m)
			if row.Chosen = m.Spec == chosen; row.Chosen {
				row = modelRow(choice.Info) // with what the settings say of it
				row.Chosen = true
			}
			problem := p.Problem
			if problem == nil {
				problem = s.providers.Permitted(m.Spec)
			}
			if problem != nil && !all && !row.Chosen {
				continue
			}
			if problem != nil {
				row.Problem = problem.Error()
			}
			out = append(out, row)
		}
	}
	if chosen != "" && !slices.ContainsFunc(out, func(r ModelRow) bool { return r.Chosen }) {
		row := modelRow(choice.Info)
		row.Chosen = true
		if _, err := s.providers.Open(choice); err != nil {
			row.Problem = err.Error()
		}
		out = append([]ModelRow{row}, out...)
	}
	return out
}

func modelRow(m *llm.Info) ModelRow {
	row := ModelRow{
		Spec: m.Spec, Provider: m.Provider, ID: m.ID, ContextWindow: m.ContextWindow, ContextWindowKnown: m.Known,
		MaxOutput: m.MaxOutput, Price: m.Price, PriceKnown: m.Price.Known,
		ThinkingLevels: append([]string{}, m.Efforts...), Local: m.Local, Key: m.KeySource,
	}
	if m.VisionKnown {
		row.Vision = &m.Vision
	}
	if m.Thinks || m.ThinksKnown {
		row.Thinks = &m.Thinks
	}
	return row
}

// Matches reports whether the word is part of the model's name, in any case.
func (m ModelRow) Matches(word string) bool {
	return strings.Contains(strings.ToLower(m.Spec), strings.ToLower(word))
}

// WindowInWords is the context window in tokens.
func (m ModelRow) WindowInWords() string {
	if !m.ContextWindowKnown {
		return fmt.Sprintf("%d assumed", m.ContextWindow)
	}
	return fmt.Sprint(m.ContextWindow)
}

// OutputInWords is the output limit in tokens.
func (m ModelRow) OutputInWords() string {
	if m.MaxOutput == 0 {
		return "unknown"
	}
	return fmt.Sprint(m.MaxOutput)
}

// PriceInWords is input/output in US dollars for a million tokens, and
// CachePriceInWords reading from and writing to the cache.
func (m ModelRow) PriceInWords() string { return m.inWords(m.Price.Input, m.Price.Output) }

// CachePriceInWords says what PriceInWords leaves out.
func (m ModelRow) CachePriceInWords() string { return m.inWords(m.Price.CacheRead, m.Price.CacheWrite) }

func (m ModelRow) inWords(a, b float64) string {
	switch {
	case !m.PriceKnown:
		return "unknown"
	case m.Price == core.Price{Known: true}:
		return "free"
	}
	return core.Dollars(a) + "/" + core.Dollars(b)
}

// ThinkingInWords says which levels of thinking the model tells apart.
func (m ModelRow) ThinkingInWords() string {
	switch {
	case m.Thinks == nil:
		return "unknown"
	case !*m.Thinks:
		return "no"
	case len(m.ThinkingLevels) == 0:
		return "yes"
	}
	return strings.Join(m.ThinkingLevels, ",")
}

// VisionInWords says whether the model sees images.
func (m ModelRow) VisionInWords() string {
	switch {
	case m.Vision == nil:
		return "unknown"
	case *m.Vision:
		return "yes"
	}
	return "no"
}

// KeyInWords says where the key comes from.
func (m ModelRow) KeyInWords() string {
	switch {
	case m.Key != "none" && m.Key != "":
		return m.Key
	case m.Local:
		return "not needed"
	}
	return "none"
}
