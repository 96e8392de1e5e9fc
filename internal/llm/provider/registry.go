package provider

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/catalog"
	"garuda/internal/nearest"
)

// AssumedWindow is the context window, in tokens, of a model that nobody knows.
const AssumedWindow = 32_768

// Keys hands out provider keys; *secret.Store does.
type Keys interface {
	Key(name string) (value, source string, ok bool)
}

// Constructor builds the client of one wire format.
type Constructor func(llm.ClientConfig) (llm.Model, error)

// Options of New.
type Options struct {
	File *File
	// Lookup reads the environment, as os.LookupEnv does.
	Lookup func(name string) (string, bool)
	Keys   Keys
	Clock  core.Clock
	// Clients are the constructors by llm.Info.Format; nil means Clients().
	Clients map[string]Constructor
	// Transport carries the questions to servers which models they have; nil
	// means a plain one of its own.
	Transport http.RoundTripper
	// Permit refuses models, provider/model, that may not be used; nil refuses none.
	Permit func(spec string) error
}

// Registry knows the providers of one configuration. It is immutable, and safe
// for use by any number of goroutines.
type Registry struct {
	file      *File
	lookup    func(string) (string, bool)
	keys      Keys
	clock     core.Clock
	clients   map[string]Constructor
	transport http.RoundTripper
	permit    func(spec string) error
	endpoints []*endpoint
}

// endpoint is a provider with everything that replaces parts of it applied.
type endpoint struct {
	name, format, base, keyEnv string
	headers                    map[string]string
	quirks                     llm.Quirks
	// local is true for a server on this machine. title is set for those that
	// are probed. replaced is true when the address is not the built-in one.
	local, replaced bool
	title, model    string
	// cloud is what is different about a cloud; nil for all others.
	cloud cloud
	// problem is why the provider cannot be used; the rest may then be empty.
	problem error
}

// New makes a Registry. A provider whose address or type is wrong makes no
// error here, but where it is used.
func New(o Options) *Registry {
	r := &Registry{file: o.File, lookup: o.Lookup, keys: o.Keys, clock: o.Clock, clients: o.Clients, transport: o.Transport, permit: o.Permit}
	if r.file == nil {
		r.file = &File{}
	}
	if r.clients == nil {
		r.clients = Clients()
	}
	if r.clock == nil {
		r.clock = core.SystemClock
	}
	for _, b := range builtins {
		r.endpoints = append(r.endpoints, r.endpointOf(b))
	}
	for _, name := range slices.Sorted(maps.Keys(r.file.Providers)) {
		if _, ok := builtinNamed(name); !ok {
			r.endpoints = append(r.endpoints, r.endpointOf(builtin{name: name}))
		}
	}
	return r
}

// endpointOf applies to a built-in provider (or to none) what the environment
// and models.json say, the file last: what it says of a provider is meant for
// that provider, while OPENAI_BASE_URL may be set for another program.
func (r *Registry) endpointOf(b builtin) *endpoint {
	e := &endpoint{name: b.name, keyEnv: b.keyEnv, title: b.title, model: b.model}
	typ, base, from := b.typ, b.baseURL, ""
	def := r.file.Providers[b.name]
	if b.baseEnv != "" {
		if v, ok := r.lookup(b.baseEnv); ok && strings.TrimSpace(v) != "" {
			base, from = v, b.baseEnv
		}
	}
	if def.BaseURL != "" {
		base, from = def.BaseURL, "baseUrl"
	}
	if def.KeyEnv != "" {
		e.keyEnv = def.KeyEnv
	}
	if def.Type != "" {
		typ = def.Type
	}
	e.headers = def.Headers
	e.format = formats[typ]
	if e.cloud = cloudOf(typ); e.cloud != nil && base == "" {
		return e // its address depends on the region, which is found with its keys
	}
	var err error
	if e.base, e.local, err = checkBaseURL(base, e.format, def.AllowInsecureHTTP); err != nil {
		e.problem = fmt.Errorf("provider %s: %s: %w", e.name, from, err)
		return e
	}
	e.replaced = from != "" && e.base != b.baseURL
	// Servers that take OpenAI's place speak Chat Completions, nearly all of
	// them, and few the Responses API; one that wants it for a model says so, and
	// the client then switches. "type": "openai-responses" asks for it outright.
	if b.name == "openai" && e.replaced && def.Type == "" {
		e.format = "chat"
	}
	if e.format == "chat" {
		e.quirks.ResponsesFallback = true
	}
	if r.clients[e.format] == nil {
		e.problem = fmt.Errorf("provider %s: there is no client for type %s", e.name, typ)
	}
	return e
}

