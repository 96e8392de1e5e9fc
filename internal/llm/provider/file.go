package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"garuda/internal/core"
	"garuda/internal/jsonc"
	"garuda/internal/userfile"
)

const (
	// maxFile is the largest models.json that is read, in bytes.
	maxFile = 1 << 20
	// maxTokens bounds windows and output limits that a file may claim.
	maxTokens = 100_000_000
)

// File is what models.json says. The zero value is a file that does not exist.
type File struct {
	Path string
	// Default is the model spec to use when nothing else names one; may be empty.
	Default   string
	Providers map[string]Definition
	Models    map[string]ModelInfo
}

// Definition is a provider in models.json. For a built-in provider's name,
// what is left out stays as it is built in.
type Definition struct {
	// Type is openai-compatible, openai-responses, anthropic or gemini; empty for
	// a built-in provider whose type stays.
	Type string
	// BaseURL ends before /chat/completions, /responses, /v1/messages.
	BaseURL string
	// KeyEnv is the variable, or the credentials entry, that holds the key.
	KeyEnv  string
	Headers map[string]string
	// AllowInsecureHTTP allows plain http to another machine.
	AllowInsecureHTTP bool
}

// ModelInfo says what is true of a model, over what the catalogue says. Zero
// fields say nothing. Settings have the same object under modelInfo.
type ModelInfo struct {
	// ContextWindow and MaxTokens, the output limit, are in tokens.
	ContextWindow, MaxTokens int
	Price                    Price
	Thinking                 *bool
	// TextToolCalls is whole, lines or off; see llm.Quirks.
	TextToolCalls string
	// Batch sends each request as a batch: for half the price, within a day.
	Batch bool
}

// ReadFile reads models.json. A file that does not exist gives an empty File; one
// that is no regular file is an error, and never waited for.
func ReadFile(path string) (*File, error) {
	data, err := userfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &File{Path: path}, nil
	case errors.Is(err, userfile.ErrNotRegular), errors.Is(err, userfile.ErrTooLarge):
		return nil, &FileError{Path: path, Problem: err.Error()}
	case err != nil:
		return nil, fmt.Errorf("read models: %w", err)
	}
	return ParseFile(path, data)
}

// ParseFile reads the content of a models.json; path is for errors, which are
// *FileError.
func ParseFile(path string, data []byte) (*File, error) {
	d, err := parseDocument(path, data)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Providers: map[string]Definition{}, Models: map[string]ModelInfo{}}
	err = d.Object(&d.Root, "models.json", jsonc.Fields{
		"default": d.text(&f.Default),
		"providers": func(v *hujson.Value) error {
			return d.named(v, func(name string, at, v *hujson.Value) error {
				def, err := d.definition(name, at, v)
				f.Providers[name] = def
				return err
			})
		},
		"models": func(v *hujson.Value) error {
			return d.named(v, func(spec string, at, v *hujson.Value) error {
				provider, id, ok := strings.Cut(spec, "/")
				if !ok {
					provider, id = "anthropic", spec
				}
				if provider == "" || id == "" {
					return d.Errorf(at, "%q is no model; write provider/model", spec)
				}
				info, err := d.modelInfo(v, spec)
				f.Models[provider+"/"+id] = info
				return err
			})
		},
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d document) definition(name string, at, v *hujson.Value) (Definition, error) {
	var def Definition
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '/' || r > '~' }) {
		return def, d.Errorf(at, "%q cannot name a provider: use visible ASCII without '/'", name)
	}
	var baseAt, envAt *hujson.Value
	err := d.Object(v, "provider "+name, jsonc.Fields{
		"type": d.choice(&def.Type, typeCompatible, typeResponses, typeAnthropic, typeGemini),
		"baseUrl": func(v *hujson.Value) error {
			baseAt = v
			return d.text(&def.BaseURL)(v)
		},
		"apiKeyEnv": func(v *hujson.Value) error {
			envAt = v
			return d.text(&def.KeyEnv)(v)
		},
		"headers": func(v *hujson.Value) error {
			var err error
			def.Headers, err = d.headers(v)
			return err
		},
		"allowInsecureHttp": d.boolean(&def.AllowInsecureHTTP),
	})
	if err != nil {
		return def, err
	}
	b, isBuiltin := builtinNamed(name)
	switch {
	case def.Type == "" && !isBuiltin:
		return def, d.Errorf(v, "provider %s needs a type: %s, %s, %s or %s", name, typeCompatible, typeResponses, typeAnthropic, typeGemini)
	case def.BaseURL == "" && !isBuiltin:
		return def, d.Errorf(v, "provider %s needs a baseUrl", name)
	case def.KeyEnv != "" && !variableName(def.KeyEnv):
		// The text itself is not repeated: people put the key there.
		return def, d.Errorf(envAt, "apiKeyEnv of provider %s must be the name of an environment variable, not the key itself", name)
	}
	if def.BaseURL != "" {
		typ := def.Type
		if typ == "" {
			typ = b.typ
		}
		if _, _, err := checkBaseURL(def.BaseURL, formats[typ], def.AllowInsecureHTTP); err != nil {
			return def, d.Errorf(baseAt, "baseUrl of provider %s: %v", name, err)
		}
	}
	return def, nil
}

