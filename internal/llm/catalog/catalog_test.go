package catalog

import (
	"slices"
	"strings"
	"testing"

	"charm.land/catwalk/pkg/embedded"
	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		provider, id string
		want         Entry
		ok           bool
	}{
		{"anthropic", "claude-sonnet-4-6", Entry{Provider: "anthropic", ID: "claude-sonnet-4-6", ContextWindow: 200_000, MaxOutput: 128_000,
			Price:  core.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Known: true},
			Thinks: true, Images: true, Efforts: []string{"low", "medium", "high", "max"}}, true},
		{"openai", "gpt-4o", Entry{Provider: "openai", ID: "gpt-4o", ContextWindow: 128_000, MaxOutput: 8192,
			Price: core.Price{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5, Known: true}, Images: true}, true},
		{"openai", "gpt-4o-2024-08-06", Entry{Provider: "openai", ID: "gpt-4o-2024-08-06", ContextWindow: 128_000, MaxOutput: 8192,
			Price: core.Price{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5, Known: true}, Images: true}, true},
		{"anthropic", "claude-haiku-4-5", Entry{Provider: "anthropic", ID: "claude-haiku-4-5", ContextWindow: 200_000, MaxOutput: 64_000,
			Price: core.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25, Known: true}, Thinks: true, Images: true}, true},
		{"anthropic", "claude", Entry{}, false},
		{"anthropic", "claude-opus-5-5", Entry{}, false}, // a new model is not its predecessor
		{"anthropic", "gpt-4o", Entry{}, false},
		{"anthropic", "", Entry{}, false},
		{"anthropic", "@anthropic", Entry{}, false},
		{"anthropic", "x\t1\t1\t\t\t\t\t\t\nclaude-opus-5", Entry{}, false},
		{"", "claude-opus-5", Entry{}, false},
		{"ollama", "llama3", Entry{}, false},
	}
	for _, tt := range tests {
		got, ok := Lookup(tt.provider, tt.id)
		if d := cmp.Diff(tt.want, got); d != "" || ok != tt.ok {
			t.Errorf("Lookup(%q, %q) = %v:\n%s", tt.provider, tt.id, ok, d)
		}
	}
}

// Every model of the module can be found, and its numbers make sense.
func TestEveryModel(t *testing.T) {
	for _, p := range embedded.GetAll() {
		provider := string(p.ID)
		all := Models(provider)
		if len(all) != len(p.Models) {
			t.Fatalf("%s: %d models in the table, %d in the module", provider, len(all), len(p.Models))
		}
		if id, _ := Default(provider); id != p.DefaultLargeModelID {
			t.Errorf("Default(%s) = %q", provider, id)
		}
		for i, m := range p.Models {
			e, ok := Lookup(provider, m.ID)
			if !ok || e.ID != m.ID || all[i].ID != m.ID || strings.ContainsAny(m.ID, "\t\n") || m.ID[0] == '@' {
				t.Errorf("%s/%s: found %v as %q", provider, m.ID, ok, e.ID)
			}
			if int64(e.ContextWindow) != m.ContextWindow || int64(e.MaxOutput) != m.DefaultMaxTokens || e.Thinks != m.CanReason ||
				e.Images != m.SupportsImages || !slices.Equal(e.Efforts, m.ReasoningLevels) {
				t.Errorf("%s/%s: %+v is not %+v", provider, m.ID, e, m)
			}
			if pr := e.Price; pr.Known && (pr.Input < 0 || pr.Output < 0 || pr.CacheRead < 0 ||
				pr.CacheRead > pr.Input || pr.CacheWrite < pr.Input) {
				t.Errorf("%s/%s: price %+v", provider, m.ID, pr)
			}
		}
	}
}

func TestAlias(t *testing.T) {
	for _, family := range Families() {
		id, ok := Alias(family)
		if _, known := Lookup("anthropic", id); !ok || !known || !strings.Contains(id, family) {
			t.Errorf("Alias(%q) = %q, %v", family, id, ok)
		}
	}
	if id, _ := Alias("sonnet"); id != "claude-sonnet-5" {
		t.Errorf("sonnet is %q, not the newest", id)
	}
	for _, no := range []string{"", "claude", "gpt", "sonnet-4-5"} {
		if id, ok := Alias(no); ok {
			t.Errorf("Alias(%q) = %q", no, id)
		}
	}
}

func TestUndated(t *testing.T) {
	for in, want := range map[string]string{
		"claude-sonnet-4-20250514": "claude-sonnet-4", "gpt-4o-2024-08-06": "gpt-4o",
		"kimi-k2-0905": "kimi-k2-0905", "x-12345678": "x-12345678", "-20250101": "-20250101", "": "",
		"model-2024a08-06": "model-2024a08-06",
	} {
		if got := undated(in); got != want {
			t.Errorf("undated(%q) = %q, want %q", in, got, want)
		}
	}
}

// The last provider's last model is the dearest look-up; one that is not there
// reads its whole section twice.
func BenchmarkLookup(b *testing.B) {
	for name, id := range map[string]string{"found": "claude-fable-5", "missing": "claude-none"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Lookup("anthropic", id)
			}
		})
	}
	b.Run("aggregator/missing", func(b *testing.B) {
		for b.Loop() {
			Lookup("openrouter", "none/such")
		}
	})
}
