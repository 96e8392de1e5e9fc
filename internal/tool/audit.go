package tool

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"garuda/internal/audit"
)

// Auditor takes the lines of the audit log; an *audit.Log for one.
type Auditor interface {
	Append(line audit.Line) error
	// Mandatory says that no call goes on without its line.
	Mandatory() bool
}

// write puts one line into the log. The error is non-nil only where the log is
// mandatory; else a failure is told of and the call goes on.
func (p *Pipeline) write(line audit.Line) error {
	if p.Audit == nil {
		return nil
	}
	line.SessionID, line.Agent = p.SessionID, p.Agent
	err := p.Audit.Append(line)
	if err == nil {
		return nil
	}
	if p.Audit.Mandatory() {
		return err
	}
	if p.AuditFailed != nil {
		p.AuditFailed(err)
	}
	return nil
}

// auditTarget is what every line of a call names.
func auditTarget(p *Plan) string { return cmp.Or(p.Target, p.Label) }

// auditDecision writes what was decided, before anything runs.
func (p *Pipeline) auditDecision(req *DecisionRequest, d *Decision, choice Choice) error {
	line := audit.Line{
		ID: req.CallID, Tool: req.Tool, Target: auditTarget(req.Plan), Allowed: d.Outcome == Allow,
		Reason: d.Reason, UserChoice: string(choice),
	}
	line.Decision = audit.Decided(line.Allowed, d.By)
	line.Risk = line.Decision.Risk()
	e := req.Plan.Effects
	if len(e.Hosts) > 0 || req.Class == ClassURL || req.Plan.Destructive || e.OutsideSandbox {
		line.Risk = line.Risk.AtLeast(audit.High)
	}
	if d.Rule != "" {
		line.Reason = fmt.Sprintf("%s [%s, %s]", line.Reason, d.Rule, d.Source)
	}
	return p.write(line)
}

// auditGivenUp writes of a call that ended while its question waited.
func (p *Pipeline) auditGivenUp(req *DecisionRequest, cause error) {
	// Nothing runs, so there is nothing that a missing line could hold up.
	_ = p.write(audit.Line{
		ID: req.CallID, Tool: req.Tool, Target: auditTarget(req.Plan), Decision: audit.DenyUser, Risk: audit.DenyUser.Risk(),
		Reason: "given up while the question waited: " + cause.Error(),
	})
}

// auditFailure writes of a call that could not even be decided: a path outside
// the project for one.
func (p *Pipeline) auditFailure(prep *Prepared) {
	if prep.tool == nil || prep.planErr == nil {
		return // no tool's name, or an input that says nothing
	}
	// As above: it does not run.
	_ = p.write(audit.Line{
		ID: prep.Use.ID, Tool: prep.Use.Name, Target: string(prep.input), Decision: audit.Error, Risk: audit.Error.Risk(),
		IsError: true, Reason: prep.planErr.Error(),
	})
}

// auditEnd writes how a call that ran ended.
func (p *Pipeline) auditEnd(prep *Prepared, out *CallResult, took time.Duration) error {
	line := audit.Line{
		ID: prep.Use.ID, Tool: prep.Use.Name, Target: auditTarget(prep.Plan), Decision: audit.Executed, Allowed: true,
		DurationMs: took.Milliseconds(), IsError: out.Result.IsError,
	}
	if line.IsError {
		line.Decision = audit.Error
	}
	if out.Interrupted {
		line.Reason = "interrupted"
	}
	line.Risk = line.Decision.Risk()
	return p.write(line)
}

// notAudited is the model's text where a mandatory line could not be written.
func notAudited(name string, ran bool, err error) string {
	what := "it did not run, since no call runs without its line in the audit log: "
	if ran {
		what = "it ran, but its line in the audit log could not be written: "
	}
	return failed(name, errors.New(what+err.Error()))
}
