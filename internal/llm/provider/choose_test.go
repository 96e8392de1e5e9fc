package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const twoModels = `{"object": "list", "data": [{"id": "nomic-embed-text"}, {"id": "qwen3:8b"}, {"id": "other"}]}`

func TestChoose(t *testing.T) {
	all := keys{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b", "MISTRAL_API_KEY": "c"}
	tests := []struct {
		name, file string
		prefs      Preferences
		env        map[string]string
		keys       keys
		servers    servers
		spec, by   string
	}{
		{name: "flag first", file: goodFile, prefs: Preferences{Flag: "opus", Job: "haiku", Setting: "sonnet"}, env: map[string]string{"GARUDA_MODEL": "fable"},
			spec: "anthropic/claude-opus-5-5", by: "--model"},
		{name: "then the job", file: goodFile, prefs: Preferences{Job: "xai/j", Setting: "xai/s"}, env: map[string]string{"GARUDA_MODEL": "xai/e"}, spec: "xai/j", by: "the job"},
		{name: "then the environment", file: goodFile, prefs: Preferences{Setting: "xai/s"}, env: map[string]string{"GARUDA_MODEL": "xai/e"}, spec: "xai/e", by: "GARUDA_MODEL"},
		{name: "then the settings", file: goodFile, prefs: Preferences{Setting: "xai/s"}, env: map[string]string{"GARUDA_MODEL": " "}, keys: all, spec: "xai/s", by: "settings"},
		{name: "then the file", file: goodFile, keys: all, spec: "mock/m", by: "default in models.json"},
		{name: "then a key", keys: all, spec: "anthropic/claude-sonnet-5-5", by: "the key ANTHROPIC_API_KEY"},
		{name: "the next key", keys: keys{"MISTRAL_API_KEY": "c", "OPENAI_API_KEY": "b"}, spec: "openai/gpt-5.6-sol", by: "the key OPENAI_API_KEY"},
		{name: "not in the catalogue", keys: keys{"MISTRAL_API_KEY": "c"}, spec: "mistral/mistral-medium-latest", by: "the key MISTRAL_API_KEY"},
		{name: "a key of the file", file: strings.Replace(goodFile, `"default": "mock/m",`, "", 1), keys: keys{"MOCK_KEY": "k"}, spec: "mock/m", by: "the key MOCK_KEY"},
		{name: "another server in openai's place", keys: keys{"OPENAI_API_KEY": "b"}, env: map[string]string{"OPENAI_BASE_URL": "https://llm.example/v1"},
			servers: servers{"llm.example/v1/models": twoModels}, spec: "openai/qwen3:8b", by: "the key OPENAI_API_KEY"},
		{name: "a gateway in openai's place", keys: keys{"OPENAI_API_KEY": "b"}, env: map[string]string{"OPENAI_BASE_URL": "https://llm.example/v1"},
			servers: servers{"llm.example/v1/models": `{"data": [{"id": "a"}, {"id": "gpt-5.6-sol"}]}`}, spec: "openai/gpt-5.6-sol", by: "the key OPENAI_API_KEY"},
		{name: "one that lists nothing", keys: keys{"OPENAI_API_KEY": "b"}, env: map[string]string{"OPENAI_BASE_URL": "https://llm.example/v1"},
			servers: servers{"llm.example/v1/models": "404"}, spec: "openai/gpt-5.6-sol", by: "the key OPENAI_API_KEY"},
		{name: "a local server", servers: servers{"localhost:8000/v1/models": twoModels}, spec: "vllm/qwen3:8b", by: "the local server vLLM at http://localhost:8000/v1"},
		{name: "the first of two", servers: servers{"localhost:8000/v1/models": twoModels, "localhost:1234/v1/models": twoModels, "localhost:11434/v1/models": `{"data": []}`},
			spec: "lmstudio/qwen3:8b", by: "the local server LM Studio at http://localhost:1234/v1"},
		{name: "one hangs", servers: servers{"localhost:11434/v1/models": "hang", "localhost:8080/v1/models": twoModels}, spec: "llamacpp/qwen3:8b",
			by: "the local server llama.cpp at http://localhost:8080/v1"},
		{name: "moved by the file", file: `{"providers": {"ollama": {"baseUrl": "http://127.0.0.1:5000/v1"}}}`, servers: servers{"127.0.0.1:5000/v1/models": twoModels},
			spec: "ollama/qwen3:8b", by: "the local server Ollama at http://127.0.0.1:5000/v1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry(t, tt.file, tt.env, tt.keys, tt.servers)
			c, err := r.Choose(t.Context(), tt.prefs)
			if err != nil {
				t.Fatal(err)
			}
			if c.Info.Spec != tt.spec || c.By != tt.by {
				t.Errorf("%s by %s, want %s by %s", c.Info.Spec, c.By, tt.spec, tt.by)
			}
		})
	}
}

