package provider

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// facts are what a server on this machine says of one of its models.
type facts struct {
	// window is the context that a request really gets, in tokens; 0 is unknown.
	// assumed is true when the server did not say it and it is the program's default.
	window  int
	assumed bool
	// vision says whether the model sees images; nil where the server does not say.
	vision *bool
	// thinks and tools say whether it can think and call tools; nil likewise.
	thinks, tools *bool
	// program is the title of what runs there, setting how its context is made larger.
	program, setting string
}

// program is one of the programs that serve models on the user's machine.
type program struct {
	title string
	// owner is what its list of models has as owned_by.
	owner string
	// setting is how its context is made larger, for a person.
	setting string
	measure func(r *Registry, ctx context.Context, e *endpoint, id string) (facts, error)
}

// programs are by the names of the built-in providers.
var programs = map[string]program{
	"ollama": {
		"Ollama", "library",
		"start Ollama with OLLAMA_CONTEXT_LENGTH=32768, or give the model a larger num_ctx in its Modelfile",
		(*Registry).measureOllama,
	},
	"lmstudio": {
		"LM Studio", "organization_owner",
		"load the model in LM Studio with a larger context length (lms load MODEL --context-length 32768)",
		(*Registry).measureLMStudio,
	},
	"llamacpp": {
		"llama.cpp", "llamacpp",
		"start llama-server with a larger --ctx-size, which is divided by --parallel",
		(*Registry).measureLlamaCpp,
	},
	"vllm": {
		"vLLM", "vllm",
		"start vLLM with a larger --max-model-len",
		(*Registry).measureVLLM,
	},
}

// defaultContext is what Ollama and LM Studio load a model with when nobody says
// otherwise: Ollama on a machine with less than 24 GiB of graphics memory, LM
// Studio everywhere. Both cut what is longer without a word.
const defaultContext = 4096

// measure asks a server on this machine for what is true of one of its models. A
// server that does not answer in time, or with something else, says nothing.
func (r *Registry) measure(ctx context.Context, e *endpoint, id string) facts {
	if !e.local || e.problem != nil || e.format != "chat" && e.format != "responses" {
		return facts{}
	}
	ctx, cancel := context.WithTimeout(ctx, localLimit)
	defer cancel()
	p, ok := programs[e.name]
	if !ok {
		var list modelList
		if err := r.ask(ctx, e, http.MethodGet, e.base+"/models", nil, &list); err != nil || len(list.Data) == 0 {
			return facts{}
		}
		if p, ok = programOf(string(list.Data[0].OwnedBy)); !ok {
			return facts{}
		}
	}
	f, err := p.measure(r, ctx, e, id)
	if err != nil {
		return facts{setting: p.setting, program: p.title}
	}
	f.setting, f.program = p.setting, p.title
	return f
}

func programOf(owner string) (program, bool) {
	for _, p := range programs {
		if p.owner == owner {
			return p, true
		}
	}
	return program{}, false
}

// Measure asks a server on this machine how large the context of the choice's
// model really is and whether it sees images, within 200 ms, and puts that into
// the choice. What models.json or the settings say stands; a notice tells where
// that is more than the server has. Elsewhere, and when the server does not
// answer, nothing changes. It is for a choice that has not been opened.
func (r *Registry) Measure(ctx context.Context, c *Choice) {
	f := r.measure(ctx, c.endpoint, c.Info.ID)
	by := c.By
	*c = *r.describe(c.endpoint, c.Info.ID, c.override, f)
	c.By = by
}

// root is the address of the server itself, before the /v1 of its compatible part.
func (e *endpoint) root() string { return strings.TrimSuffix(e.base, "/v1") }

// measureOllama reads what a loaded model was loaded with (api/ps), else what it
// would be loaded with: num_ctx of its Modelfile, or the default. A model of
// Ollama's own cloud gets all it can take.
func (r *Registry) measureOllama(ctx context.Context, e *endpoint, id string) (facts, error) {
	var ps struct {
		Models []struct {
			Name          text   `json:"name"`
			Model         text   `json:"model"`
			ContextLength tokens `json:"context_length"`
		} `json:"models"`
	}
	var show struct {
		Parameters   text                       `json:"parameters"`
		Capabilities []text                     `json:"capabilities"`
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
	}
	var psErr, showErr error
	var wg sync.WaitGroup
	wg.Go(func() { psErr = r.ask(ctx, e, http.MethodGet, e.root()+"/api/ps", nil, &ps) })
	wg.Go(func() {
		showErr = r.ask(ctx, e, http.MethodPost, e.root()+"/api/show", map[string]string{"model": id}, &show)
	})
	wg.Wait()
	var f facts
	if showErr == nil && show.Capabilities != nil {
		can := func(what text) *bool {
			yes := slices.Contains(show.Capabilities, what)
			return &yes
		}
		f.vision, f.thinks, f.tools = can("vision"), can("thinking"), can("tools")
	}
	for _, m := range ps.Models {
		if psErr == nil && m.ContextLength > 0 && (tagged(string(m.Name)) == tagged(id) || tagged(string(m.Model)) == tagged(id)) {
			f.window = int(m.ContextLength)
			return f, nil
		}
	}
	if showErr != nil {
		return f, showErr
	}
	limit := 0 // the model's own
	for name, value := range show.ModelInfo {
		var n tokens
		if strings.HasSuffix(name, ".context_length") && json.Unmarshal(value, &n) == nil {
			limit = int(n)
		}
	}
	if strings.HasSuffix(id, "-cloud") || strings.HasSuffix(id, ":cloud") {
		f.window = limit
		return f, nil
	}
	f.window = numCtx(string(show.Parameters))
	if f.window == 0 {
		f.window, f.assumed = defaultContext, true
	}
	if limit > 0 {
		f.window = min(f.window, limit)
	}
	return f, nil
}