func (r *Registry) endpoint(name string) *endpoint {
	for _, e := range r.endpoints {
		if e.name == name {
			return e
		}
	}
	return nil
}

// known returns the endpoint of a provider that can be used.
func (r *Registry) known(name string) (*endpoint, error) {
	e := r.endpoint(name)
	if e == nil {
		return nil, fmt.Errorf("there is no provider %q; known are %s", name, strings.Join(r.names(), ", "))
	}
	return e, e.problem
}

// KeyName is the variable of a provider's key; empty for none, and for a
// provider that nobody knows.
func (r *Registry) KeyName(provider string) string {
	if e := r.endpoint(provider); e != nil {
		return e.keyEnv
	}
	return ""
}

// keySource says where an endpoint's key was found, or "none".
func (r *Registry) keySource(e *endpoint) string {
	if e.cloud != nil {
		return cmp.Or(e.cloud.source(r, e), "none")
	}
	if e.keyEnv != "" {
		if _, source, ok := r.keys.Key(e.keyEnv); ok {
			return source
		}
	}
	return "none"
}

func (r *Registry) names() []string {
	var out []string
	for _, e := range r.endpoints {
		out = append(out, e.name)
	}
	return out
}

// Choice is a model that was found, ready to be opened.
type Choice struct {
	Info *llm.Info
	// By says what named the model: "--model", "GARUDA_MODEL", a key's name, the
	// address of a local server.
	By string
	// Notice is a line for the user about what is not known of the model; may be empty.
	Notice string

	endpoint *endpoint
	quirks   llm.Quirks
	// batch sends each request as a batch, where the provider takes such.
	batch bool
	// override is what the settings say of the model; may be nil.
	override *ModelInfo
}

// ErrUnknownModel is what every error about a model's name is.
var ErrUnknownModel = errors.New("unknown model")

// Resolve finds the model that spec names: provider/model, split at the first
// '/'; a plain id of a model of Anthropic's; or haiku, sonnet, opus, fable for
// the newest known of that family. override, which may be nil, says what the
// settings say of the model. The key is not needed before Open.
func (r *Registry) Resolve(spec string, override *ModelInfo) (*Choice, error) {
	spec = strings.TrimSpace(spec)
	name, id, ok := strings.Cut(spec, "/")
	if !ok {
		name, id = "anthropic", spec
		if alias, ok := catalog.Alias(id); ok {
			id = alias
		} else if _, ok := catalog.Lookup(name, id); !ok {
			if _, ok := r.file.Models[name+"/"+id]; !ok {
				return nil, r.plainIDError(spec)
			}
		}
	}
	if id == "" || strings.ContainsFunc(spec, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, fmt.Errorf("%w %q: write provider/model, for example anthropic/sonnet", ErrUnknownModel, spec)
	}
	e := r.endpoint(name)
	if e == nil {
		err := fmt.Errorf("%w %q: there is no provider %q", ErrUnknownModel, spec, name)
		if near := nearest.Of(name, r.names()); near != "" {
			return nil, fmt.Errorf("%w; did you mean %q?", err, near+"/"+id)
		}
		return nil, fmt.Errorf("%w; known are %s, and those that models.json defines", err, strings.Join(r.names(), ", "))
	}
	if e.problem != nil {
		return nil, e.problem
	}
	if name == "anthropic" {
		if alias, ok := catalog.Alias(id); ok {
			id = alias
		}
	}
	return r.describe(e, id, override, facts{}), nil
}

