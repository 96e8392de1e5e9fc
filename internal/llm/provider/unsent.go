package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"

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

// Hasher makes what tells the requests of a model. The error is for a model of which
// that cannot be told, such as one of a cloud that is not set up here.
func (r *Registry) Hasher(c *Choice) (*Hasher, error) {
	e := c.endpoint
	h := &Hasher{}
	cfg := llm.ClientConfig{
		Info: c.Info, BaseURL: e.base, Headers: maps.Clone(e.headers), Quirks: c.quirks, Clock: r.clock,
		Unsent: func(hash string) { h.last = hash },
	}
	if e.cloud != nil {
		m, err := r.openCloud(c, cfg)
		if err != nil {
			return nil, err
		}
		h.clients = []llm.Model{m}
		return h, nil
	}
	formats := []string{e.format}
	if c.quirks.ResponsesFallback {
		formats = append(formats, "responses")
	}
	for _, format := range formats {
		client := r.clients[format]
		if client == nil {
			continue
		}
		m, err := client(cfg)
		if err != nil {
			return nil, fmt.Errorf("make requests of model %s: %w", c.Info.Spec, err)
		}
		h.clients = append(h.clients, m)
	}
	return h, nil
}

// ScriptHasher tells the requests of a scripted model.
func ScriptHasher() *Hasher { return &Hasher{script: true} }

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