// tagged is an Ollama model's full name; one without a tag is the latest.
func tagged(id string) string {
	if strings.Contains(id[strings.LastIndexByte(id, '/')+1:], ":") {
		return id
	}
	return id + ":latest"
}

// numCtx finds num_ctx among a Modelfile's parameters, a line each.
func numCtx(parameters string) int {
	for line := range strings.Lines(parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			var n tokens
			if json.Unmarshal([]byte(f[1]), &n) == nil {
				return int(n)
			}
		}
	}
	return 0
}

// measureLMStudio reads the list of its own interface: version 0, which has every
// model with what it is loaded with, or version 1, its successor.
func (r *Registry) measureLMStudio(ctx context.Context, e *endpoint, id string) (facts, error) {
	var v0 struct {
		Data []struct {
			ID     string `json:"id"`
			Type   text   `json:"type"`
			Loaded tokens `json:"loaded_context_length"`
			Max    tokens `json:"max_context_length"`
		} `json:"data"`
	}
	err := r.ask(ctx, e, http.MethodGet, e.root()+"/api/v0/models", nil, &v0)
	if err == nil {
		for _, m := range v0.Data {
			if m.ID == id {
				sees := m.Type == "vlm"
				return lmStudio(int(m.Loaded), int(m.Max), &sees), nil
			}
		}
		return facts{}, nil
	}
	var v1 struct {
		Models []struct {
			Key          string `json:"key"`
			Max          tokens `json:"max_context_length"`
			Capabilities *struct {
				Vision bool `json:"vision"`
			} `json:"capabilities"`
			Loaded []struct {
				ID     string `json:"id"`
				Config struct {
					ContextLength tokens `json:"context_length"`
				} `json:"config"`
			} `json:"loaded_instances"`
		} `json:"models"`
	}
	if err := r.ask(ctx, e, http.MethodGet, e.root()+"/api/v1/models", nil, &v1); err != nil {
		return facts{}, err
	}
	for _, m := range v1.Models {
		loaded, found := 0, m.Key == id
		for _, instance := range m.Loaded {
			if instance.ID == id || m.Key == id && loaded == 0 {
				loaded, found = int(instance.Config.ContextLength), true
			}
		}
		if found {
			var sees *bool
			if m.Capabilities != nil {
				sees = &m.Capabilities.Vision
			}
			return lmStudio(loaded, int(m.Max), sees), nil
		}
	}
	return facts{}, nil
}

// lmStudio makes facts of what a model is loaded with, 0 for one that is not, and
// the most that it takes.
func lmStudio(loaded, most int, sees *bool) facts {
	f := facts{window: loaded, vision: sees}
	if loaded == 0 {
		f.window, f.assumed = defaultContext, true
		if most > 0 {
			f.window = min(f.window, most)
		}
	}
	return f
}

// measureLlamaCpp reads the properties of llama-server. Their n_ctx is one slot's,
// divided by the number of slots already.
func (r *Registry) measureLlamaCpp(ctx context.Context, e *endpoint, _ string) (facts, error) {
	var props struct {
		Defaults struct {
			Context tokens `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities *struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	if err := r.ask(ctx, e, http.MethodGet, e.root()+"/props", nil, &props); err != nil {
		return facts{}, err
	}
	f := facts{window: int(props.Defaults.Context)}
	if props.Modalities != nil {
		f.vision = &props.Modalities.Vision
	}
	return f, nil
}

// measureVLLM reads max_model_len of its list of models.
func (r *Registry) measureVLLM(ctx context.Context, e *endpoint, id string) (facts, error) {
	var list modelList
	if err := r.ask(ctx, e, http.MethodGet, e.base+"/models", nil, &list); err != nil {
		return facts{}, err
	}
	for _, m := range list.Data {
		if m.ID == id {
			return facts{window: int(m.MaxModelLen)}, nil
		}
	}
	return facts{}, nil
}

// tokens is a number of tokens in a server's answer. What is no such number, or
// one that no model has, is 0: one odd field does not spoil the others.
type tokens int

// UnmarshalJSON never fails.
func (t *tokens) UnmarshalJSON(data []byte) error {
	var n float64
	*t = 0
	if json.Unmarshal(data, &n) == nil && n >= 1 && n <= maxTokens {
		*t = tokens(n)
	}
	return nil
}

// text is a string in a server's answer; anything else is the empty one.
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	*t = ""
	if json.Unmarshal(data, &s) == nil {
		*t = text(s)
	}
	return nil
}