func (r *Registry) plainIDError(spec string) error {
	err := fmt.Errorf("%w %q: write provider/model, for example anthropic/sonnet", ErrUnknownModel, spec)
	if spec == "" {
		return err
	}
	for _, e := range r.endpoints {
		if _, ok := catalog.Lookup(e.name, spec); ok {
			return fmt.Errorf("%w; did you mean %q?", err, e.name+"/"+spec)
		}
	}
	var known []string
	for _, m := range catalog.Models("anthropic") {
		known = append(known, m.ID)
	}
	if near := nearest.Of(spec, append(catalog.Families(), known...)); near != "" {
		return fmt.Errorf("%w; did you mean %q?", err, near)
	}
	return err
}

// describe puts together what is known of a model: the catalogue, a local server's
// own word over it, models.json over that, the settings over all.
func (r *Registry) describe(e *endpoint, id string, override *ModelInfo, local facts) *Choice {
	info := &llm.Info{Spec: e.name + "/" + id, Provider: e.name, ID: id, Format: e.format, Local: e.local, KeySource: r.keySource(e)}
	c := &Choice{Info: info, endpoint: e, quirks: quirksOf(e.name, e.base, id, e.quirks), override: override}
	if entry, ok := catalog.Lookup(e.name, id); ok {
		info.ContextWindow, info.MaxOutput, info.Price = entry.ContextWindow, entry.MaxOutput, entry.Price
		info.Thinks, info.ThinksKnown, info.Efforts = entry.Thinks, true, entry.Efforts
		info.Vision, info.VisionKnown = entry.Images, true
	}
	if e.title != "" && e.local {
		info.Price = core.Price{Known: true} // it runs on the user's own machine
	}
	info.WindowSetting = local.setting
	if local.window > 0 {
		info.ContextWindow = local.window
	}
	if local.vision != nil {
		info.Vision, info.VisionKnown = *local.vision, true
	}
	if local.thinks != nil {
		info.Thinks, info.ThinksKnown = *local.thinks, true
	}
	said := "" // who says what the window is
	listed := r.file.Models[info.Spec]
	for _, from := range []struct {
		name string
		info *ModelInfo
	}{{"models.json", &listed}, {"the settings", override}} {
		m := from.info
		if m == nil {
			continue
		}
		if m.ContextWindow > 0 {
			info.ContextWindow, said = m.ContextWindow, from.name
		}
		if m.MaxTokens > 0 {
			info.MaxOutput = m.MaxTokens
		}
		info.Price = m.Price.over(info.Price)
		if m.Thinking != nil {
			info.Thinks, info.ThinksKnown = *m.Thinking, true
		}
		if m.TextToolCalls != "" {
			c.quirks.TextToolCalls = m.TextToolCalls
		}
		c.batch = c.batch || m.Batch
	}
	if e.name == "anthropic" && info.Price.Known {
		info.Price.Search = catalog.AnthropicSearch
	}
	info.Known = info.ContextWindow > 0 && (said != "" || !local.assumed)
	if info.ContextWindow == 0 {
		info.ContextWindow = AssumedWindow
	}
	info.Quirks = c.quirks
	c.Notice = notice(info, local, said)
	if near := r.nearModel(info); c.Notice != "" && near != "" {
		c.Notice += fmt.Sprintf("; did you mean %q?", near)
	}
	if local.tools != nil && !*local.tools {
		c.Notice = strings.TrimPrefix(c.Notice+fmt.Sprintf("; %s says that %s takes no tools, which Garuda works with: choose a model that does", local.program, info.ID), "; ")
	}
	return c
}

// nearModel is a model of the same provider whose name is nearly that of one that
// nobody knows; empty for one that is known.
func (r *Registry) nearModel(info *llm.Info) string {
	if info.Known {
		return ""
	}
	ids := r.listedModels(info.Provider)
	for _, m := range catalog.Models(info.Provider) {
		ids = append(ids, m.ID)
	}
	if near := nearest.Of(info.ID, ids); near != "" {
		return info.Provider + "/" + near
	}
	return ""
}

