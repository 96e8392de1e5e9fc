package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		provider, id string
		want         Entry
		ok           bool
	}{
		{"anthropic", "claude-sonnet-4-6", Entry{Provider: "anthropic", ID: "claude-sonnet-4-6", ContextWindow: 1_000_000, MaxOutput: 128_000,
			Price:  core.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Search: 0.01, Known: true},
			Thinks: true, Images: true, Efforts: []string{"low", "medium", "high", "max"}}, true},
		{"openai", "gpt-4o", Entry{Provider: "openai", ID: "gpt-4o", ContextWindow: 128_000, MaxOutput: 8192,
			Price: core.Price{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5, Known: true}, Images: true}, true},
		{"openai", "gpt-4o-2024-08-06", Entry{Provider: "openai", ID: "gpt-4o-2024-08-06", ContextWindow: 128_000, MaxOutput: 8192,
			Price: core.Price{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5, Known: true}, Images: true}, true},
		{"anthropic", "claude-haiku-4-5", Entry{Provider: "anthropic", ID: "claude-haiku-4-5", ContextWindow: 200_000, MaxOutput: 64_000,
			Price: core.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25, Search: 0.01, Known: true}, Thinks: true, Images: true}, true},
		{"gemini", "gemini-4-argon", Entry{Provider: "gemini", ID: "gemini-4-argon", ContextWindow: 1_048_576, MaxOutput: 65_536,
			Price:  core.Price{Input: 4, Output: 20, CacheRead: 0.2, CacheWrite: 4, Search: 0.014, Known: true},
			Thinks: true, Images: true, Efforts: []string{"low", "medium", "high"}}, true},
		{"gemini", "gemini-2.5-flash", Entry{Provider: "gemini", ID: "gemini-2.5-flash", ContextWindow: 1_048_576, MaxOutput: 50_000,
			Price: core.Price{Input: 0.3, Output: 2.5, CacheRead: 0.03, CacheWrite: 0.3, Search: 0.035, Known: true}, Thinks: true, Images: true}, true},
		{"anthropic", "claude", Entry{}, false},
		{"anthropic", "claude-opus-5-7", Entry{}, false}, // a new model is not its predecessor
		{"openai", "gpt-5-codex-mini", Entry{}, false},
		{"openai", "gpt-5.4-2026-03-05", Entry{Provider: "openai", ID: "gpt-5.4-2026-03-05", ContextWindow: 1_050_000, MaxOutput: 128_000,
			Price: core.Price{Input: 2.5, Output: 15, CacheRead: 0.25, CacheWrite: 2.5, Known: true, LongOver: 272_000, LongInput: 2, LongOutput: 1.5}, Thinks: true, Images: true,
			Efforts: []string{"low", "medium", "high", "xhigh"}}, true},
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

// Every row can be found, and its numbers make sense.
func TestEveryRow(t *testing.T) {
	rows := 0
	for line := range strings.Lines(table) {
		provider, ok := strings.CutPrefix(line, "@")
		if !ok {
			continue
		}
		provider, def, _ := strings.Cut(strings.TrimSuffix(provider, "\n"), "\t")
		all := Models(provider)
		if id, ok := Default(provider); id != def || !ok {
			t.Errorf("Default(%s) = %q, want %q", provider, id, def)
		}
		if _, ok := lookup(provider, def); !ok {
			t.Errorf("%s: its default %q is not listed", provider, def)
		}
		for _, e := range all {
			rows++
			if got, ok := lookup(provider, e.ID); !ok || !cmp.Equal(got, e) || strings.ContainsAny(e.ID, "\t\n") || e.ID[0] == '@' {
				t.Errorf("%s/%s: found %v, %+v", provider, e.ID, ok, got)
			}
			if e.ContextWindow <= 0 || e.MaxOutput < 0 || e.MaxOutput > e.ContextWindow {
				t.Errorf("%s/%s: window %d, output %d", provider, e.ID, e.ContextWindow, e.MaxOutput)
			}
			pr := e.Price
			if !pr.Known {
				if !cmp.Equal(pr, core.Price{}) {
					t.Errorf("%s/%s: an unknown price of %+v", provider, e.ID, pr)
				}
				continue
			}
			if pr.Input < 0 || pr.Output < 0 || pr.CacheRead < 0 || pr.CacheRead > pr.Input || pr.CacheWrite < pr.Input || pr.Input > 1000 || pr.Output > 5000 {
				t.Errorf("%s/%s: price %+v", provider, e.ID, pr)
			}
			if long := pr.LongOver != 0; long && (pr.LongInput < 1 || pr.LongOutput < 1 || pr.LongOver > e.ContextWindow) || !long && pr.LongInput+pr.LongOutput != 0 {
				t.Errorf("%s/%s: price of long prompts %+v", provider, e.ID, pr)
			}
		}
	}
	if lines := strings.Count(table, "\n") - strings.Count(table, "\n@") - 1; rows != lines {
		t.Errorf("%d rows were read of %d", rows, lines)
	}
}

