package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What the servers answer, cut to what matters and some of what does not.
const (
	ollamaPS = `{"models": [{"name": "other:latest", "model": "other:latest", "context_length": 2048},
		{"name": "qwen3:8b", "model": "qwen3:8b", "size": 6591830464, "details": {"family": "qwen3"}, "size_vram": 5333539264, "context_length": 16384}]}`
	ollamaShow = `{"license": "…", "modelfile": "FROM x", "parameters": "stop                           \"<|im_end|>\"\nnum_ctx                        8192\ntemperature 0.6",
		"template": "{{ .Prompt }}", "details": {"family": "qwen3"}, "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960, "tokenizer.ggml.tokens": null},
		"capabilities": ["completion", "tools", "thinking"]}`
	ollamaPlain = `{"parameters": "temperature 1", "model_info": {"gemma3.context_length": 131072}, "capabilities": ["completion", "vision"]}`
	lmStudioV0  = `{"object": "list", "data": [
		{"id": "qwen2-vl-7b-instruct", "object": "model", "type": "vlm", "state": "not-loaded", "max_context_length": 32768},
		{"id": "devstral", "object": "model", "type": "llm", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 12000}]}`
	lmStudioV1 = `{"models": [{"type": "llm", "key": "google/gemma-3", "max_context_length": 131072, "capabilities": {"vision": true, "trained_for_tool_use": true},
		"loaded_instances": [{"id": "google/gemma-3:2", "config": {"context_length": 20000}}]}]}`
	llamaProps = `{"default_generation_settings": {"id": 0, "n_ctx": 8192, "params": {"n_predict": -1}}, "total_slots": 4, "model_path": "/m.gguf",
		"modalities": {"vision": true, "audio": false}, "chat_template": "…"}`
	llamaModels = `{"object": "list", "data": [{"id": "m.gguf", "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}}]}`
	vllmModels  = `{"object": "list", "data": [{"id": "Qwen/Qwen3-8B", "object": "model", "owned_by": "vllm", "root": "Qwen/Qwen3-8B", "max_model_len": 40960}]}`
)