// notice is what the user should know about what is not known of the model, or
// is not as was said.
func notice(info *llm.Info, local facts, said string) string {
	const where = "under models in models.json"
	switch {
	case said != "" && local.window > 0 && info.ContextWindow > local.window && local.assumed:
		return fmt.Sprintf("%s says that %s has a window of %d tokens, but %s has not loaded it yet, and loads a model with %d by default: %s",
			said, info.Spec, info.ContextWindow, local.program, local.window, local.setting)
	case said != "" && local.window > 0 && info.ContextWindow > local.window:
		return fmt.Sprintf("%s says that %s has a window of %d tokens, but %s has it with %d, and what is longer is cut or refused: %s, or lower contextWindow",
			said, info.Spec, info.ContextWindow, local.program, local.window, local.setting)
	case said == "" && local.assumed:
		return fmt.Sprintf("%s has not loaded %s yet, so that its window is not known: assuming %d tokens, as it loads a model by default; %s, then set contextWindow %s",
			local.program, info.ID, info.ContextWindow, local.setting, where)
	case !info.Known && !info.Price.Known:
		return fmt.Sprintf("%s is not in the catalogue: assuming a window of %d tokens, cost unknown; set contextWindow and price (input, output) %s", info.Spec, AssumedWindow, where)
	case !info.Known:
		return fmt.Sprintf("%s is not in the catalogue: assuming a window of %d tokens; set contextWindow %s", info.Spec, AssumedWindow, where)
	case !info.Price.Known:
		return fmt.Sprintf("the cost of %s is unknown; set price (input, output) %s", info.Spec, where)
	}
	return ""
}

// MissingKeyError says that a provider's key is in neither place.
type MissingKeyError struct {
	Spec, Variable string
	// Instead names what would do in the key's place; may be empty.
	Instead string
}

func (e *MissingKeyError) Error() string {
	s := fmt.Sprintf("%s needs a key: set %s, or run `garuda setup` to store one", e.Spec, e.Variable)
	if e.Instead != "" {
		s += "; " + e.Instead + " will do instead"
	}
	return s
}

// Open builds the client. A provider on another machine that has a key's name
// needs the key; the error is then a *MissingKeyError.
func (r *Registry) Open(c *Choice) (llm.Model, error) {
	if err := r.Permitted(c.Info.Spec); err != nil {
		return nil, fmt.Errorf("open model %s: %w", c.Info.Spec, err)
	}
	e := c.endpoint
	key, err := r.key(e, c.Info.Spec)
	if err != nil {
		return nil, err
	}
	cfg := llm.ClientConfig{
		Info: c.Info, BaseURL: e.base, Key: key, Headers: maps.Clone(e.headers), Quirks: c.quirks, Clock: r.clock,
	}
	client := r.clients[e.format]
	if c.batch {
		client = r.clients[e.format+batchSuffix]
	}
	switch {
	case c.batch && (client == nil || e.cloud != nil):
		return nil, fmt.Errorf("open model %s: \"batch\" in models.json is for Anthropic's own API, and no other has such batches", c.Info.Spec)
	case e.cloud != nil:
		return r.openCloud(c, cfg)
	}
	m, err := client(cfg)
	if err != nil {
		return nil, fmt.Errorf("open model %s: %w", c.Info.Spec, err)
	}
	return m, nil
}

// Permitted says why a model may not be used, before anything is sent to it.
func (r *Registry) Permitted(spec string) error {
	if r.permit == nil {
		return nil
	}
	return r.permit(spec)
}

// key returns the endpoint's key, or "" where none is needed.
func (r *Registry) key(e *endpoint, spec string) (string, error) {
	if e.cloud != nil {
		_, err := e.cloud.find(r, e)
		if err != nil {
			err = missing(err, spec, e)
		}
		return "", err
	}
	if e.keyEnv == "" {
		return "", nil
	}
	key, source, ok := r.keys.Key(e.keyEnv)
	if !ok && !e.local {
		return "", &MissingKeyError{Spec: spec, Variable: e.keyEnv}
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", fmt.Errorf("the key for %s (from %s) holds a character that no key has, such as a space or a line break", spec, source)
	}
	return key, nil
}
