package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"garuda/internal/core"
)

// resultLimit is how many characters one call may add to a conversation, where its
// tool does not say.
const resultLimit = 100_000

// ErrInterrupted is the cause of a call's context when a person stopped that
// call and nothing else.
var ErrInterrupted = errors.New("interrupted")

// Pipeline is the one way that a tool call runs, for every agent and surface.
type Pipeline struct {
	Registry *Registry
	Decider  Decider
	// Asker is nil where nobody can be asked; an ask is then a denial.
	Asker Asker
	Env   *Env
	// Agent names the agent whose calls these are; empty for the main one.
	Agent string
	// NotLoaded reports whether a tool is deferred and was not loaded yet, so that a
	// call of it is refused; nil where every tool counts as loaded.
	NotLoaded func(name string) bool
	// Intent is called before a call that changes something runs, after it was
	// granted, and returns when that is on disk. Nil where there is no journal.
	Intent func(id, name, target string) error
	// BeforeChange is called after that, and returns when what the call may change is
	// kept as it is, or cannot be; nil where nothing is kept.
	BeforeChange func(ctx context.Context, plan *Plan)
	// Answered is told each person's answer; may be nil.
	Answered func(req *DecisionRequest, asked, final *Decision, a Answer)
	// Audit takes a line for every decision and for how each call that ran ended;
	// nil where none are kept. SessionID goes with each. AuditFailed is told of a
	// line that was not written, where the call goes on all the same; may be nil.
	Audit       Auditor
	SessionID   string
	AuditFailed func(error)
	// Replay, when set, gives what a journal recorded of a call: nothing is looked up,
	// decided or run then. Nil everywhere but in a replay.
	Replay func(use core.Block) *CallResult
}

// Observer watches one call. Its functions may be nil.
type Observer struct {
	Progress func(text string)
	Emit     func(stderr bool, chunk []byte)
}

// Prepared is a call that was found, checked and planned, but not yet decided.
type Prepared struct {
	Use core.Block
	// Plan is nil when preparing failed; Run then gives the failure back.
	Plan *Plan

	tool    Tool
	input   json.RawMessage
	failure *CallResult
	planErr error
}

// Batchable reports whether the call may run beside other calls.
func (p *Prepared) Batchable() bool {
	return p.Plan != nil && p.Plan.ReadOnly && p.Plan.Parallel && !p.Plan.Alone
}

// PlanError is why the tool could make no plan; nil where it did, or was not asked.
func (p *Prepared) PlanError() error { return p.planErr }

// Failed is why the call cannot run at all, or "".
func (p *Prepared) Failed() string {
	if p.failure == nil {
		return ""
	}
	return p.failure.Result.ResultText()
}

// CallResult is how a call ended, however it ended.
type CallResult struct {
	ID, Name, Target string
	// Result is the tool_result block that the model gets.
	Result core.Block
	// Denied is true when a person, a rule or the table refused the call.
	Denied      bool
	Interrupted bool
	Decision    *Decision
	// Output is what the tool gave, or nil when it did not run.
	Output *Output
	// Reads are the files and folders that the call was to read, Writes those that it
	// was to change.
	Reads    []string
	Writes   []string
	Input    json.RawMessage
	Duration time.Duration
}

// Prepare takes the steps that change nothing: the tool is known, the input
// passes, the plan is made.
func (p *Pipeline) Prepare(ctx context.Context, use core.Block) *Prepared {
	prep := &Prepared{Use: use}
	if p.Replay != nil {
		prep.failure = p.Replay(use)
		return prep
	}
	fail := func(text string) *Prepared {
		prep.failure = prep.outcome(core.Text(text), true)
		return prep
	}
	t, err := p.find(use.Name)
	if err != nil {
		return fail(failed(use.Name, err))
	}
	prep.tool = t
	input, err := p.Registry.inputs[use.Name].check(use.Input)
	if err != nil {
		return fail(failed(use.Name, err))
	}
	prep.input = input
	plan, err := guarded(use.Name, func() (*Plan, error) { return t.Plan(ctx, p.Env, input) })
	if err != nil {
		prep.planErr = err
		return fail(failed(use.Name, err))
	}
	prep.Plan = plan
	return prep
}

