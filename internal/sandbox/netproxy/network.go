// Package netproxy is the way out of confined commands: an HTTP and SOCKS5 proxy
// and a stub of the domain name system that answer in a command's own network
// namespace, and let it reach the hosts that it may reach.
//
// Names are judged, never addresses: team policy, then the user's list, then a
// question. What a name resolves to must be public (package netguard). TLS is
// not opened; the name that a client gives the server in it must be the one that
// was allowed. The package never logs what passes, tokens, paths or queries, and
// it gives commands nothing of Garuda's environment.
package netproxy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"garuda/internal/core"
	"garuda/internal/hostname"
	"garuda/internal/netguard"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/netproxy/preset"
)

// Options say what is let out.
type Options struct {
	// Allow are hosts, patterns (*.example.com) and names of presets. An empty
	// list lets nothing out but what Decide allows.
	Allow []string
	// Blocked are hosts that nothing lets out.
	Blocked []Blocked
	// Ports may be reached beside 80 and 443.
	Ports []int
	// LocalhostPorts are ports of the machine's loopback that are forwarded under
	// the same number.
	LocalhostPorts []int
	// Preset returns the hosts of a preset (package preset). It is called once for
	// each, when a command first asks for a host that no other entry names. nil
	// makes presets an error.
	Preset func(ctx context.Context, name string) ([]string, error)
	// Decide is asked about a host that is on no list: once for each host and
	// command. It must return when ctx, the command, ends. nil refuses.
	Decide func(ctx context.Context, r Request) (allowed bool, reason string)
	// Observe is told each host of a command that was allowed or refused, once,
	// Decide's included. It must not block. May be nil.
	Observe func(r Request, allowed bool, reason string)
	// Env is the environment that commands get otherwise; its MAVEN_OPTS and
	// GRADLE_OPTS are kept. May be nil.
	Env []string
	// Guard connects; nil is one with the machine's resolver.
	Guard *netguard.Guard
	// Clock is core.SystemClock when nil, Log discards when nil.
	Clock core.Clock
	Log   *slog.Logger
}

// Blocked is a host or pattern that the team's policy blocks, and the file that
// says so.
type Blocked struct{ Host, File string }

// Request is a host that a command wants to reach.
type Request struct {
	// Call is the id of the tool call that the command belongs to.
	Call string
	// Host is a normalised name (package hostname).
	Host string
	Port int
}

// The proxy's bounds.
const (
	// maxConnections are served at once; further ones wait to be accepted.
	maxConnections = 1024
	// maxQuestions is how many hosts of one command Decide is asked about, and
	// maxRefused how many refused ones are named in its result.
	maxQuestions = 32
	maxRefused   = 100
	// greetTimeout is for what precedes data: heads, greetings, a TLS client's hello.
	greetTimeout = 30 * time.Second
	// idleTimeout ends a connection on which nothing moved for two to three of it.
	idleTimeout = 5 * time.Minute
	// proxyPort is taken unless it is one of the forwarded.
	proxyPort = 3128
)

// Network implements sandbox.Network.
type Network struct {
	opt     Options
	static  []hostname.Pattern
	presets []string
	blocked []blockedPattern
	ports   []int
	// They are the constants and the guard but in this package's
	// own tests.
	idle, greet time.Duration
	dial        func(ctx context.Context, host string, port uint16) (net.Conn, error)
	resolve     func(ctx context.Context, host string) ([]netip.Addr, error)

	expanding sync.Mutex
	expanded  map[string]expansion
}

// expansion is what a preset came to: hosts, or why there are none.
type expansion struct {
	patterns []hostname.Pattern
	err      error
}

type blockedPattern struct {
	hostname.Pattern
	file string
}

var _ sandbox.Network = (*Network)(nil)

