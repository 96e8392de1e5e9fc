package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"garuda/internal/llm/wire"
)

const (
	// localLimit is how long a local server may take to say which models it has;
	// a server that is there answers in a few milliseconds.
	localLimit = 200 * time.Millisecond
	// remoteLimit is the same for a server elsewhere.
	remoteLimit = 3 * time.Second
	// maxList is the largest list of models that is read, in bytes.
	maxList = 8 << 20
	// maxServed is how many models of one server are taken.
	maxServed = 1000
)

// ErrNoModels is the problem of a local server that answers and has no model.
var ErrNoModels = errors.New("the server has no models")

// probed is what one local server said.
type probed struct {
	endpoint *endpoint
	models   []string
	err      error
}

// probeLocal asks every local server of the table at the same time; the result
// is in the table's order. A provider that models.json moved to another machine
// is not asked.
func (r *Registry) probeLocal(ctx context.Context) []probed {
	var out []probed
	for _, e := range r.endpoints {
		if e.title != "" && e.local && e.problem == nil {
			out = append(out, probed{endpoint: e})
		}
	}
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i].models, out[i].err = r.served(ctx, out[i].endpoint, localLimit) })
	}
	wg.Wait()
	return out
}

// served asks a server for its models, within limit. Embedding models, which
// cannot hold a conversation, are left out.
func (r *Registry) served(ctx context.Context, e *endpoint, limit time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	path := "/models"
	switch e.format {
	case "anthropic":
		path = "/v1/models"
	case "gemini":
		return r.servedGemini(ctx, e)
	}
	var list modelList
	if err := r.ask(ctx, e, http.MethodGet, e.base+path, nil, &list); err != nil {
		return nil, err
	}
	return list.ids()
}

// ask puts one question to an endpoint's server and decodes the JSON of its
// answer, of which at most maxList bytes are read. No redirect is followed, so
// that neither key nor headers go to an address that was not configured.
func (r *Registry) ask(ctx context.Context, e *endpoint, method, address string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range e.headers {
		req.Header.Set(name, value)
	}
	key, err := r.key(e, e.name)
	if err != nil {
		return err
	}
	if key != "" {
		setKey(req.Header, e.format, key)
	}
	transport, done := r.roundTripper(e)
	defer done()
	resp, err := transport.RoundTrip(req) // not a Client: no redirect is followed
	if wire.IsRefused(err) {
		return &notRunningError{base: e.base, next: startOf(e), err: err}
	}
	if err != nil {
		return fmt.Errorf("ask %s for its models: %w", e.base, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &statusError{base: e.base, status: resp.StatusCode}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(answer); err != nil {
		return fmt.Errorf("ask %s for its models: the answer is not the JSON that was expected: %w", e.base, err)
	}
	return nil
}

// notRunningError is a server that is not there.
type notRunningError struct {
	base, next string
	err        error
}

func (e *notRunningError) Error() string {
	return "no server answers at " + e.base + " (connection refused): " + e.next
}

func (e *notRunningError) Unwrap() error { return e.err }

// startOf says how an endpoint's server is started, or what else may be wrong.
func startOf(e *endpoint) string {
	start := "the server"
	switch {
	case !e.local:
	case e.name == "ollama":
		start = "Ollama (ollama serve)"
	case e.name == "lmstudio":
		start = "LM Studio's server (lms server start)"
	case e.name == "llamacpp":
		start = "llama.cpp's (llama-server -m MODEL.gguf)"
	case e.name == "vllm":
		start = "vLLM's (vllm serve MODEL)"
	}
	return "start " + start + ", or correct its baseUrl in models.json"
}

func setKey(h http.Header, format, key string) {
	switch format {
	case "anthropic":
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2023-06-01")
	case "gemini":
		h.Set("X-Goog-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}

// modelList is a list of models in the form that OpenAI, Anthropic and every
// compatible server give, with what some of them add.
type modelList struct {
	Data []modelRow `json:"data"`
}

type modelRow struct {
	ID string `json:"id"`
	// OwnedBy names the program on a local server.
	OwnedBy text `json:"owned_by"`
	// MaxModelLen is vLLM's, in tokens.
	MaxModelLen tokens `json:"max_model_len"`
}

// ids are the names that can be shown and used.
func (l *modelList) ids() ([]string, error) {
	var out []string
	for _, m := range l.Data {
		odd := strings.ContainsFunc(m.ID, func(c rune) bool { return c <= ' ' || c > '~' })
		if m.ID == "" || len(m.ID) > 200 || odd || strings.Contains(strings.ToLower(m.ID), "embed") {
			continue
		}
		if out = append(out, m.ID); len(out) == maxServed {
			break
		}
	}
	if len(out) == 0 {
		return nil, ErrNoModels
	}
	return out, nil
}

// roundTripper returns what carries one question, and what to call after it.
func (r *Registry) roundTripper(e *endpoint) (http.RoundTripper, func()) {
	if r.transport != nil {
		return r.transport, func() {}
	}
	t := &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: reachLimit, MaxResponseHeaderBytes: 64 << 10}
	if !e.local {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t, t.CloseIdleConnections
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	return u.Host
}