// Bedrock and Vertex AI have other ids for the same models.
func TestCloudIDs(t *testing.T) {
	tests := []struct {
		provider, id string
		window       int
		input        float64 // 0: unknown
	}{
		{"bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 3},
		{"bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 3},
		{"bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 3.3},
		{"bedrock", "apac.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000, 0},
		{"bedrock", "global.anthropic.claude-opus-4-6-v1", 1_000_000, 5},
		{"bedrock", "us.anthropic.claude-opus-5-20260724-v1:0", 1_000_000, 5},
		{"bedrock", "us.anthropic.claude-opus-5-5-v1:0", 1_000_000, 0},
		{"bedrock", "us.anthropic.claude-opus-5-7-v1:0", 0, 0},
		{"bedrock", "us.amazon.nova-pro-v1:0", 0, 0},
		{"bedrock", "", 0, 0},
		{"bedrock", "us.", 0, 0},
		{"vertex", "claude-sonnet-4-5@20250929", 200_000, 3},
		{"vertex", "claude-sonnet-4-5", 200_000, 3},
		{"vertex", "claude-opus-5@20260724", 1_000_000, 0},
		{"vertex", "gemini-2.5-pro", 1_048_576, 1.25},
		{"vertex", "claude-nothing@20260724", 0, 0},
	}
	for _, tt := range tests {
		e, ok := Lookup(tt.provider, tt.id)
		if ok != (tt.window > 0) || e.ContextWindow != tt.window || e.Price.Input != tt.input || e.Price.Known != (tt.input > 0) {
			t.Errorf("Lookup(%s, %q) = %+v, %v", tt.provider, tt.id, e, ok)
		}
		if ok && (e.ID != tt.id || e.Provider != tt.provider) {
			t.Errorf("Lookup(%s, %q) calls itself %s/%s", tt.provider, tt.id, e.Provider, e.ID)
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
	for family, want := range map[string]string{
		"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5", "fable": "claude-fable-5-2",
	} {
		if id, _ := Alias(family); id != want {
			t.Errorf("%s is %q, not the newest, %s", family, id, want)
		}
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

// Whatever an id is, what is found for it is a row's, under the name it was asked by.
func FuzzLookup(f *testing.F) {
	for _, id := range []string{"us.anthropic.claude-opus-5-v1:0", "claude-opus-5@20260724", "gpt-4o-2024-08-06", "-v", "us.", "@", "-v1:0", "eu.anthropic.-v1"} {
		f.Add("bedrock", id)
		f.Add("vertex", id)
		f.Add("openai", id)
	}
	f.Fuzz(func(t *testing.T, provider, id string) {
		e, ok := Lookup(provider, id)
		if !ok {
			if !cmp.Equal(e, Entry{}) {
				t.Errorf("Lookup(%q, %q) found nothing: %+v", provider, id, e)
			}
			return
		}
		if e.ID != id || e.Provider != provider || e.ContextWindow <= 0 || !e.Price.Known && !cmp.Equal(e.Price, core.Price{}) {
			t.Errorf("Lookup(%q, %q) = %+v", provider, id, e)
		}
	})
}
