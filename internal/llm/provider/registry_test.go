package provider

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keys is a Keys whose sources are the variables.
type keys map[string]string

func (k keys) Key(name string) (string, string, bool) {
	v, ok := k[name]
	return v, name, ok
}

func noEnv(string) (string, bool) { return "", false }

func env(m map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

// fakeModel is a client that only remembers what it was built from.
type fakeModel struct {
	llm.Model
	cfg llm.ClientConfig
}

func fakes() map[string]Constructor {
	out := map[string]Constructor{}
	for _, format := range []string{"anthropic", "chat", "responses"} {
		out[format] = func(cfg llm.ClientConfig) (llm.Model, error) {
			return &fakeModel{cfg: cfg}, nil
		}
	}
	return out
}

// servers answers the question which models there are, by host.
type servers map[string]string

func (s servers) RoundTrip(req *http.Request) (*http.Response, error) {
	body, ok := s[req.URL.Host+req.URL.Path]
	if !ok {
		return nil, errors.New("connection refused")
	}
	status := http.StatusOK
	if body == "404" {
		status = http.StatusNotFound
	}
	if body == "hang" {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func registry(t *testing.T, file string, e map[string]string, k keys, s servers) *Registry {
	t.Helper()
	f := &File{}
	if file != "" {
		var err error
		if f, err = ParseFile("models.json", []byte(file)); err != nil {
			t.Fatal(err)
		}
	}
	return New(Options{File: f, Lookup: env(e), Keys: k, Clients: fakes(), Transport: s})
}

func TestResolve(t *testing.T) {
	tests := []struct {
		name, file string
		env        map[string]string
		spec       string
		want       llm.Info
		base       string
		quirks     llm.Quirks
	}{
		{"full name", "", nil, "anthropic/claude-sonnet-4-6",
			llm.Info{Spec: "anthropic/claude-sonnet-4-6", Provider: "anthropic", ID: "claude-sonnet-4-6", Format: "anthropic",
				ContextWindow: 1_000_000, MaxOutput: 128_000, Known: true, Thinks: true, ThinksKnown: true, Efforts: []string{"low", "medium", "high", "max"},
				Vision: true, VisionKnown: true,
				Price: core.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, Search: 0.01, Known: true}},
			"https://api.anthropic.com", llm.Quirks{WebSearch: true}},
		{"family", "", map[string]string{"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1"}, "opus",
			llm.Info{Spec: "anthropic/claude-opus-5-5", Provider: "anthropic", ID: "claude-opus-5-5", Format: "anthropic",
				ContextWindow: 1_000_000, MaxOutput: 128_000, Known: true, Thinks: true, ThinksKnown: true, Efforts: []string{"low", "medium", "high", "xhigh", "max"}, Local: true,
				Vision: true, VisionKnown: true,
				Price: core.Price{Input: 4, Output: 20, CacheRead: 0.2, CacheWrite: 5, Search: 0.01, Known: true}},
			"http://127.0.0.1:9", llm.Quirks{}},
		{"openai itself", "", nil, "openai/gpt-4o",
			llm.Info{Spec: "openai/gpt-4o", Provider: "openai", ID: "gpt-4o", Format: "responses", ContextWindow: 128_000, MaxOutput: 8192, Known: true, ThinksKnown: true,
				Vision: true, VisionKnown: true,
				Price: core.Price{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5, Known: true}},
			"https://api.openai.com/v1", llm.Quirks{MaxTokensField: "max_completion_tokens", CacheKey: true, WebSearch: true}},
		{"openai by its own address", "", map[string]string{"OPENAI_BASE_URL": "https://api.openai.com/v1/"}, "openai/none",
			llm.Info{Spec: "openai/none", Provider: "openai", ID: "none", Format: "responses", ContextWindow: AssumedWindow},
			"https://api.openai.com/v1", llm.Quirks{MaxTokensField: "max_completion_tokens", CacheKey: true}},
		{"in openai's place", "", map[string]string{"OPENAI_BASE_URL": "https://llm.example/v1"}, "openai/llama",
			llm.Info{Spec: "openai/llama", Provider: "openai", ID: "llama", Format: "chat", ContextWindow: AssumedWindow},
			"https://llm.example/v1", llm.Quirks{ResponsesFallback: true}},
		{"in openai's place, speaking responses", `{"providers": {"openai": {"type": "openai-responses"}}}`,
			map[string]string{"OPENAI_BASE_URL": "https://llm.example/v1"}, "openai/llama",
			llm.Info{Spec: "openai/llama", Provider: "openai", ID: "llama", Format: "responses", ContextWindow: AssumedWindow},
			"https://llm.example/v1", llm.Quirks{}},
		{"openai by chat", `{"providers": {"openai": {"type": "openai-compatible"}}}`, nil, "openai/none",
			llm.Info{Spec: "openai/none", Provider: "openai", ID: "none", Format: "chat", ContextWindow: AssumedWindow},
			"https://api.openai.com/v1", llm.Quirks{ResponsesFallback: true, MaxTokensField: "max_completion_tokens", CacheKey: true}},
		{"local", "", nil, "ollama/qwen3:8b",
			llm.Info{Spec: "ollama/qwen3:8b", Provider: "ollama", ID: "qwen3:8b", Format: "chat", ContextWindow: AssumedWindow, Local: true,
				Price: core.Price{Known: true}},
			"http://localhost:11434/v1", llm.Quirks{ResponsesFallback: true, Playback: llm.PlaybackField, ThinkOffWord: "none"}},
		{"split at the first slash", "", nil, "openrouter/x/y",
			llm.Info{Spec: "openrouter/x/y", Provider: "openrouter", ID: "x/y", Format: "chat", ContextWindow: AssumedWindow},
			"https://openrouter.ai/api/v1", llm.Quirks{ResponsesFallback: true, ThinkingField: llm.ThinkByReasoning}},
		{"from the file", goodFile, nil, "mock/m",
			llm.Info{Spec: "mock/m", Provider: "mock", ID: "m", Format: "chat", ContextWindow: 100_000, MaxOutput: 4096, Known: true, Thinks: true, ThinksKnown: true,
				Price: core.Price{Input: 1, Output: 2.5, CacheRead: 0.1, CacheWrite: 1, Known: true}},
			"http://gpu.example:9000/v1", llm.Quirks{ResponsesFallback: true, TextToolCalls: "lines"}},
		{"plain id of the file", goodFile, nil, "claude-next",
			llm.Info{Spec: "anthropic/claude-next", Provider: "anthropic", ID: "claude-next", Format: "anthropic", ContextWindow: 500_000, Known: true},
			"https://api.anthropic.com", llm.Quirks{WebSearch: true}},
		{"the file over the environment", `{"providers": {"anthropic": {"baseUrl": "https://file.example"}}}`,
			map[string]string{"ANTHROPIC_BASE_URL": "https://env.example"}, "anthropic/none",
			llm.Info{Spec: "anthropic/none", Provider: "anthropic", ID: "none", Format: "anthropic", ContextWindow: AssumedWindow},
			"https://file.example", llm.Quirks{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry(t, tt.file, tt.env, keys{}, nil)
			c, err := r.Resolve(tt.spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.KeySource, tt.want.Quirks = "none", tt.quirks
			if d := cmp.Diff(tt.want, *c.Info); d != "" {
				t.Error(d)
			}
			if c.endpoint.base != tt.base || c.quirks != tt.quirks {
				t.Errorf("base %s, quirks %+v", c.endpoint.base, c.quirks)
			}
			if unknown := !c.Info.Known || !c.Info.Price.Known; unknown != (c.Notice != "") {
				t.Errorf("notice %q", c.Notice)
			}
		})
	}
}

// A name that nobody knows is taken, and the nearest known one is named.
func TestNearModel(t *testing.T) {
	for spec, want := range map[string]string{
		"openai/gpt-5.5x":  `did you mean "openai/gpt-5.5"?`,
		"mock/mm":          `did you mean "mock/m"?`,
		"openai/something": "",
		"ollama/something": "",
	} {
		c, err := registry(t, goodFile, nil, keys{}, nil).Resolve(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(c.Notice, "did you mean"); said != (want != "") || !strings.HasSuffix(c.Notice, want) {
			t.Errorf("%s: %q", spec, c.Notice)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	for _, tt := range []struct {
		spec, want string
		env        map[string]string
		file       string
	}{
		{spec: "", want: "write provider/model"},
		{spec: "anthropic/", want: "write provider/model"},
		{spec: "anthropic/a b", want: "write provider/model"},
		{spec: "gpt-4o", want: `did you mean "openai/gpt-4o"?`},
		{spec: "sonet", want: `did you mean "sonnet"?`},
		{spec: "claude-opus-6", want: `did you mean "claude-opus-5"?`},
		{spec: "antropic/x", want: `there is no provider "antropic"; did you mean "anthropic/x"?`},
		{spec: "zzz/x", want: "known are anthropic, openai"},
		{spec: "openai/x", env: map[string]string{"OPENAI_BASE_URL": "http://far.example/v1"}, want: "provider openai: OPENAI_BASE_URL: plain http"},
		{spec: "openai/x", env: map[string]string{"OPENAI_BASE_URL": "llm.example"}, want: "OPENAI_BASE_URL: it must begin with"},
		{spec: "g/x", file: `{"providers": {"g": {"type": "gemini", "baseUrl": "https://g.example"}}}`, want: "no client for type gemini"},
	} {
		_, err := registry(t, tt.file, tt.env, keys{}, nil).Resolve(tt.spec, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %s", tt.spec, err, tt.want)
		}
	}
}

// A bad address breaks only its own provider.
func TestBadAddressHarmsNoOther(t *testing.T) {
	r := registry(t, "", map[string]string{"OPENAI_BASE_URL": "http://far.example"}, keys{"OPENAI_API_KEY": "a", "XAI_API_KEY": "b"}, nil)
	c, err := r.Choose(t.Context(), Preferences{})
	if err != nil || c.Info.Provider != "xai" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestOverride(t *testing.T) {
	r := registry(t, goodFile, nil, keys{}, nil)
	c, err := r.Resolve("mock/m", &ModelInfo{ContextWindow: 7, Price: Price{Input: dollars(9)}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Info.ContextWindow != 7 || c.Info.MaxOutput != 4096 || c.Info.Price != (core.Price{Input: 9, Output: 2.5, CacheRead: 0.1, CacheWrite: 1, Known: true}) {
		t.Errorf("%+v", c.Info)
	}
}

func TestPrice(t *testing.T) {
	known := core.Price{Input: 1, Output: 2, CacheRead: 0.1, CacheWrite: 1.5, Known: true}
	for name, tt := range map[string]struct {
		base core.Price
		over Price
		want core.Price
	}{
		"nothing said":      {known, Price{}, known},
		"one part":          {known, Price{CacheWrite: dollars(0)}, core.Price{Input: 1, Output: 2, CacheRead: 0.1, Known: true}},
		"whole, unknown":    {core.Price{}, Price{Input: dollars(3), Output: dollars(4)}, core.Price{Input: 3, Output: 4, CacheRead: 3, CacheWrite: 3, Known: true}},
		"free":              {core.Price{}, Price{Input: dollars(0), Output: dollars(0)}, core.Price{Known: true}},
		"half of it":        {core.Price{}, Price{Input: dollars(3), CacheRead: dollars(1)}, core.Price{}},
		"unknown and quiet": {core.Price{}, Price{}, core.Price{}},
	} {
		if d := cmp.Diff(tt.want, tt.over.over(tt.base)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestOpen(t *testing.T) {
	tests := []struct {
		name, file, spec string
		env              map[string]string
		keys             keys
		key, problem     string
	}{
		{name: "with a key", spec: "anthropic/sonnet", keys: keys{"ANTHROPIC_API_KEY": "k"}, key: "k"},
		{name: "without", spec: "anthropic/sonnet", problem: "anthropic/claude-sonnet-5-5 needs a key: set ANTHROPIC_API_KEY, or run `garuda setup` to store one"},
		{name: "local without", spec: "openai/x", env: map[string]string{"OPENAI_BASE_URL": "http://localhost:1/v1"}},
		{name: "local with", spec: "openai/x", env: map[string]string{"OPENAI_BASE_URL": "http://localhost:1/v1"}, keys: keys{"OPENAI_API_KEY": "k"}, key: "k"},
		{name: "none needed", spec: "ollama/x"},
		{name: "own variable", file: goodFile, spec: "mock/m", keys: keys{"MOCK_KEY": "k"}, key: "k"},
		{name: "not a key", spec: "anthropic/sonnet", keys: keys{"ANTHROPIC_API_KEY": "sesame\nopen"}, problem: "holds a character that no key has"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry(t, tt.file, tt.env, tt.keys, nil)
			c, err := r.Resolve(tt.spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := r.Open(c)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "sesame") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			cfg := m.(*fakeModel).cfg
			if cfg.Key != tt.key || cfg.Info != c.Info || cfg.BaseURL != c.endpoint.base || cfg.Clock == nil {
				t.Errorf("%+v", cfg)
			}
			if tt.file != "" && cfg.Headers["X-Team"] != "red" {
				t.Errorf("headers %v", cfg.Headers)
			}
			if want := tt.key != ""; want != (c.Info.KeySource != "none") {
				t.Errorf("key source %q", c.Info.KeySource)
			}
		})
	}
}

func TestMissingKeyIsTyped(t *testing.T) {
	r := registry(t, "", nil, keys{}, nil)
	c, err := r.Resolve("xai/grok-4.5", nil)
	if err != nil {
		t.Fatal(err)
	}
	var missing *MissingKeyError
	if _, err := r.Open(c); !errors.As(err, &missing) || missing.Variable != "XAI_API_KEY" {
		t.Errorf("%v", err)
	}
}

func TestConstructorError(t *testing.T) {
	boom := errors.New("boom")
	r := New(Options{Lookup: noEnv, Keys: keys{}, Clients: map[string]Constructor{
		"chat": func(llm.ClientConfig) (llm.Model, error) { return nil, boom }}})
	c, err := r.Resolve("ollama/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(c); !errors.Is(err, boom) || !strings.Contains(err.Error(), "ollama/x") {
		t.Errorf("%v", err)
	}
}