// Run decides the call, runs it if it may, and says how it ended. It never
// fails: the outcome holds an error result that the model can act on.
func (p *Pipeline) Run(ctx context.Context, prep *Prepared, repeat int, watch Observer) *CallResult {
	if prep.failure != nil {
		p.auditFailure(prep)
		return prep.failure
	}
	start := p.Env.Clock.Now()
	out := p.run(ctx, prep, repeat, watch)
	out.Duration = p.Env.Clock.Now().Sub(start)
	out.Input = prep.input
	return out
}

func (p *Pipeline) run(ctx context.Context, prep *Prepared, repeat int, watch Observer) *CallResult {
	req := p.Request(prep, repeat)
	decision, answer, err := p.decide(ctx, req)
	if err != nil {
		p.auditGivenUp(req, err)
		return interruptedBefore(prep)
	}
	audited := p.auditDecision(req, decision, answer.Choice)
	switch {
	case audited != nil:
		return prep.outcome(core.Text(notAudited(prep.Use.Name, false, audited)), true)
	case decision.Outcome != Allow:
		out := prep.outcome(core.Text(denialText(decision)), true)
		out.Denied, out.Decision = true, decision
		return out
	}
	if err := p.recordIntent(prep); err != nil {
		return prep.outcome(core.Text(failed(prep.Use.Name, err)), true)
	}
	if p.BeforeChange != nil && !prep.Plan.ReadOnly && req.Class != ClassSession {
		p.BeforeChange(ctx, prep.Plan)
	}
	if ctx.Err() != nil {
		return interruptedBefore(prep)
	}
	out := p.execute(ctx, prep, decision.Grant, watch)
	out.Decision = decision
	if answer.Comment != "" {
		out.Result.Content = append(out.Result.Content, core.Text("The user allowed this with a comment: "+answer.Comment))
	}
	return out
}

// Request is what the decision function is asked about a prepared call.
func (p *Pipeline) Request(prep *Prepared, repeat int) *DecisionRequest {
	spec := prep.tool.Spec()
	return &DecisionRequest{
		CallID: prep.Use.ID, Tool: spec.Name, Class: cmp.Or(prep.Plan.Class, spec.Class), Plan: prep.Plan,
		Input: prep.input, Agent: p.Agent, Repeat: repeat,
	}
}

// decide asks the one decision function, and a person where it says so. The
// error is non-nil only when the call was given up while the question waited.
func (p *Pipeline) decide(ctx context.Context, req *DecisionRequest) (*Decision, Answer, error) {
	d := p.Decider.Decide(req)
	if d.Outcome != Ask {
		return d, Answer{}, nil
	}
	if p.Asker == nil {
		return p.Decider.Resolve(req, d, Answer{Choice: AnswerDeny, Comment: "nobody can be asked here"}), Answer{}, nil
	}
	answer, err := p.Asker.Ask(ctx, d.Question)
	if errors.Is(err, ErrModeChanged) {
		return p.decide(ctx, req)
	}
	if err != nil {
		return nil, answer, fmt.Errorf("ask about %s: %w", req.Tool, err)
	}
	final := p.Decider.Resolve(req, d, answer)
	if p.Answered != nil {
		p.Answered(req, d, final, answer)
	}
	return final, answer, nil
}

func (p *Pipeline) recordIntent(prep *Prepared) error {
	if prep.Plan.ReadOnly || p.Intent == nil {
		return nil
	}
	return p.Intent(prep.Use.ID, prep.Use.Name, prep.Plan.Target)
}

func (p *Pipeline) execute(ctx context.Context, prep *Prepared, grant *Grant, watch Observer) *CallResult {
	call := &Call{
		ID: prep.Use.ID, Env: p.Env, Plan: prep.Plan, Grant: grant,
		Progress: func(string) {}, Emit: func(bool, []byte) {},
		Check: func(ctx context.Context, e Effects, target, preview string) error {
			return p.check(ctx, prep, &Plan{Target: target, Preview: cmp.Or(preview, target), Effects: e, ReadOnly: prep.Plan.ReadOnly})
		},
	}
	if watch.Progress != nil {
		call.Progress = watch.Progress
	}
	if watch.Emit != nil {
		call.Emit = watch.Emit
	}
	start := p.Env.Clock.Now()
	output, err := guarded(prep.Use.Name, func() (*Output, error) {
		if err := grant.Use(call.ID); err != nil {
			panic(err) // a hole in the pipeline: never run, and make it loud
		}
		return prep.tool.Run(ctx, call)
	})
	out := prep.finished(ctx, output, err)
	if err := p.auditEnd(prep, out, p.Env.Clock.Now().Sub(start)); err != nil {
		out.Result.IsError = true
		out.Result.Content = append([]core.Block{core.Text(notAudited(prep.Use.Name, true, err))}, out.Result.Content...)
	}
	return out
}

