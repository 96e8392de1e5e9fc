package wire

import (
	"context"
	"log/slog"
	"path/filepath"

	"garuda/internal/sandbox/netproxy"
	"garuda/internal/sandbox/netproxy/preset"
)

// newNetwork is the way out of commands in the sandbox. The error is the user's: an
// entry of a list that is none.
func (s *System) newNetwork() (*netproxy.Network, error) {
	var blocked []netproxy.Blocked
	for _, e := range s.team.BlockedHosts {
		blocked = append(blocked, netproxy.Blocked{Host: e.Text, File: e.File})
	}
	n, err := netproxy.New(netproxy.Options{
		Allow: s.settings.Network.Allow, Blocked: blocked, Ports: s.settings.Network.Ports,
		LocalhostPorts: s.settings.Sandbox.AllowLocalhostPorts,
		Preset:         s.presets().Hosts,
		Decide:         s.decideHost, Observe: s.noteHost, Env: s.env,
		Clock: s.clock, Log: slog.Default(),
	})
	if err != nil {
		return nil, &SettingsError{Err: err}
	}
	return n, nil
}

// presets asks package managers for their hosts, where no project can answer for them.
func (s *System) presets() *preset.Tools {
	return &preset.Tools{Exec: s.host, Dir: string(filepath.Separator), Env: s.env, Home: s.places.user}
}

// decideHost puts a host that is on no list to the one decision function, under the
// id of the call whose command wants to reach it.
func (s *System) decideHost(ctx context.Context, r netproxy.Request) (allowed bool, reason string) {
	if s.team.StrictAllowlist {
		return false, "the team policy (" + teamFiles(s.team) + ") lets commands reach only the hosts of network.allow"
	}
	p := s.asking.Load()
	if p == nil {
		return false, "nobody is there to ask; network.allow in the settings names hosts"
	}
	s.decidedHosts.Store(r, true)
	if err := p.CheckHost(ctx, r.Call, r.Host, r.Port); err != nil {
		return false, err.Error()
	}
	return true, ""
}

// noteHost writes the audit line of a host that a list decided about. Those that were
// asked about have theirs.
func (s *System) noteHost(r netproxy.Request, allowed bool, reason string) {
	if _, decided := s.decidedHosts.LoadAndDelete(r); decided {
		return
	}
	if p := s.asking.Load(); p != nil {
		if err := p.AuditHost(r.Call, r.Host, r.Port, allowed, reason); err != nil {
			slog.Error("write the audit log", "error", err)
		}
	}
}
