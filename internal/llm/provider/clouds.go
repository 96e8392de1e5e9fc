package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"garuda/internal/llm"
	"garuda/internal/llm/bedrock"
	"garuda/internal/llm/catalog"
	"garuda/internal/llm/vertex"
)

// Types of provider that only Garuda's own table uses: hosts of Claude that want
// more than one key, and find them where their vendors' tools keep them.
const (
	typeBedrock = "bedrock"
	typeVertex  = "vertex"
)

// cloud is what is different about such a host.
type cloud interface {
	// secrets are the names of all keys that it may use.
	secrets() []string
	// source says where its credentials would come from; empty for nowhere. It
	// reads no file.
	source(r *Registry, e *endpoint) string
	// find looks for credentials and says where the host then is. It reads files,
	// and asks nobody.
	find(r *Registry, e *endpoint) (opener, error)
	// usual is the model to take when none is named.
	usual(r *Registry) string
}

// opener makes clients with credentials that were found.
type opener struct {
	address, source string
	open            func(llm.ClientConfig) (llm.Model, error)
}

// cloudOf is nil for a type that is no cloud's.
func cloudOf(typ string) cloud {
	switch typ {
	case typeBedrock:
		return onBedrock{}
	case typeVertex:
		return onVertex{}
	}
	return nil
}

// variable is the first of these that the environment sets.
func (r *Registry) variable(names ...string) string {
	for _, name := range names {
		if v, ok := r.lookup(name); ok && v != "" {
			return v
		}
	}
	return ""
}

// openCloud opens a model of a cloud's.
func (r *Registry) openCloud(c *Choice, cfg llm.ClientConfig) (llm.Model, error) {
	e := c.endpoint
	found, err := e.cloud.find(r, e)
	if err != nil {
		return nil, missing(err, c.Info.Spec, e)
	}
	info := *c.Info
	info.KeySource = found.source
	cfg.Info = &info
	if !e.replaced {
		cfg.BaseURL = "" // the region's own
	}
	m, err := found.open(cfg)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", c.Info.Spec, err)
	}
	return m, nil
}

// cloudAddress is where a cloud's models are served from; empty when that is not known.
func (r *Registry) cloudAddress(e *endpoint) string {
	if e.replaced {
		return e.base
	}
	found, err := e.cloud.find(r, e)
	if err != nil {
		return ""
	}
	return found.address
}

// missing types the lack of any credentials as the lack of a key.
func missing(err error, spec string, e *endpoint) error {
	if errors.Is(err, bedrock.ErrNoCredentials) {
		return &MissingKeyError{Spec: spec, Variable: e.keyEnv, Instead: bedrock.AccessName + " and " + bedrock.SecretName + ", or AWS_PROFILE"}
	}
	return fmt.Errorf("%s cannot be used: %w", spec, err)
}

// reachCloud sees whether credentials are there and the host answers. It asks
// without them, and takes any answer: these hosts list no models.
func (r *Registry) reachCloud(ctx context.Context, e *endpoint) error {
	found, err := e.cloud.find(r, e)
	if err != nil {
		return missing(err, "provider "+e.name, e)
	}
	address := found.address
	if e.replaced {
		address = e.base
	}
	ctx, cancel := context.WithTimeout(ctx, reachLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	transport, done := r.roundTripper(e)
	defer done()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("see whether %s answers: %w", address, err)
	}
	return resp.Body.Close()
}

// claudes are the models of a cloud's in the catalogue that its client can speak
// to, in the catalogue's order.
func claudes(provider string) []string {
	var out []string
	for _, m := range catalog.Models(provider) {
		if strings.Contains(m.ID, "claude-") {
			out = append(out, m.ID)
		}
	}
	return out
}

// firstSonnet is the model of middle size; the first where there is none.
func firstSonnet(ids []string) string {
	if i := slices.IndexFunc(ids, func(id string) bool { return strings.Contains(id, "claude-sonnet") }); i >= 0 {
		return ids[i]
	}
	if len(ids) > 0 {
		return ids[0]
	}
	return ""
}

type onBedrock struct{}

func (onBedrock) secrets() []string {
	return []string{bedrock.BearerName, bedrock.AccessName, bedrock.SecretName, bedrock.SessionName}
}

func (onBedrock) source(r *Registry, e *endpoint) string {
	for _, name := range []string{e.keyEnv, bedrock.AccessName} {
		if _, source, ok := r.keys.Key(name); ok {
			return source
		}
	}
	if r.variable("AWS_PROFILE") != "" {
		return "AWS_PROFILE"
	}
	return ""
}

func (onBedrock) find(r *Registry, e *endpoint) (opener, error) {
	creds, err := bedrock.Find(bedrock.Sources{Lookup: r.lookup, Secret: func(name string) (string, string, bool) {
		if name == bedrock.BearerName {
			name = e.keyEnv // models.json may name another
		}
		return r.keys.Key(name)
	}})
	if err != nil {
		return opener{}, err
	}
	return opener{bedrock.Address(creds.Region), creds.Source, func(cfg llm.ClientConfig) (llm.Model, error) {
		return bedrock.New(cfg, creds)
	}}, nil
}

// usual names the model by the inference profile of the region's continent: most
// models can be had by no other name.
func (onBedrock) usual(r *Registry) string {
	id := firstSonnet(claudes("bedrock"))
	profile := "us."
	switch region := r.variable("AWS_REGION", "AWS_DEFAULT_REGION"); {
	case strings.HasPrefix(region, "eu-"):
		profile = "eu."
	case region != "" && !strings.HasPrefix(region, "us-"):
		profile = "global."
	}
	return profile + strings.TrimPrefix(id, "us.")
}

type onVertex struct{}

func (onVertex) secrets() []string { return nil } // they are in files

func (onVertex) source(r *Registry, _ *endpoint) string {
	for _, name := range []string{"GOOGLE_APPLICATION_CREDENTIALS", "GCE_METADATA_HOST"} {
		if r.variable(name) != "" {
			return name
		}
	}
	return ""
}

func (onVertex) find(r *Registry, _ *endpoint) (opener, error) {
	creds, err := vertex.Find(r.lookup)
	if err != nil {
		return opener{}, err
	}
	place := vertex.Place{Project: r.variable("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"), Region: r.variable("CLOUD_ML_REGION")}
	if place.Project == "" {
		place.Project = creds.Project
	}
	if err := place.Check(); err != nil {
		return opener{}, err
	}
	return opener{vertex.Address(place.Region), creds.Source, func(cfg llm.ClientConfig) (llm.Model, error) {
		return vertex.New(cfg, place, creds)
	}}, nil
}

func (onVertex) usual(*Registry) string { return firstSonnet(claudes("vertex")) }