func TestMeasure(t *testing.T) {
	yes, no, unsaid := "sees", "blind", ""
	tests := []struct {
		name, spec, file string
		servers          servers
		window           int
		known            bool
		vision, notice   string
	}{
		{name: "ollama, loaded", spec: "ollama/qwen3:8b", servers: servers{"localhost:11434/api/ps": ollamaPS, "localhost:11434/api/show": ollamaShow}, window: 16384, known: true, vision: no},
		{name: "ollama, the latest is loaded", spec: "ollama/other", servers: servers{"localhost:11434/api/ps": ollamaPS}, window: 2048, known: true, vision: unsaid},
		{name: "ollama, num_ctx", spec: "ollama/qwen3:14b", servers: servers{"localhost:11434/api/ps": ollamaPS, "localhost:11434/api/show": ollamaShow}, window: 8192, known: true, vision: no},
		{name: "ollama, not loaded", spec: "ollama/gemma3", servers: servers{"localhost:11434/api/ps": `{"models": []}`, "localhost:11434/api/show": ollamaPlain}, window: 4096, vision: yes,
			notice: "Ollama has not loaded gemma3 yet.*assuming 4096 tokens.*OLLAMA_CONTEXT_LENGTH.*num_ctx.*contextWindow"},
		{name: "ollama, a small model", spec: "ollama/s", servers: servers{"localhost:11434/api/show": `{"model_info": {"x.context_length": 2048}}`}, window: 2048, vision: unsaid, notice: "assuming 2048"},
		{name: "ollama's cloud", spec: "ollama/big:480b-cloud", servers: servers{"localhost:11434/api/show": ollamaPlain}, window: 131072, known: true, vision: yes, notice: "Ollama says that big:480b-cloud takes no tools"},
		{name: "ollama, no answer", spec: "ollama/gemma3", servers: servers{}, window: 32768, vision: unsaid, notice: "assuming a window of 32768"},
		{name: "ollama hangs", spec: "ollama/gemma3", servers: servers{"localhost:11434/api/ps": "hang", "localhost:11434/api/show": "hang"}, window: 32768, vision: unsaid, notice: "assuming a window of 32768"},
		{name: "ollama, told more", spec: "ollama/qwen3:8b", file: `{"models": {"ollama/qwen3:8b": {"contextWindow": 40000}}}`, servers: servers{"localhost:11434/api/ps": ollamaPS}, window: 40000, known: true, vision: unsaid,
			notice: "models.json says that ollama/qwen3:8b has a window of 40000 tokens, but Ollama has it with 16384.*OLLAMA_CONTEXT_LENGTH"},
		{name: "ollama, told more of one not loaded", spec: "ollama/gemma3", file: `{"models": {"ollama/gemma3": {"contextWindow": 40000}}}`, servers: servers{"localhost:11434/api/show": ollamaPlain}, window: 40000, known: true, vision: yes,
			notice: "Ollama has not loaded it yet, and loads a model with 4096 by default"},
		{name: "ollama, told less", spec: "ollama/qwen3:8b", file: `{"models": {"ollama/qwen3:8b": {"contextWindow": 9000}}}`, servers: servers{"localhost:11434/api/ps": ollamaPS}, window: 9000, known: true, vision: unsaid},
		{name: "lm studio, loaded", spec: "lmstudio/devstral", servers: servers{"localhost:1234/api/v0/models": lmStudioV0}, window: 12000, known: true, vision: no},
		{name: "lm studio, not loaded", spec: "lmstudio/qwen2-vl-7b-instruct", servers: servers{"localhost:1234/api/v0/models": lmStudioV0}, window: 4096, vision: yes, notice: "LM Studio has not loaded.*--context-length"},
		{name: "lm studio, version 1", spec: "lmstudio/google/gemma-3:2", servers: servers{"localhost:1234/api/v0/models": "404", "localhost:1234/api/v1/models": lmStudioV1}, window: 20000, known: true, vision: yes},
		{name: "lm studio, another model", spec: "lmstudio/none", servers: servers{"localhost:1234/api/v0/models": lmStudioV0}, window: 32768, vision: unsaid, notice: "assuming a window of 32768"},
		{name: "llama.cpp, per slot", spec: "llamacpp/m.gguf", servers: servers{"localhost:8080/props": llamaProps}, window: 8192, known: true, vision: yes},
		{name: "llama.cpp, told more", spec: "llamacpp/m.gguf", file: `{"models": {"llamacpp/m.gguf": {"contextWindow": 32768}}}`, servers: servers{"localhost:8080/props": llamaProps}, window: 32768, known: true, vision: yes, notice: "--ctx-size"},
		{name: "vllm", spec: "vllm/Qwen/Qwen3-8B", servers: servers{"localhost:8000/v1/models": vllmModels}, window: 40960, known: true, vision: unsaid},
		{name: "one's own name for llama.cpp", spec: "box/m.gguf", file: `{"providers": {"box": {"type": "openai-compatible", "baseUrl": "http://127.0.0.1:9000/v1"}}, "models": {"box/m.gguf": {"price": {"input": 0, "output": 0}}}}`,
			servers: servers{"127.0.0.1:9000/v1/models": llamaModels, "127.0.0.1:9000/props": llamaProps}, window: 8192, known: true, vision: yes},
		{name: "another machine is not asked", spec: "ollama/qwen3:8b", file: `{"providers": {"ollama": {"baseUrl": "https://far.example/v1"}}}`, servers: servers{"far.example/api/ps": ollamaPS}, window: 32768, vision: unsaid, notice: "not in the catalogue"},
		{name: "odd numbers", spec: "llamacpp/m", servers: servers{"localhost:8080/props": `{"default_generation_settings": {"n_ctx": -5}, "modalities": null}`}, window: 32768, vision: unsaid, notice: "assuming"},
		{name: "huge numbers", spec: "vllm/m", servers: servers{"localhost:8000/v1/models": `{"data": [{"id": "m", "owned_by": 7, "max_model_len": 1e300}]}`}, window: 32768, vision: unsaid, notice: "assuming"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry(t, tt.file, nil, keys{}, tt.servers)
			c, err := r.Choose(t.Context(), Preferences{Flag: tt.spec})
			if err != nil {
				t.Fatal(err)
			}
			i := c.Info
			vision := unsaid
			if i.VisionKnown {
				vision = map[bool]string{true: yes, false: no}[i.Vision]
			}
			if i.ContextWindow != tt.window || i.Known != tt.known || vision != tt.vision || c.By != "--model" {
				t.Errorf("window %d known %v vision %q by %q, want %d %v %q", i.ContextWindow, i.Known, vision, c.By, tt.window, tt.known, tt.vision)
			}
			if !inOrder(c.Notice, strings.Split(tt.notice, ".*")) || tt.notice == "" && c.Notice != "" || strings.Contains(c.Notice, "\n") {
				t.Errorf("notice %q, want %q", c.Notice, tt.notice)
			}
		})
	}
}

func inOrder(s string, parts []string) bool {
	for _, p := range parts {
		_, rest, ok := strings.Cut(s, p)
		if !ok {
			return false
		}
		s = rest
	}
	return true
}

