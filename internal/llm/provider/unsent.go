package provider

import (
	"context"
	"errors"
	"fmt"

	"garuda/internal/llm"
	"garuda/internal/llm/script"
)

// Hasher says what a model's requests would be, without a key and without a word to
// a server. It is for one goroutine.
type Hasher struct {
	script bool
	// clients are those that the model's requests may have been made by: where an
	// endpoint refuses a model it is asked over another one.
	clients []llm.Model
	last    string
}

// Hasher makes what tells the requests of a model that is described so. The provider
// need not be set up here, but for a cloud's. The error is for a model of which that
// cannot be told.
func (r *Registry) Hasher(info *llm.Info) (*Hasher, error) {
	h := &Hasher{script: info.Format == script.Format}
	cfg := llm.ClientConfig{
		Info: info, BaseURL: "https://not.asked", Quirks: info.Quirks, Clock: r.clock, Unsent: func(hash string) { h.last = hash },
	}
	if e := r.endpoint(info.Provider); e != nil && e.cloud != nil {
		found, err := e.cloud.find(r, e)
		if err != nil {
			return nil, missing(err, info.Spec, e)
		}
		m, err := found.open(cfg)
		if err != nil {
			return nil, fmt.Errorf("make requests of model %s: %w", info.Spec, err)
		}
		h.clients = []llm.Model{m}
		return h, nil
	}
	formats := []string{info.Format}
	if info.Quirks.ResponsesFallback {
		formats = append(formats, "responses")
	}
	for _, format := range formats {
		client := r.clients[format]
		if h.script || client == nil {
			continue
		}
		m, err := client(cfg)
		if err != nil {
			return nil, fmt.Errorf("make requests of model %s: %w", info.Spec, err)
		}
		h.clients = append(h.clients, m)
	}
	if !h.script && len(h.clients) == 0 {
		return nil, fmt.Errorf("make requests of model %s: this Garuda has no format %q", info.Spec, info.Format)
	}
	return h, nil
}

// Hashes are those that the request may have had: the hex SHA-256 of what would be
// sent, cache marks aside.
func (h *Hasher) Hashes(ctx context.Context, req *llm.Request) ([]string, error) {
	if h.script {
		hash, _, err := script.Hash(req)
		return []string{hash}, err
	}
	var out []string
	for _, m := range h.clients {
		h.last = ""
		if _, err := m.Stream(ctx, req, func(llm.Event) {}); !errors.Is(err, llm.ErrUnsent) || h.last == "" {
			return nil, fmt.Errorf("make the request again: %w", err)
		}
		out = append(out, h.last)
	}
	return out, nil
}
