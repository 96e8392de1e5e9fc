package netproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"garuda/internal/hostname"
	"garuda/internal/netguard"
)

// target is a host that a command may reach: only judge makes one.
type target struct {
	host string
	port uint16
}

func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(int(t.port))) }

// refusal says why something is not done, and in which HTTP status.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return r.reason }

func malformed(reason string) *refusal { return &refusal{http.StatusBadRequest, reason} }

// question is a host that Decide is asked about. done is closed with the answer.
type question struct {
	done    chan struct{}
	allowed bool
	reason  string
}

// judge decides whether a host may be reached, as the command wrote it. Who asks
// for a host about which a question is open waits for its answer.
func (p *passage) judge(written string, port uint16) (target, error) {
	host, err := hostname.Normalise(written)
	if err != nil {
		reason := "this is no name of a host: " + err.Error()
		p.note(written, int(port), reason)
		return target{}, &refusal{http.StatusForbidden, "refused: " + reason}
	}
	t := target{host, port}
	allowed, reason := p.decide(t)
	if !allowed {
		p.note(host, int(port), reason)
		return target{}, &refusal{http.StatusForbidden, fmt.Sprintf("%s is refused: %s", t, reason)}
	}
	p.observe(t.host, int(t.port), true, reason)
	return t, nil
}

// decide is the order of the rules: policy, ports, list, question.
func (p *passage) decide(t target) (allowed bool, reason string) {
	if allowed, reason, done := p.byRule(t); done {
		return allowed, reason
	}
	listed, problem := p.net.listed(p.ctx, t.host)
	if listed {
		return true, "it is on the list (network.allow)"
	}
	if p.net.opt.Decide != nil {
		return p.ask(t)
	}
	if problem != nil {
		return false, "it is not on the list (network.allow), and " + problem.Error()
	}
	return false, "it is not on the list (network.allow)"
}

// byRule is what stands before the list.
func (p *passage) byRule(t target) (allowed bool, reason string, done bool) {
	if i := slices.IndexFunc(p.net.blocked, func(b blockedPattern) bool { return b.Match(t.host) }); i >= 0 {
		return false, fmt.Sprintf("the team policy (%s) blocks this host", p.net.blocked[i].file), true
	}
	if t.host == "localhost" || strings.HasSuffix(t.host, ".localhost") {
		return false, "the machine's own services are reached at 127.0.0.1 inside, and only at the ports of sandbox.allowLocalhostPorts", true
	}
	if !slices.Contains(p.net.ports, int(t.port)) {
		return false, fmt.Sprintf("port %d may not be reached; 80, 443 and those of network.ports may", t.port), true
	}
	return false, "", false
}

// ask puts the question, or waits for the answer to the same one.
func (p *passage) ask(t target) (allowed bool, reason string) {
	p.judging.Lock()
	q, known := p.questions[t.host]
	if !known {
		if len(p.questions) >= maxQuestions {
			p.judging.Unlock()
			return false, fmt.Sprintf("this command has asked for more than %d hosts that are not on the list (network.allow)", maxQuestions)
		}
		q = &question{done: make(chan struct{})}
		p.questions[t.host] = q
	}
	p.judging.Unlock()
	if !known {
		q.allowed, q.reason = p.net.opt.Decide(p.ctx, Request{p.call, t.host, int(t.port)})
		close(q.done)
	}
	select {
	case <-q.done:
		return q.allowed, q.reason
	case <-p.ctx.Done():
		return false, "the command has ended"
	}
}

// knownName normalises a name, and reports whether it may be reached without
// asking anybody: it is on the list, or an answer allowed it before.
func (p *passage) knownName(written string) (host string, allowed bool) {
	host, err := hostname.Normalise(written)
	if err != nil {
		return "", false
	}
	allowed, reason, done := p.byRule(target{host, portHTTPS})
	if !done {
		reason = "it is not on the list (network.allow)"
		allowed, _ = p.net.listed(p.ctx, host) // a preset's problem is said where a connection is refused
		allowed = allowed || p.answered(host)
	}
	// Programs look up this machine's own name, which has no dot: that is no host
	// that anybody would want to allow.
	if !allowed && strings.Contains(host, ".") {
		p.note(host, portHTTPS, reason)
	}
	return host, allowed
}

// answered reports whether Decide has allowed a host.
func (p *passage) answered(host string) bool {
	p.judging.Lock()
	q := p.questions[host]
	p.judging.Unlock()
	if q == nil {
		return false
	}
	select {
	case <-q.done:
		return q.allowed
	default:
		return false
	}
}

// dialled makes a refusal of a failure to connect. That an address is not public
// counts as the host being refused.
func (p *passage) dialled(t target, err error) *refusal {
	if errors.Is(err, netguard.ErrNotPublic) {
		p.note(t.host, int(t.port), err.Error())
		return &refusal{http.StatusForbidden, fmt.Sprintf("%s is refused: %v", t, err)}
	}
	if errors.Is(err, context.Canceled) {
		return &refusal{http.StatusBadGateway, "the command has ended"}
	}
	return &refusal{http.StatusBadGateway, err.Error()}
}

// note remembers a refused host for the command's result.
func (p *passage) note(host string, port int, reason string) {
	if len(host) > 253 || strings.ContainsFunc(host, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("@/\\%<>", r)
	}) {
		return // no text for anybody to read
	}
	p.judging.Lock()
	if len(p.refused) < maxRefused && !slices.Contains(p.refused, host) {
		p.refused = append(p.refused, host)
	}
	p.judging.Unlock()
	p.observe(host, port, false, reason)
}

// observe tells a decision to whoever records them, each once.
func (p *passage) observe(host string, port int, allowed bool, reason string) {
	key := host + ":" + strconv.Itoa(port) + " " + strconv.FormatBool(allowed)
	p.judging.Lock()
	first := !p.told[key] && len(p.told) < 10*maxRefused
	if first {
		p.told[key] = true
	}
	p.judging.Unlock()
	if !first {
		return
	}
	p.net.opt.Log.Debug("network", "call", p.call, "host", host, "port", port, "allowed", allowed, "reason", reason)
	if p.net.opt.Observe != nil {
		p.net.opt.Observe(Request{p.call, host, port}, allowed, reason)
	}
}
