package policy

import (
	"errors"
	"strings"

	"garuda/internal/hostname"
)

// hostGlob is a pattern of rules and policies for hosts. Names are compared in the
// one form of package hostname. An address, which nothing lets out by itself, may be
// named too, and then as it is written.
type hostGlob struct {
	names   hostname.Pattern
	address string
}

func compileHost(text string) (*hostGlob, error) {
	names, err := hostname.ParsePattern(text)
	if errors.Is(err, hostname.ErrAddress) && !strings.Contains(text, "*") {
		return &hostGlob{address: strings.ToLower(strings.TrimSpace(text))}, nil
	}
	if err != nil {
		return nil, err
	}
	return &hostGlob{names: names}, nil
}

func (g *hostGlob) String() string {
	if g.address != "" {
		return g.address
	}
	return g.names.String()
}

func (g *hostGlob) matches(host string) bool {
	if g.names.Any() {
		return true
	}
	if name, err := hostname.Normalise(host); err == nil {
		return g.names.Match(name)
	}
	return g.address != "" && strings.ToLower(strings.TrimSuffix(host, ".")) == g.address
}
