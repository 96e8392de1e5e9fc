package tool

import (
	"context"
	"errors"
	"fmt"

	"garuda/internal/audit"
)

// Network is the name under which rules and answers decide about hosts that
// commands in the sandbox want to reach.
const Network = "network"

// CheckHost decides about a host that a command of a running call wants to reach:
// by the rules, else by a person's answer. The error says why not. It writes the
// audit line.
func (p *Pipeline) CheckHost(ctx context.Context, callID, host string, port int) error {
	target := fmt.Sprintf("%s:%d", host, port)
	req := &DecisionRequest{
		CallID: callID, Tool: Network, Class: ClassURL, Agent: p.Agent,
		Plan: &Plan{Target: host, Preview: target, Effects: Effects{Hosts: []string{host}}},
	}
	d, answer, err := p.decide(ctx, req)
	if err != nil {
		p.auditGivenUp(req, err)
		return err
	}
	line := audit.Line{
		ID: callID, Tool: Network, Target: target, Decision: audit.NetworkDeny, Allowed: d.Outcome == Allow,
		Reason: d.Reason, UserChoice: string(answer.Choice),
	}
	if line.Allowed {
		line.Decision = audit.NetworkAllow
	}
	line.Risk = line.Decision.Risk()
	if d.Rule != "" {
		line.Reason = fmt.Sprintf("%s [%s, %s]", line.Reason, d.Rule, d.Source)
	}
	if err := p.write(line); err != nil {
		return fmt.Errorf("write the audit line: %w", err)
	}
	if !line.Allowed {
		return errors.New(d.Reason)
	}
	return d.Grant.Use(callID)
}

// AuditHost writes that a host was reached, or refused, without a decision: a list
// said so.
func (p *Pipeline) AuditHost(callID, host string, port int, allowed bool, reason string) error {
	decision := audit.NetworkDeny
	if allowed {
		decision = audit.NetworkAllow
	}
	return p.write(audit.Line{
		ID: callID, Tool: Network, Target: fmt.Sprintf("%s:%d", host, port), Decision: decision, Allowed: allowed,
		Reason: reason, Risk: decision.Risk(),
	})
}