// check is how a running call asks about what only showed while it ran.
func (p *Pipeline) check(ctx context.Context, prep *Prepared, effect *Plan) error {
	req := p.Request(prep, 0)
	req.Plan = effect
	d, answer, err := p.decide(ctx, req)
	if err != nil {
		p.auditGivenUp(req, err)
		return err
	}
	if err := p.auditDecision(req, d, answer.Choice); err != nil {
		return errors.New(notAudited(req.Tool, false, err))
	}
	if d.Outcome != Allow {
		return errors.New(denialText(d))
	}
	return d.Grant.Use(req.CallID)
}

// finished turns what a tool returned into the outcome.
func (p *Prepared) finished(ctx context.Context, output *Output, err error) *CallResult {
	interrupted := err != nil && ctx.Err() != nil
	var content []core.Block
	isError := err != nil
	switch {
	case output != nil:
		content = outputContent(output, p.resultCap())
		isError = isError || output.IsError
	case interrupted:
		content = append(content, core.Text("Error: "+p.Use.Name+" failed: interrupted, effects unknown."))
	default:
		content = append(content, core.Text(cutMiddle(failed(p.Use.Name, err), p.resultCap())))
	}
	out := p.outcome(content[0], isError)
	out.Result.Content = content
	out.Output, out.Interrupted = output, interrupted
	return out
}

// noOutput stands for a result that says nothing, which providers refuse.
const noOutput = "(no output)"

// outputContent is what the model sees of an output, and never nothing.
func outputContent(o *Output, limit int) []core.Block {
	text := cutMiddle(o.Text, limit)
	if strings.TrimSpace(text) == "" {
		if len(o.Blocks) > 0 {
			return slices.Clone(o.Blocks)
		}
		text = noOutput
	}
	return append([]core.Block{core.Text(text)}, o.Blocks...)
}

// outcome is how the call ended, with content cut to what one call may add: a
// refusal repeats what the model gave, which may be of any length.
func (p *Prepared) outcome(content core.Block, isError bool) *CallResult {
	content.Text = cutMiddle(content.Text, p.resultCap())
	out := &CallResult{
		ID: p.Use.ID, Name: p.Use.Name,
		Result: core.ToolResult(p.Use.ID, isError, content),
	}
	if p.Plan != nil {
		out.Target, out.Reads, out.Writes = p.Plan.Target, p.Plan.Effects.Reads, p.Plan.Effects.Writes
	}
	return out
}

// ResultCap is how many characters a call of this tool may add to a conversation at
// most, what the middle's mark takes aside; images and documents do not count.
func (p *Pipeline) ResultCap(name string) int {
	if t, ok := p.Registry.Lookup(name); ok {
		return t.Spec().resultCap()
	}
	return resultLimit
}

func (p *Prepared) resultCap() int {
	if p.tool == nil {
		return resultLimit
	}
	return p.tool.Spec().resultCap()
}

func (s *Spec) resultCap() int { return cmp.Or(s.MaxResult, resultLimit) }

func interruptedBefore(prep *Prepared) *CallResult {
	out := prep.outcome(core.Text("Error: "+prep.Use.Name+" failed: interrupted before it ran; it changed nothing."), true)
	out.Interrupted = true
	return out
}

func failed(name string, err error) string {
	return "Error: " + name + " failed: " + err.Error()
}

// denialText is the model's; a person's comment is part of the reason.
func denialText(d *Decision) string { return "Permission denied: " + d.Reason }

// guarded turns a panic in a tool into an error, and logs where it was.
func guarded[T any](name string, f func() (T, error)) (out T, err error) {
	defer func() {
		if v := recover(); v != nil {
			slog.Error("tool panicked", "tool", name, "panic", v, "stack", string(debug.Stack()))
			err = fmt.Errorf("it stopped on an internal error (%v); try another way and report this", v)
		}
	}()
	return f()
}