// New checks the lists. An entry that is neither a host, a pattern nor a preset
// is an error, and so is *, which would let everything out.
func New(opt Options) (*Network, error) {
	if opt.Clock == nil {
		opt.Clock = core.SystemClock
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Guard == nil {
		opt.Guard = new(netguard.Guard)
	}
	n := &Network{
		opt: opt, ports: append([]int{80, 443}, opt.Ports...), expanded: map[string]expansion{},
		idle: idleTimeout, greet: greetTimeout, dial: opt.Guard.Dial, resolve: opt.Guard.Resolve,
	}
	for _, entry := range opt.Allow {
		if slices.Contains(preset.Names(), entry) {
			if opt.Preset == nil {
				return nil, fmt.Errorf("network.allow: the preset %s cannot be resolved here: name its hosts", entry)
			}
			n.presets = append(n.presets, entry)
			continue
		}
		p, err := hostname.ParsePattern(entry)
		if err == nil && p.Any() {
			err = errors.New("* would let everything out: name the hosts")
		}
		if err != nil {
			return nil, fmt.Errorf("network.allow: %w (the presets are %s)", err, preset.List())
		}
		n.static = append(n.static, p)
	}
	for _, b := range opt.Blocked {
		p, err := hostname.ParsePattern(b.Host)
		if err != nil {
			return nil, fmt.Errorf("%s: the blocked host: %w", b.File, err)
		}
		n.blocked = append(n.blocked, blockedPattern{p, b.File})
	}
	for _, list := range [][]int{opt.Ports, opt.LocalhostPorts} {
		for _, port := range list {
			if port < 1 || port > 65535 {
				return nil, fmt.Errorf("%d is no port", port)
			}
		}
	}
	return n, nil
}

// Begin opens a passage. It ends with ctx, or when it is closed.
func (n *Network) Begin(ctx context.Context, call string) (sandbox.Passage, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &passage{
		net: n, call: call, ctx: ctx, cancel: cancel, token: rand.Text(),
		slots: make(chan struct{}, maxConnections), open: map[closer]struct{}{}, questions: map[string]*question{},
		told: map[string]bool{},
	}
	p.port, p.bare = n.freePorts()
	p.plain = newPlainServer(p)
	return p, nil
}

// freePorts are two ports that no forwarded port takes.
func (n *Network) freePorts() (port, bare int) {
	free := func(port int) int {
		for slices.Contains(n.opt.LocalhostPorts, port) {
			port++
		}
		return port
	}
	port = free(proxyPort)
	return port, free(port + 1)
}

// listed reports whether an entry of the list matches a name. An error says that
// a preset could not be resolved.
func (n *Network) listed(ctx context.Context, host string) (bool, error) {
	matches := func(p hostname.Pattern) bool { return p.Match(host) }
	if slices.ContainsFunc(n.static, matches) {
		return true, nil
	}
	var problem error
	for _, name := range n.presets {
		patterns, err := n.expand(ctx, name)
		if slices.ContainsFunc(patterns, matches) {
			return true, nil
		}
		problem = errors.Join(problem, err)
	}
	return false, problem
}

// expand asks a preset's hosts, once; only a question that a command's end cut
// short is put again.
func (n *Network) expand(ctx context.Context, name string) ([]hostname.Pattern, error) {
	n.expanding.Lock()
	defer n.expanding.Unlock()
	if known, ok := n.expanded[name]; ok {
		return known.patterns, known.err
	}
	hosts, err := n.opt.Preset(ctx, name)
	if err != nil {
		err = fmt.Errorf("the preset %s: %w", name, err)
		if ctx.Err() == nil {
			n.opt.Log.Warn("a preset lets nothing out", "error", err)
			n.expanded[name] = expansion{err: err}
		}
		return nil, err
	}
	var out []hostname.Pattern
	for _, host := range hosts {
		p, err := hostname.ParsePattern(host)
		if err != nil || p.Any() {
			n.opt.Log.Warn("a preset's host is left out", "preset", name, "host", host)
			continue
		}
		out = append(out, p)
	}
	n.expanded[name] = expansion{patterns: out}
	return out, nil
}
