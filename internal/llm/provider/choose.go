package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"garuda/internal/llm/catalog"
)

// Preferences are the places that may name a model, in the order in which they
// count; GARUDA_MODEL comes between Job and Setting, models.json after them.
type Preferences struct {
	Flag, Job, Setting string
	// Info is what the settings say of the model (modelInfo); may be nil.
	Info *ModelInfo
}

// NoModelError says that nothing names a model and nothing was found. Its text
// is one line.
type NoModelError struct {
	// Variables are the key names that were looked for, Servers the local servers
	// that were asked, such as "Ollama (localhost:11434)".
	Variables, Servers []string
}

func (e *NoModelError) Error() string {
	return fmt.Sprintf("no model: none of %s is set, and no local server answered (%s); run `garuda setup` to choose one, or `garuda demo` to see Garuda work without one",
		strings.Join(e.Variables, ", "), strings.Join(e.Servers, ", "))
}

// Choose finds the model to use: the first that is named, else what is there:
// a provider whose key is set, else a local server that answers. A local server
// is asked how large its context really is (see Measure). When there is nothing
// the error is a *NoModelError.
func (r *Registry) Choose(ctx context.Context, p Preferences) (*Choice, error) {
	env, _ := r.lookup("GARUDA_MODEL")
	for _, named := range []struct{ by, spec string }{
		{"--model", p.Flag}, {"the job", p.Job}, {"GARUDA_MODEL", env},
		{"settings", p.Setting}, {"default in models.json", r.file.Default},
	} {
		if strings.TrimSpace(named.spec) == "" {
			continue
		}
		c, err := r.Resolve(named.spec, p.Info)
		if err != nil {
			return nil, fmt.Errorf("model from %s: %w", named.by, err)
		}
		c.By = named.by
		r.Measure(ctx, c)
		return c, nil
	}
	for _, e := range r.endpoints {
		if c := r.byKey(ctx, e, p.Info); c != nil {
			return c, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.byServer(ctx, p.Info)
}

// byKey returns a model of a provider whose key is set, or nil. One that cannot
// be used (a bad address) is passed over here; whoever names it is told why.
func (r *Registry) byKey(ctx context.Context, e *endpoint, override *ModelInfo) *Choice {
	if e.problem != nil || e.keyEnv == "" {
		return nil
	}
	if _, _, ok := r.keys.Key(e.keyEnv); !ok {
		return nil
	}
	id := r.defaultModel(ctx, e)
	if id == "" {
		return nil
	}
	c := r.describe(e, id, override, facts{})
	if r.Permitted(c.Info.Spec) != nil {
		// Nobody named this model, so one that may be used stands for it.
		if c = r.firstPermitted(ctx, e, override); c == nil {
			return nil
		}
	}
	c.By = "the key " + e.keyEnv
	r.Measure(ctx, c)
	return c
}

// refusedKey says why a provider was passed over whose key is set; nil where it is
// for another reason than that its model may not be used.
func (r *Registry) refusedKey(ctx context.Context, e *endpoint) error {
	if _, _, ok := r.keys.Key(e.keyEnv); !ok {
		return nil
	}
	if id := r.defaultModel(ctx, e); id != "" {
		return r.Permitted(e.name + "/" + id)
	}
	return nil
}

// firstPermitted is the first of a provider's models that may be used, in the order
// in which they are listed; nil where none may.
func (r *Registry) firstPermitted(ctx context.Context, e *endpoint, override *ModelInfo) *Choice {
	for _, info := range r.modelsOf(ctx, e, nil) {
		if r.Permitted(info.Spec) == nil {
			return r.describe(e, strings.TrimPrefix(info.Spec, e.name+"/"), override, facts{})
		}
	}
	return nil
}

// defaultModel is the model to take from a provider when none is named: the one
// that the table of providers names, else the catalogue's default, else the
// first that models.json lists. Behind an address that is not the provider's
// own there may be anything, so that server is asked, and its first model taken
// when it does not have the usual one.
func (r *Registry) defaultModel(ctx context.Context, e *endpoint) string {
	id := e.model
	if e.cloud != nil {
		id = e.cloud.usual(r)
	}
	if alias, ok := catalog.Alias(id); ok {
		id = alias
	}
	if id == "" {
		id, _ = catalog.Default(e.name)
	}
	if listed := r.listedModels(e.name); len(listed) > 0 && !slices.Contains(listed, id) && (id == "" || e.replaced) {
		return listed[0]
	}
	if !e.replaced && id != "" || e.format == "anthropic" {
		return id
	}
	served, err := r.served(ctx, e, remoteLimit)
	if err != nil || len(served) == 0 || slices.Contains(served, id) {
		return id
	}
	return served[0]
}

// Usual finds the model that is taken from a provider when none of its models is
// named. The error is an ErrUnknownModel where nobody knows any.
func (r *Registry) Usual(ctx context.Context, name string) (*Choice, error) {
	e, err := r.known(name)
	if err != nil {
		return nil, err
	}
	id := r.defaultModel(ctx, e)
	if id == "" {
		return nil, fmt.Errorf("%w: provider %s is not in the catalogue, and its server named none", ErrUnknownModel, name)
	}
	return r.describe(e, id, nil, facts{}), nil
}

// listedModels are the ids of a provider's models in models.json, sorted.
func (r *Registry) listedModels(provider string) []string {
	var out []string
	for _, spec := range slices.Sorted(maps.Keys(r.file.Models)) {
		if id, ok := strings.CutPrefix(spec, provider+"/"); ok {
			out = append(out, id)
		}
	}
	return out
}

// byServer asks all local servers at once which models they have, and takes the
// first of the first, in the table's order, that answers with any.
func (r *Registry) byServer(ctx context.Context, override *ModelInfo) (*Choice, error) {
	probed := r.probeLocal(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	missing := &NoModelError{}
	var refused error
	for _, e := range r.endpoints {
		if r.permit != nil && refused == nil && e.keyEnv != "" && e.problem == nil {
			refused = r.refusedKey(ctx, e)
		}
		if e.keyEnv != "" {
			missing.Variables = append(missing.Variables, e.keyEnv)
		}
	}
	for _, p := range probed {
		if p.err == nil && len(p.models) > 0 {
			i := slices.IndexFunc(p.models, func(id string) bool { return r.Permitted(p.endpoint.name+"/"+id) == nil })
			if i < 0 {
				refused = r.Permitted(p.endpoint.name + "/" + p.models[0])
				continue
			}
			c := r.describe(p.endpoint, p.models[i], override, facts{})
			c.By = fmt.Sprintf("the local server %s at %s", p.endpoint.title, p.endpoint.base)
			r.Measure(ctx, c)
			return c, nil
		}
		where := fmt.Sprintf("%s at %s", p.endpoint.title, hostOf(p.endpoint.base))
		if p.err == nil || errors.Is(p.err, ErrNoModels) {
			where += " has no model"
		}
		missing.Servers = append(missing.Servers, where)
	}
	if refused != nil {
		return nil, fmt.Errorf("choose a model: none of those that are there may be used: %w", refused)
	}
	return nil, missing
}
