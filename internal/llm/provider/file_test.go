package provider

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodFile = `{
  // comments and trailing commas are allowed
  "default": "mock/m",
  "providers": {
    "mock": {
      "type": "openai-compatible", "baseUrl": "http://gpu.example:9000/v1/", "apiKeyEnv": "MOCK_KEY",
      "headers": {"X-Team": "red", "Authorization": "Basic c2VjcmV0LXZhbHVl"}, "allowInsecureHttp": true,
    },
    "ollama": {"baseUrl": "https://ollama.example/v1"},
  },
  "models": {
    "mock/m": {"contextWindow": 100000, "maxTokens": 4096, "price": {"input": 1, "output": 2.5, "cacheRead": 0.1},
               "thinking": true, "textToolCalls": "lines"},
    "claude-next": {"contextWindow": 500000},
    "openrouter/a/b": {},
  },
}
`

func TestParseFile(t *testing.T) {
	got, err := ParseFile("models.json", []byte("\ufeff"+goodFile))
	if err != nil {
		t.Fatal(err)
	}
	thinks := true
	want := &File{
		Path: "models.json", Default: "mock/m",
		Providers: map[string]Definition{
			"mock": {Type: "openai-compatible", BaseURL: "http://gpu.example:9000/v1/", KeyEnv: "MOCK_KEY",
				Headers: map[string]string{"X-Team": "red", "Authorization": "Basic c2VjcmV0LXZhbHVl"}, AllowInsecureHTTP: true},
			"ollama": {BaseURL: "https://ollama.example/v1"},
		},
		Models: map[string]ModelInfo{
			"mock/m": {ContextWindow: 100_000, MaxTokens: 4096, Thinking: &thinks, TextToolCalls: "lines",
				Price: Price{Input: dollars(1), Output: dollars(2.5), CacheRead: dollars(0.1)}},
			"anthropic/claude-next": {ContextWindow: 500_000},
			"openrouter/a/b":        {},
		},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if names := got.KeyNames(); !slices.Contains(names, "MOCK_KEY") || !slices.Contains(names, "ANTHROPIC_API_KEY") {
		t.Errorf("KeyNames = %v", names)
	}
	if d := cmp.Diff([]string{"Basic c2VjcmV0LXZhbHVl", "c2VjcmV0LXZhbHVl"}, got.HeaderSecrets()); d != "" {
		t.Error(d)
	}
}

func dollars(f float64) *float64 { return &f }

func TestParseFileErrors(t *testing.T) {
	tests := []struct{ content, want string }{
		{"{\n  \"defalt\": \"x\"\n}", `line 2, column 3: models.json has no "defalt"; did you mean "default"?`},
		{`{"zzzzzz": 1}`, `line 1, column 2: models.json has no "zzzzzz"; it may have default, models, providers`},
		{"{\"providers\": {\n \"mock\": {\"type\": \"anthropic\", \"basUrl\": \"x\"}}}", `line 2, column 32: provider mock has no "basUrl"; did you mean "baseUrl"?`},
		{`{"models": {"é/m": {"contextwindow": 1}}}`, `line 1, column 21: model é/m has no "contextwindow"; did you mean "contextWindow"?`},
		{`{"default": "a", "default": "b"}`, `line 1, column 18: key "default" stands here a second time`},
		{`{"default": 1}`, `line 1, column 13: a number here, where a string belongs`},
		{`{"default": "a"`, `line 1`},
		{"{\n\"default\": \"a\",\n,}", `line 3, column 1`},
		{"{\n\"default\": \"é\" x}", `line 2, column 16`},
		{``, `read models models.json: line 1`},
		{`[]`, `line 1, column 1: a list here, where an object belongs`},
		{`{"providers": []}`, `line 1, column 15: a list here, where an object belongs`},
		{`{"providers": {"a/b": {}}}`, `cannot name a provider`},
		{`{"providers": {"": {}}}`, `cannot name a provider`},
		{`{"providers": {"x": {"baseUrl": "https://x"}}}`, `provider x needs a type`},
		{`{"providers": {"x": {"type": "anthropic"}}}`, `provider x needs a baseUrl`},
		{`{"providers": {"x": {"type": "openai-compatibel", "baseUrl": "https://x"}}}`, `did you mean "openai-compatible"?`},
		{`{"providers": {"x": {"type": "anthropic", "baseUrl": "http://x.example"}}}`, `plain http`},
		{`{"providers": {"x": {"type": "anthropic", "baseUrl": "https://u:sesame@x.example"}}}`, `user or password`},
		{`{"providers": {"x": {"type": "anthropic", "baseUrl": "https://x", "apiKeyEnv": "sk-sesame"}}}`, `not the key itself`},
		{`{"providers": {"x": {"type": "anthropic", "baseUrl": "https://x", "headers": {"a b": ""}}}}`, `HTTP header`},
		{`{"providers": {"x": {"type": "anthropic", "baseUrl": "https://x", "headers": {"a": "b\n"}}}}`, `control character`},
		{`{"providers": {"x": {"type": "anthropic", "baseUrl": "https://x", "allowInsecureHttp": 1}}}`, `a number here, where true or false belongs`},
		{`{"models": {"a/": {}}}`, `is no model`},
		{`{"models": {"a/b": {"contextWindow": 0}}}`, `whole number from 1`},
		{`{"models": {"a/b": {"contextWindow": 1.5}}}`, `whole number from 1`},
		{`{"models": {"a/b": {"contextWindow": "1"}}}`, `whole number from 1`},
		{`{"models": {"a/b": {"price": {"input": -1, "output": 1}}}}`, `US dollars`},
		{`{"models": {"a/b": {"price": {"input": 1, "ouput": 1}}}}`, `did you mean "output"?`},
		{`{"models": {"a/b": {"thinking": "yes"}}}`, `line 1, column 33: a string here, where true or false belongs`},
		{`{"models": {"a/b": {"textToolCalls": "all"}}}`, `"all" is not one of whole, lines, off`},
	}
	for _, tt := range tests {
		_, err := ParseFile("models.json", []byte(tt.content))
		var fe *FileError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s\n got %v\nwant %s", tt.content, err, tt.want)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	f, err := ReadFile(filepath.Join(dir, "models.json"))
	if err != nil || f.Default != "" {
		t.Fatalf("a missing file: %v, %v", f, err)
	}
	path := filepath.Join(dir, "models.json")
	if err := os.WriteFile(path, []byte(goodFile), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = ReadFile(path); err != nil || f.Default != "mock/m" {
		t.Errorf("%v, %v", f, err)
	}
	if _, err = ReadFile(dir); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(goodFile))
	f.Add([]byte(`{"providers":{"x":{"type":"anthropic","baseUrl":"https://[::1"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile("m", data)
		var fe *FileError
		if err != nil {
			if !errors.As(err, &fe) || file != nil {
				t.Errorf("%v, %v", file, err)
			}
			return
		}
		New(Options{File: file, Lookup: noEnv, Keys: keys{}, Clients: fakes()})
	})
}