func (d document) headers(v *hujson.Value) (map[string]string, error) {
	out := map[string]string{}
	err := d.named(v, func(key string, at, v *hujson.Value) error {
		if !headerName(key) {
			return d.Errorf(at, "%q cannot be the name of an HTTP header", key)
		}
		var value string
		if err := d.text(&value)(v); err != nil {
			return err
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return d.Errorf(v, "header %s contains a control character", key)
		}
		out[key] = value
		return nil
	})
	return out, err
}

func (d document) modelInfo(v *hujson.Value, spec string) (ModelInfo, error) {
	var m ModelInfo
	err := d.Object(v, "model "+spec, jsonc.Fields{
		"contextWindow": d.count(&m.ContextWindow, maxTokens),
		"maxTokens":     d.count(&m.MaxTokens, maxTokens),
		"price": func(v *hujson.Value) error {
			return d.Object(v, "price of "+spec, jsonc.Fields{
				"input": d.dollars(&m.Price.Input), "output": d.dollars(&m.Price.Output),
				"cacheRead": d.dollars(&m.Price.CacheRead), "cacheWrite": d.dollars(&m.Price.CacheWrite),
			})
		},
		"thinking": func(v *hujson.Value) error {
			m.Thinking = new(bool)
			return d.boolean(m.Thinking)(v)
		},
		"textToolCalls": d.choice(&m.TextToolCalls, "whole", "lines", "off"),
		"batch":         d.boolean(&m.Batch),
	})
	return m, err
}

// Price is in US dollars for a million tokens; nil parts say nothing.
type Price struct{ Input, Output, CacheRead, CacheWrite *float64 }

// over returns base with what p says in its place. An unknown price becomes
// known when p has input and output; what p then does not say of the cache costs
// what input costs, so that a sum is never too small.
func (p Price) over(base core.Price) core.Price {
	if !base.Known {
		if p.Input == nil || p.Output == nil {
			return base
		}
		base = core.Price{CacheRead: *p.Input, CacheWrite: *p.Input, Known: true}
	}
	for _, part := range []struct {
		to   *float64
		from *float64
	}{{&base.Input, p.Input}, {&base.Output, p.Output}, {&base.CacheRead, p.CacheRead}, {&base.CacheWrite, p.CacheWrite}} {
		if part.from != nil {
			*part.to = *part.from
		}
	}
	return base
}

// KeyNames lists the names of every variable that may hold a provider's key:
// those of the built-in providers and of this file. They are what secret.Take
// takes out of the environment.
func (f *File) KeyNames() []string {
	names := map[string]bool{}
	for _, b := range builtins {
		if b.keyEnv != "" {
			names[b.keyEnv] = true
		}
		if c := cloudOf(b.typ); c != nil {
			for _, name := range c.secrets() {
				names[name] = true
			}
		}
	}
	if f != nil {
		for _, def := range f.Providers {
			if def.KeyEnv != "" {
				names[def.KeyEnv] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// HeaderSecrets returns the values of headers in this file whose names say
// that they are secret; the redactor must know them.
func (f *File) HeaderSecrets() []string {
	var out []string
	for _, def := range f.Providers {
		for name, value := range def.Headers {
			name = strings.ToLower(name)
			if slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie"}, func(s string) bool { return strings.Contains(name, s) }) {
				out = append(out, value)
				// Authorization: Bearer VALUE is also recognised by VALUE alone.
				if _, rest, ok := strings.Cut(value, " "); ok {
					out = append(out, strings.TrimSpace(rest))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func variableName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// headerName reports whether s is a token of RFC 9110.
func headerName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
