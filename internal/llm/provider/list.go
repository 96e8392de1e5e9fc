package provider

import (
	"context"
	"slices"
	"sync"

	"garuda/internal/llm"
	"garuda/internal/llm/catalog"
)

// Status is a provider as `garuda models` and `garuda doctor` show it.
type Status struct {
	Name, BaseURL, Format string
	// KeyName is the variable of its key; empty when it has none. KeySource says
	// where the key was found: the variable's name, "credentials", or "none".
	KeyName, KeySource string
	Local              bool
	// Problem is why it cannot be used now, or nil: a *MissingKeyError, a wrong
	// address, a local server that does not answer.
	Problem error
	// Models it offers: from the catalogue, models.json, and for a local server
	// its own list. Empty for a provider with a problem, unless List was asked for all.
	Models []*llm.Info
}

// maxMeasured is how many of a local server's models are asked for their window.
const maxMeasured = 32

// List returns every provider with its models. Local servers are asked, all at
// once, within 200 ms, and those that answer for the windows of their first 32
// models, within 200 ms more each. With all set, the models of providers that cannot be used
// now are listed too.
func (r *Registry) List(ctx context.Context, all bool) []Status {
	answers := map[*endpoint]probed{}
	for _, p := range r.probeLocal(ctx) {
		answers[p.endpoint] = p
	}
	var out []Status
	for _, e := range r.endpoints {
		s := Status{Name: e.name, BaseURL: e.base, Format: e.format, KeyName: e.keyEnv, KeySource: r.keySource(e), Local: e.local, Problem: e.problem}
		if s.Problem == nil {
			_, s.Problem = r.key(e, "provider "+e.name)
		}
		if e.cloud != nil && s.Problem == nil && s.BaseURL == "" {
			s.BaseURL = r.cloudAddress(e)
		}
		answer := answers[e]
		if s.Problem == nil {
			s.Problem = answer.err
		}
		if e.format != "" && e.problem == nil && (s.Problem == nil || all) {
			s.Models = r.modelsOf(ctx, e, answer.models)
		}
		out = append(out, s)
	}
	return out
}

// modelsOf lists models.json's models first, then the server's own, then the catalogue's.
func (r *Registry) modelsOf(ctx context.Context, e *endpoint, served []string) []*llm.Info {
	ids := slices.Concat(r.listedModels(e.name), served)
	if e.cloud != nil {
		ids = append(ids, claudes(e.name)...)
	} else {
		for _, m := range catalog.Models(e.name) {
			ids = append(ids, m.ID)
		}
	}
	measured := map[string]facts{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, id := range served[:min(len(served), maxMeasured)] {
		wg.Go(func() {
			f := r.measure(ctx, e, id)
			mu.Lock()
			defer mu.Unlock()
			measured[id] = f
		})
	}
	wg.Wait()
	var out []*llm.Info
	seen := map[string]bool{}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, r.describe(e, id, nil, measured[id]).Info)
		}
	}
	return out
}