func TestNoModel(t *testing.T) {
	r := registry(t, "", nil, keys{}, servers{"localhost:8000/v1/models": "not a model server", "localhost:1234/v1/models": `{"data": []}`})
	_, err := r.Choose(t.Context(), Preferences{})
	var none *NoModelError
	if !errors.As(err, &none) {
		t.Fatal(err)
	}
	text := err.Error()
	for _, want := range []string{"`garuda setup`", "`garuda demo`", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY", "Ollama at localhost:11434", "LM Studio at localhost:1234 has no model", "vLLM at localhost:8000)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in: %s", want, text)
		}
	}
	if strings.Contains(text, "\n") {
		t.Error("more than one line")
	}
}

func TestChooseNamesTheSource(t *testing.T) {
	r := registry(t, "", map[string]string{"GARUDA_MODEL": "nope/x"}, keys{"ANTHROPIC_API_KEY": "a"}, nil)
	_, err := r.Choose(t.Context(), Preferences{})
	if !errors.Is(err, ErrUnknownModel) || !strings.HasPrefix(err.Error(), "model from GARUDA_MODEL:") {
		t.Errorf("a wrong name must not be passed over in silence: %v", err)
	}
}

func TestChooseCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := registry(t, "", nil, keys{}, servers{}).Choose(ctx, Preferences{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The real transport: it follows no redirect, so that a key never goes to an
// address that was not configured, and leaves no connection behind.
func TestServed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the redirect was followed with %v", r.Header)
	}))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away/models":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/v1/models":
			if r.Header.Get("Authorization") != "Bearer k" || r.Header.Get("X-Team") != "red" {
				t.Errorf("headers %v", r.Header)
			}
			_, _ = w.Write([]byte(twoModels))
		default:
			_, _ = w.Write([]byte("no JSON"))
		}
	}))
	defer s.Close()
	r := New(Options{Lookup: noEnv, Keys: keys{"K": "k"}, Clients: fakes()})
	e := &endpoint{name: "x", format: "chat", base: s.URL + "/v1", keyEnv: "K", local: true, headers: map[string]string{"X-Team": "red"}}
	got, err := r.served(t.Context(), e, remoteLimit)
	if d := cmp.Diff([]string{"qwen3:8b", "other"}, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	for _, path := range []string{"/away", "/odd"} {
		e.base = s.URL + path
		if got, err := r.served(t.Context(), e, remoteLimit); err == nil || got != nil {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}

func TestList(t *testing.T) {
	r := registry(t, goodFile, map[string]string{"OPENAI_BASE_URL": "http://far.example"},
		keys{"ANTHROPIC_API_KEY": "a"}, servers{"localhost:1234/v1/models": twoModels})
	type row struct {
		Ready  bool
		Source string
		First  string
	}
	got := map[string]row{}
	for _, s := range r.List(t.Context(), false) {
		first := ""
		if len(s.Models) > 0 {
			first = s.Models[0].Spec
		}
		got[s.Name] = row{s.Problem == nil, s.KeySource, first}
	}
	want := map[string]row{
		"anthropic": {true, "ANTHROPIC_API_KEY", "anthropic/claude-next"},
		"openai":    {false, "none", ""}, "openrouter": {false, "none", ""}, "deepseek": {false, "none", ""}, "xai": {false, "none", ""},
		"gemini": {false, "none", ""}, "groq": {false, "none", ""}, "mistral": {false, "none", ""}, "mock": {false, "none", ""},
		"bedrock": {false, "none", ""}, "vertex": {false, "none", ""},
		"ollama":   {true, "none", ""}, // models.json moved it to another machine, which is not asked
		"lmstudio": {true, "none", "lmstudio/qwen3:8b"},
		"llamacpp": {false, "none", ""}, "vllm": {false, "none", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, s := range r.List(t.Context(), true) {
		if s.Name == "deepseek" && len(s.Models) == 0 {
			t.Error("all models were asked for, and DeepSeek's are missing")
		}
	}
}

func FuzzModelList(f *testing.F) {
	f.Add(twoModels)
	f.Add(`{"data": [{"id": "a\nb"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		var list modelList
		if json.Unmarshal([]byte(body), &list) != nil {
			return
		}
		ids, err := list.ids()
		if (err == nil) != (len(ids) > 0) {
			t.Errorf("%v, %v", ids, err)
		}
		for _, id := range ids {
			if strings.ContainsAny(id, " \n\x1b\x00") {
				t.Errorf("%q could draw on the terminal", id)
			}
		}
	})
}