// TestCapabilities: what Ollama says of thinking and tools counts, and where it says
// nothing nobody knows.
func TestCapabilities(t *testing.T) {
	for name, tt := range map[string]struct {
		spec, file    string
		servers       servers
		thinks, known bool
		noTools       bool
	}{
		"thinks":            {spec: "ollama/qwen3:8b", servers: servers{"localhost:11434/api/show": ollamaShow}, thinks: true, known: true},
		"takes no tools":    {spec: "ollama/gemma3", servers: servers{"localhost:11434/api/show": ollamaPlain}, known: true, noTools: true},
		"does not say":      {spec: "ollama/s", servers: servers{"localhost:11434/api/show": `{"model_info": {}}`}},
		"odd":               {spec: "ollama/s", servers: servers{"localhost:11434/api/show": `{"capabilities": [7, "tools", {}]}`}, known: true},
		"models.json knows": {spec: "ollama/gemma3", file: `{"models": {"ollama/gemma3": {"thinking": true}}}`, servers: servers{"localhost:11434/api/show": ollamaPlain}, thinks: true, known: true, noTools: true},
		"another program":   {spec: "llamacpp/m.gguf", servers: servers{"localhost:8080/props": llamaProps}},
	} {
		r := registry(t, tt.file, nil, keys{}, tt.servers)
		c, err := r.Choose(t.Context(), Preferences{Flag: tt.spec})
		if err != nil {
			t.Fatal(err)
		}
		if c.Info.Thinks != tt.thinks || c.Info.ThinksKnown != tt.known || strings.Contains(c.Notice, "takes no tools") != tt.noTools {
			t.Errorf("%s: thinks %v, known %v: %q", name, c.Info.Thinks, c.Info.ThinksKnown, c.Notice)
		}
	}
}

// A chosen local server and a listed one say what they have.
func TestMeasuredLists(t *testing.T) {
	s := servers{"localhost:8080/v1/models": llamaModels, "localhost:8080/props": llamaProps}
	r := registry(t, "", nil, keys{}, s)
	c, err := r.Choose(t.Context(), Preferences{})
	if err != nil || c.Info.Spec != "llamacpp/m.gguf" || c.Info.ContextWindow != 8192 || !strings.Contains(c.Info.WindowSetting, "--ctx-size") {
		t.Errorf("%+v, %v", c, err)
	}
	for _, p := range r.List(t.Context(), false) {
		if p.Name == "llamacpp" && (len(p.Models) != 1 || p.Models[0].ContextWindow != 8192) {
			t.Errorf("listed as %+v", p.Models)
		}
	}
}

// A hostile server gets no other address to send keys to, no endless answer, and
// no more time.
func TestMeasureHostile(t *testing.T) {
	away := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer away.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/ps":
			http.Redirect(w, r, away.URL, http.StatusTemporaryRedirect)
		case "/api/show":
			body, _ := io.ReadAll(r.Body)
			if string(body) != `{"model":"m"}` || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("asked %s", body)
			}
			fmt.Fprint(w, `{"parameters": "`)
			for {
				if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
					return
				}
			}
		}
	}))
	defer s.Close()
	f, err := ParseFile("models.json", []byte(`{"providers": {"ollama": {"baseUrl": "`+s.URL+`/v1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := New(Options{File: f, Lookup: noEnv, Keys: keys{}, Clients: fakes()})
	c, err := r.Resolve("ollama/m", nil)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	r.Measure(t.Context(), c)
	if c.Info.ContextWindow != AssumedWindow || c.Info.Known {
		t.Errorf("%+v", c.Info)
	}
	if took := time.Since(begun); took > 20*localLimit {
		t.Errorf("it took %s", took)
	}
}

func FuzzServersAnswers(f *testing.F) {
	for _, body := range []string{ollamaPS, ollamaShow, ollamaPlain, lmStudioV0, lmStudioV1, llamaProps, vllmModels, llamaModels} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s := servers{}
		for _, path := range []string{"11434/api/ps", "11434/api/show", "1234/api/v0/models", "1234/api/v1/models", "8080/props", "8000/v1/models"} {
			s["localhost:"+path] = body
		}
		r := New(Options{Lookup: noEnv, Keys: keys{}, Clients: fakes(), Transport: s})
		for _, spec := range []string{"ollama/qwen3:8b", "lmstudio/devstral", "llamacpp/m.gguf", "vllm/Qwen/Qwen3-8B"} {
			c, err := r.Resolve(spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Measure(t.Context(), c)
			if w := c.Info.ContextWindow; w < 1 || w > maxTokens {
				t.Errorf("%s: a window of %d after %s", spec, w, body)
			}
			if strings.ContainsAny(c.Notice, "\n\x1b") {
				t.Errorf("%s: notice %q", spec, c.Notice)
			}
		}
	})
}

// Whatever a number is, the field beside it is read.
func TestOddFields(t *testing.T) {
	var got struct {
		A, B tokens
		C    text
	}
	if err := json.Unmarshal([]byte(`{"A": "many", "B": 4096.0, "C": {"x": 1}}`), &got); err != nil || got.A != 0 || got.B != 4096 || got.C != "" {
		t.Errorf("%+v, %v", got, err)
	}
}
