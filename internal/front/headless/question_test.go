package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
	"garuda/internal/tool"
	"garuda/internal/tools/consult"
)

// inPlanMode is a mode that must not change.
type inPlanMode struct{ t *testing.T }

func (inPlanMode) Mode() string { return tool.ModePlan }
func (m inPlanMode) SetMode(mode string) error {
	m.t.Errorf("the mode was set to %s", mode)
	return nil
}
func (inPlanMode) BeginTurn() {}

// asksAll asks about every call but those of the session's own tools.
type asksAll struct{}

func (asksAll) Decide(req *tool.DecisionRequest) *tool.Decision {
	if req.Class == tool.ClassSession {
		return &tool.Decision{Outcome: tool.Allow, Grant: tool.NewGrant(req.CallID)}
	}
	return &tool.Decision{Outcome: tool.Ask, Question: &tool.Question{CallID: req.CallID}}
}

func (asksAll) Resolve(_ *tool.DecisionRequest, _ *tool.Decision, a tool.Answer) *tool.Decision {
	return &tool.Decision{Outcome: tool.Deny, By: "user", Reason: string(a.Choice) + ": " + a.Comment}
}

// changes is a tool that is asked about, and must not run.
type changes struct{ tool.Tool }

func (changes) Spec() *tool.Spec {
	return &tool.Spec{Name: "change", Class: tool.ClassPath, Schema: []byte(`{"type":"object"}`)}
}

func (changes) Plan(context.Context, *tool.Env, json.RawMessage) (*tool.Plan, error) {
	return &tool.Plan{}, nil
}

// TestNoQuestionHangs: even a session that was told that somebody answers comes to
// its end, in every format, with nothing allowed.
func TestNoQuestionHangs(t *testing.T) {
	for _, format := range []Format{Text, JSON, StreamJSON} {
		t.Run(string(format), func(t *testing.T) {
			registry, err := tool.NewRegistry(append(consult.New(), changes{})...)
			if err != nil {
				t.Fatal(err)
			}
			var results []string
			m := (&model{}).calls(
				core.Block{Type: core.BlockToolUse, ID: "1", Name: "ask", Input: `{"questions":[{"question":"Which?"},{"question":"And?"}]}`},
				core.Block{Type: core.BlockToolUse, ID: "2", Name: "exit_plan_mode", Input: `{"plan":"1. x"}`},
				core.Block{Type: core.BlockToolUse, ID: "3", Name: "change", Input: `{}`},
			).says("Then I decide.")
			s := engine.New(engine.Config{
				ID: "20260101-000000-abcd", Model: m, Modes: inPlanMode{t}, CanAsk: true,
				Pipeline: &tool.Pipeline{Registry: registry, Decider: asksAll{}, Env: &tool.Env{Clock: core.SystemClock}},
			})
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			sub := s.Subscribe(0)
			defer sub.Close()
			var out, stderr bytes.Buffer
			code, err := Run(t.Context(), s, Options{Format: format, Stdout: &out, Stderr: &stderr, Prompts: prompts("go")})
			if code != 0 || err != nil {
				t.Fatalf("exit %d: %v; %s", code, err, stderr.String())
			}
			for results == nil {
				_, e, err := sub.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if r, ok := e.(engine.Results); ok {
					for _, b := range r.Message.Blocks {
						results = append(results, b.ResultText())
					}
				}
			}
			for i, want := range []string{
				"There is no answer:\n1. Which?: not answered (nobody can be asked in this run); ",
				"The user did not approve the plan and wants to go on planning; plan mode stays.",
				"Permission denied: deny: nobody can be asked in this run",
			} {
				if !strings.HasPrefix(results[i], want) {
					t.Errorf("result %d is %q, want %q", i+1, results[i], want)
				}
			}
		})
	}
}

// calls answers with tool calls.
func (m *model) calls(uses ...core.Block) *model {
	m.answers = append(m.answers, func(context.Context, func(llm.Event)) (*llm.Response, error) {
		return &llm.Response{Stop: core.StopToolUse, RawStop: "tool_use", UsageReported: true,
			Message: &core.Message{Role: core.RoleAssistant, Blocks: uses}}, nil
	})
	return m
}
