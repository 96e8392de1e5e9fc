// Package preset finds the hosts behind a word such as npm or go. Which hosts a
// package manager uses is its own business: they are read from its configuration
// on this machine, so that mirrors work and no registry is named here.
//
// It reads nothing of a project: what a project configures lets nothing out.
package preset

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"garuda/internal/hostname"
	"garuda/internal/sandbox"
)

// ErrNone says that a tool's configuration names no host.
var ErrNone = errors.New("its configuration names no host: name the hosts instead")

const (
	// askTime is how long a tool may take to say its configuration, and askLimit
	// how many bytes of it are read.
	askTime  = 10 * time.Second
	askLimit = 1 << 20
)

// Names are the presets, sorted.
func Names() []string { return []string{"cargo", "github", "gitlab", "go", "maven", "npm", "pypi"} }

// List is the names as a text for people.
func List() string { return strings.Join(Names(), ", ") }

// Tools asks the package managers of this machine.
type Tools struct {
	// Exec runs them; it must see the user's own configuration.
	Exec sandbox.Executor
	// Dir is where they run: a folder that lies in no project, since most of them
	// would follow a project's settings.
	Dir string
	// Env is their environment, from which CARGO_HOME is read too. Home is the
	// user's home folder.
	Env  []string
	Home string
}

// Hosts returns the hosts and patterns of a preset, sorted. An error says why
// there are none: a tool that is missing, fails, or takes longer than 10 s.
func (t *Tools) Hosts(ctx context.Context, name string) ([]string, error) {
	find, ok := map[string]func(context.Context) ([]string, error){
		"cargo": t.cargo, "go": t.golang, "maven": t.maven, "npm": t.npm, "pypi": t.pypi,
		"github": list("github.com", "*.github.com", "*.githubusercontent.com"),
		"gitlab": list("gitlab.com", "*.gitlab.com"),
	}[name]
	if !ok {
		return nil, fmt.Errorf("no preset is called %q; there are %s", name, List())
	}
	hosts, err := find(ctx)
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		return nil, ErrNone
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// list is a preset that belongs to a service and not to a tool.
func list(hosts ...string) func(context.Context) ([]string, error) {
	return func(context.Context) ([]string, error) { return hosts, nil }
}

// ask runs a tool and returns what it printed.
func (t *Tools) ask(ctx context.Context, argv ...string) (string, error) {
	r, err := t.Exec.Run(ctx, &sandbox.Command{Argv: argv, Dir: t.Dir, Env: t.Env, Timeout: askTime, Limit: askLimit})
	what := strings.Join(argv, " ")
	switch {
	case err != nil:
		return "", fmt.Errorf("run %s: %w", what, err)
	case r.TimedOut:
		return "", fmt.Errorf("%s took longer than %s", what, askTime)
	case r.Interrupted:
		return "", fmt.Errorf("%s was interrupted", what)
	case r.ExitCode != 0:
		return "", fmt.Errorf("%s failed with exit code %d", what, r.ExitCode)
	case len(r.Stdout.Tail) > 0:
		return "", fmt.Errorf("%s prints more than %d bytes", what, askLimit)
	}
	return string(r.Stdout.Head), nil
}

// lookup is a variable of the environment.
func (t *Tools) lookup(name string) string {
	for _, entry := range slices.Backward(t.Env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// hostsIn finds the hosts of the http and https URLs in a text, whatever stands
// around them. Addresses are left out: only names are let out.
func hostsIn(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'<>,|\()`, r) }) {
		at := strings.Index(word, "http")
		if at < 0 {
			continue
		}
		u, err := url.Parse(word[at:])
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		if host, err := hostname.Normalise(u.Hostname()); err == nil && host != "localhost" {
			out = append(out, host)
		}
	}
	return out
}
