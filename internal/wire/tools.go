package wire

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"garuda/internal/config"
	"garuda/internal/core"
	"garuda/internal/policy"
	"garuda/internal/session"
	"garuda/internal/session/redact"
	"garuda/internal/tool"
	"garuda/internal/tools/consult"
	"garuda/internal/tools/fileedit"
	"garuda/internal/tools/fileread"
	"garuda/internal/tools/git"
	"garuda/internal/tools/repl"
	"garuda/internal/tools/search"
	"garuda/internal/tools/shell"
	"garuda/internal/watched"
	"garuda/internal/workspace"
)

// allTools are the tools that this version has.
func allTools(s *System) []tool.Tool {
	return slices.Concat(
		fileread.New(), fileedit.New(), search.New(), git.New(), repl.New(s.interpreters),
		shell.New(shell.Options{SpillThrough: s.redacted, Background: s.background, Sandbox: s.shellSandbox()}),
		consult.New(), ownTools(s), s.configTool(), s.answerTool(),
	)
}

// redacted takes secrets out of what goes to the disk through it.
func (s *System) redacted(w io.Writer) io.WriteCloser { return redact.NewWriter(w, s.redactor) }

// clean is a text without secrets.
func (s *System) clean(text string) string {
	clean, _ := s.redactor.String(text)
	return clean
}

// ruleSources groups the settings' rules by where they came from.
func ruleSources(p config.Permissions) []policy.RuleSource {
	var out []policy.RuleSource
	source := func(name string) *policy.RuleSource {
		for i := range out {
			if out[i].Source == name {
				return &out[i]
			}
		}
		out = append(out, policy.RuleSource{Source: name})
		return &out[len(out)-1]
	}
	rule := func(r config.Rule) policy.Rule {
		return policy.Rule{Text: r.Text, Match: r.Match, NotMatch: r.NotMatch, Files: r.Files}
	}
	for _, r := range p.Allow {
		src := source(r.Source.Name)
		src.Allow = append(src.Allow, rule(r))
	}
	for _, r := range p.Ask {
		src := source(r.Source.Name)
		src.Ask = append(src.Ask, rule(r))
	}
	for _, r := range p.Deny {
		src := source(r.Source.Name)
		src.Deny = append(src.Deny, rule(r))
	}
	return out
}

func guard(entries []config.GuardEntry) map[string]string {
	out := make(map[string]string, len(entries))
	for _, e := range entries {
		out[e.ID] = e.Level
	}
	return out
}

func envNames(env []string) []string {
	out := make([]string, len(env))
	for i, kv := range env {
		out[i], _, _ = strings.Cut(kv, "=")
	}
	return out
}

// newPipeline makes a pipeline with a tracker of its own.
func (s *System) newPipeline() *tool.Pipeline {
	p := &tool.Pipeline{
		Registry: s.registry, Decider: s.policy,
		Env: &tool.Env{
			Workspace: s.workspace, Tracker: workspace.NewTracker(), Exec: s.executor, CommandEnv: s.env, HostPath: s.hostPath,
			MayRead: s.policy.MayRead, MayReadReal: s.policy.MayReadReal, Keeper: session.Memory(""), Clock: s.clock, CommandTimeoutMs: s.settings.Limits.CommandTimeoutMs,
		},
	}
	p.Env.Watcher = watched.New(s.workspace, git.Plumbing(p.Env))
	s.auditTo(p)
	return p
}

// Call runs one call by hand, through the whole pipeline. Calls of one System
// share a session: what one has read another may edit.
func (s *System) Call(ctx context.Context, use core.Block) *tool.CallResult {
	if s.byHand == nil {
		s.byHand = s.newPipeline()
	}
	return s.byHand.Run(ctx, s.byHand.Prepare(ctx, use), 0, tool.Observer{})
}

// Explain says what would be decided about a call, running nothing. What lies
// outside the project is refused by every tool, before any rule: row 0. The error
// is for a call that would fail before it is decided in another way.
func (s *System) Explain(ctx context.Context, use core.Block) (*tool.Decision, error) {
	p := s.newPipeline()
	prep := p.Prepare(ctx, use)
	var outside *workspace.OutsideError
	if errors.As(prep.PlanError(), &outside) {
		return &tool.Decision{Outcome: tool.Deny, By: "workspace", Reason: outside.Error()}, nil
	}
	if err := prep.Failed(); err != "" {
		return nil, errors.New(err)
	}
	return s.policy.Explain(p.Request(prep, 0)), nil
}
