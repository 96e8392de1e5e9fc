package preset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"garuda/internal/hostname"
)

// golang reads GOPROXY and GOSUMDB. What GOPROXY's direct fetches comes from the
// modules' own hosts, which only a list can name.
func (t *Tools) golang(ctx context.Context) ([]string, error) {
	out, err := t.ask(ctx, "go", "env", "-json", "GOPROXY", "GOSUMDB")
	if err != nil {
		return nil, err
	}
	var env struct{ GOPROXY, GOSUMDB string }
	if err := json.Unmarshal([]byte(out), &env); err != nil {
		return nil, fmt.Errorf("read what go env prints: %w", err)
	}
	hosts := hostsIn(env.GOPROXY)
	// GOSUMDB is a name, a name with its key behind a plus, or these and a URL.
	fields := strings.Fields(env.GOSUMDB)
	switch len(fields) {
	case 1:
		name, _, _ := strings.Cut(fields[0], "+")
		if host, err := hostname.Normalise(name); err == nil && host != "off" {
			hosts = append(hosts, host)
		}
	case 2:
		hosts = append(hosts, hostsIn(fields[1])...)
	}
	return hosts, nil
}

// npm reads the registry and those of scopes (@scope:registry).
func (t *Tools) npm(ctx context.Context) ([]string, error) {
	out, err := t.ask(ctx, "npm", "config", "list", "--json")
	if err != nil {
		return nil, err
	}
	var config map[string]any
	if err := json.Unmarshal([]byte(out), &config); err != nil {
		return nil, fmt.Errorf("read what npm config prints: %w", err)
	}
	var hosts []string
	for key, value := range config {
		if text, ok := value.(string); ok && (key == "registry" || strings.HasSuffix(key, ":registry")) {
			hosts = append(hosts, hostsIn(text)...)
		}
	}
	return hosts, nil
}

// pypi reads the indexes and pages of links of pip. Where none is configured, the
// one that is built in stands in pip's help.
func (t *Tools) pypi(ctx context.Context) ([]string, error) {
	pip := []string{"pip"}
	config, err := t.ask(ctx, "pip", "config", "list")
	if err != nil {
		pip = []string{"python3", "-m", "pip"}
		var again error
		if config, again = t.ask(ctx, "python3", "-m", "pip", "config", "list"); again != nil {
			return nil, err
		}
	}
	var hosts []string
	index := false
	for line := range strings.Lines(config) {
		key, value, _ := strings.Cut(line, "=")
		_, option, _ := cutLast(key, ".")
		switch option {
		case "index-url":
			index = true
			hosts = append(hosts, hostsIn(value)...)
		case "extra-index-url", "find-links":
			// Several stand behind one another, with \n between them.
			hosts = append(hosts, hostsIn(strings.ReplaceAll(value, `\n`, " "))...)
		}
	}
	if index {
		return hosts, nil
	}
	help, err := t.ask(ctx, append(pip, "install", "--help")...)
	if err != nil {
		return nil, err
	}
	_, after, _ := strings.Cut(help, "--index-url <url>")
	_, after, _ = strings.Cut(after, "(default")
	builtIn, _, _ := strings.Cut(after, ")")
	return append(hosts, hostsIn(builtIn)...), nil
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", text, false
	}
	return text[:i], text[i+len(sep):], true
}
