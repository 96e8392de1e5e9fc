package wire

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// countingDecider counts what it is asked, and denies everything.
type countingDecider struct {
	mu    sync.Mutex
	asked []string
}

func (d *countingDecider) Decide(req *tool.DecisionRequest) *tool.Decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, req.CallID)
	return &tool.Decision{Outcome: tool.Deny, By: "test", Reason: "the test denies it"}
}

func (d *countingDecider) Resolve(_ *tool.DecisionRequest, asked *tool.Decision, _ tool.Answer) *tool.Decision {
	return asked
}

func openAll(t *testing.T) *System {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("GARUDA_HOME", home)
	s, err := Open(t.Context(), &Options{CWD: t.TempDir(), InMemory: true, WithoutModel: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestEveryCallIsDecided: each tool of the registry, deferred ones too, asks the one
// decision function before it runs, and does not run when that says no.
func TestEveryCallIsDecided(t *testing.T) {
	s := openAll(t)
	if len(s.tools) == 0 {
		t.Fatal("there are no tools")
	}
	for _, row := range s.tools {
		found, ok := s.registry.Lookup(row.Spec.Name)
		if !ok {
			continue // off
		}
		registry, err := tool.NewRegistry(&planned{Tool: found})
		if err != nil {
			t.Fatal(err)
		}
		decider := &countingDecider{}
		p := s.newPipeline()
		p.Registry, p.Decider = registry, decider
		r := p.Run(t.Context(), p.Prepare(t.Context(), core.Block{Type: core.BlockToolUse, ID: "c-" + row.Spec.Name, Name: row.Spec.Name, Input: "{}"}), 0, tool.Observer{})
		if !slices.Equal(decider.asked, []string{"c-" + row.Spec.Name}) || !r.Denied || r.Output != nil {
			t.Errorf("%s: asked %v, denied %v: %s", row.Spec.Name, decider.asked, r.Denied, r.Result.ResultText())
		}
	}
}

// planned is a tool that plans every input, so that the way to its Run is open but
// for the decision.
type planned struct{ tool.Tool }

func (p *planned) Spec() *tool.Spec {
	spec := *p.Tool.Spec()
	spec.Schema = []byte(`{"type":"object"}`)
	return &spec
}

func (p *planned) Plan(context.Context, *tool.Env, json.RawMessage) (*tool.Plan, error) {
	return &tool.Plan{}, nil
}

// TestNoRunWithoutAGrant: where a decision allows and gives no grant, one for another
// call, or one that was used, the call ends before the tool is reached.
func TestNoRunWithoutAGrant(t *testing.T) {
	s := openAll(t)
	quiet(t)
	grantFor := func(id string) *tool.Grant { // only the policy makes grants
		return s.policy.Decide(&tool.DecisionRequest{CallID: id, Tool: "todo_write", Class: tool.ClassSession, Plan: &tool.Plan{}}).Grant
	}
	used := grantFor("c1")
	if err := used.Use("c1"); err != nil {
		t.Fatal(err)
	}
	for name, grant := range map[string]*tool.Grant{"none": nil, "another's": grantFor("c2"), "used": used} {
		for _, row := range s.tools {
			found, ok := s.registry.Lookup(row.Spec.Name)
			if !ok {
				continue
			}
			ran := false
			registry, err := tool.NewRegistry(&watchedTool{planned{found}, &ran})
			if err != nil {
				t.Fatal(err)
			}
			p := s.newPipeline()
			p.Registry, p.Decider = registry, granting{grant}
			r := p.Run(t.Context(), p.Prepare(t.Context(), core.Block{Type: core.BlockToolUse, ID: "c1", Name: row.Spec.Name, Input: "{}"}), 0, tool.Observer{})
			if ran || !r.Result.IsError || !strings.Contains(r.Result.ResultText(), "internal error") {
				t.Errorf("%s with the grant %s: ran %v: %s", row.Spec.Name, name, ran, r.Result.ResultText())
			}
		}
	}
}

// quiet drops what is logged of the panics that a test brings about.
func quiet(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(before) })
}

type granting struct{ grant *tool.Grant }

func (g granting) Decide(*tool.DecisionRequest) *tool.Decision {
	return &tool.Decision{Outcome: tool.Allow, By: "test", Grant: g.grant}
}

func (g granting) Resolve(_ *tool.DecisionRequest, asked *tool.Decision, _ tool.Answer) *tool.Decision {
	return asked
}

type watchedTool struct {
	planned
	ran *bool
}

func (w *watchedTool) Run(context.Context, *tool.Call) (*tool.Output, error) {
	*w.ran = true
	return nil, errors.New("it ran")
}

// TestSurfacesShareOneDecider: every pipeline that the system makes, for sessions and
// for calls by hand, has the one policy engine.
func TestSurfacesShareOneDecider(t *testing.T) {
	s := openAll(t)
	for range 3 {
		if s.newPipeline().Decider != tool.Decider(s.policy) {
			t.Error("a pipeline decides by something else")
		}
	}
	s.Call(t.Context(), core.Block{Type: core.BlockToolUse, ID: "c", Name: "list_dir", Input: "{}"})
	if s.byHand == nil || s.byHand.Decider != tool.Decider(s.policy) {
		t.Error("calls by hand decide by something else")
	}
}
