package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/engine/replay"
	"garuda/internal/llm"
	llmreplay "garuda/internal/llm/replay"
	"garuda/internal/llm/script"
	"garuda/internal/session"
	"garuda/internal/session/redact"
	"garuda/internal/state"
	"garuda/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	sessionID = "20260101-120000-abcd"
	secret    = "corp-internal-value"
)

// hasher tells a scripted model's requests.
type hasher struct{}

func (hasher) Hashes(_ context.Context, req *llm.Request) ([]string, error) {
	hash, _, err := script.Hash(req)
	return []string{hash}, err
}

// quick is a clock on which retries do not wait.
type quick struct{ core.Clock }

func (quick) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

type modes struct{}

func (modes) Mode() string         { return tool.ModeBuild }
func (modes) SetMode(string) error { return nil }
func (modes) BeginTurn()           {}

func usage() *core.Usage { return &core.Usage{Input: 100, Output: 10} }

// look is a call whose result the fake pipeline makes of its input.
func look(path string) script.Call { return script.Call{Name: "look", Raw: `{"path":"` + path + `"}`} }

func tools() []llm.ToolSpec {
	return []llm.ToolSpec{{Name: "look", Description: "looks", Schema: []byte(`{"type":"object"}`)}}
}

func registry(t *testing.T) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// record runs a session of these prompts, and returns the folder of its journal.
func record(t *testing.T, limits engine.Limits, prompts []string, steps ...script.Step) string {
	t.Helper()
	root := t.TempDir()
	dir, err := state.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	store := session.NewStore(dir, session.Options{Redactor: redact.New([]string{secret})})
	model, err := script.New(&script.Scenario{Version: script.Version, Name: "test", Steps: steps}, script.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const system = "You are a test."
	journal, err := store.Create(sessionID, &session.Start{
		SessionID: sessionID, Root: root, Version: "test", Model: model.Info().Spec,
		Limits: session.Limits{MaxSteps: limits.MaxSteps, TokenBudget: limits.TokenBudget, ContextWindow: model.Info().ContextWindow},
		Setup:  &session.Setup{System: system, Tools: []string{"look"}, Model: session.SetupOf(model.Info())},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := engine.New(engine.Config{
		ID: sessionID, Model: model, System: system, Tools: tools(), Modes: modes{}, Limits: limits, Clock: quick{core.SystemClock},
		Pipeline: &tool.Pipeline{Registry: registry(t), Env: &tool.Env{Clock: core.SystemClock}, Replay: func(use core.Block) *tool.CallResult {
			return &tool.CallResult{ID: use.ID, Name: use.Name, Result: core.ToolResult(use.ID, false, core.Text("saw "+use.Input))}
		}},
		OpenJournal: func() (engine.Journal, error) { return journal, nil },
	})
	events := s.Subscribe(0)
	defer events.Close()
	for _, p := range prompts {
		s.Submit(engine.Prompt{Text: p})
		for {
			_, e, err := events.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, done := e.(engine.TurnEnded); done {
				break
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, ".garuda", "sessions")
}

func run(t *testing.T, folder string) *replay.Report {
	t.Helper()
	rec, err := session.ReadRecording(filepath.Join(folder, sessionID+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := replay.Run(t.Context(), rec, replay.Options{
		Registry: registry(t),
		Tools:    func(*session.Setup) (on, deferred []llm.ToolSpec, missing string) { return tools(), nil, "" },
		Model: func(_ string, was *session.ModelSetup) (*llm.Info, llmreplay.Hasher, string) {
			return was.Known(), hasher{}, ""
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestReplayIsTheSame(t *testing.T) {
	long := strings.Repeat("word ", 2000)
	for _, tc := range []struct {
		name     string
		limits   engine.Limits
		prompts  []string
		steps    []script.Step
		requests int
		end      string
	}{
		{name: "an answer", prompts: []string{"hi"}, steps: []script.Step{{Text: "Hello.", Usage: usage()}}, requests: 1},
		{name: "calls", prompts: []string{"look", "again"}, requests: 4, steps: []script.Step{
			{Text: "I look.", Calls: []script.Call{look("a"), look("b")}, Usage: usage()}, {Text: "Done.", Usage: usage()},
			{Calls: []script.Call{look("c")}}, {Text: "Done."},
		}},
		{name: "retries", prompts: []string{"hi"}, requests: 1, steps: []script.Step{
			{Error: &script.Failure{Kind: llm.ErrOverloaded, Status: 529}}, {Error: &script.Failure{Kind: llm.ErrRateLimit}}, {Text: "Hello.", Usage: usage()},
		}},
		{name: "an error", prompts: []string{"hi"}, steps: []script.Step{{Error: &script.Failure{Kind: llm.ErrAuth, Status: 401}}}},
		{name: "cut answers", prompts: []string{"hi"}, requests: 2, steps: []script.Step{
			{Text: "Half", Stop: core.StopMaxTokens, Usage: usage()}, {Text: " and half.", Usage: usage()},
		}},
		{name: "an overflow", prompts: []string{"look", "again"}, requests: 8, steps: []script.Step{
			{Calls: []script.Call{look(long)}, Usage: usage()}, {Calls: []script.Call{look("b")}, Usage: usage()}, {Calls: []script.Call{look("c")}, Usage: usage()},
			{Calls: []script.Call{look("d")}, Usage: usage()}, {Calls: []script.Call{look("e")}, Usage: usage()}, {Calls: []script.Call{look("f")}, Usage: usage()},
			{Text: "Done.", Usage: usage()}, {Error: &script.Failure{Kind: llm.ErrContextOverflow}}, {Text: "Done.", Usage: usage()},
		}},
		{name: "steps", limits: engine.Limits{MaxSteps: 2}, prompts: []string{"look"}, requests: 2, steps: []script.Step{
			{Calls: []script.Call{look("a")}, Usage: usage()}, {Calls: []script.Call{look("b")}, Usage: usage()},
		}},
		{name: "circles", prompts: []string{"look"}, requests: 3, steps: []script.Step{
			{Calls: []script.Call{look("a")}}, {Calls: []script.Call{look("a")}}, {Calls: []script.Call{look("a")}},
		}},
		{name: "budget", limits: engine.Limits{TokenBudget: 12_000}, prompts: []string{"look"}, requests: 1, steps: []script.Step{
			{Calls: []script.Call{look("a")}}, {Text: "never asked"},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			report := run(t, record(t, tc.limits, tc.prompts, tc.steps...))
			if report.Verdict != replay.Same || report.Turns != len(tc.prompts) || report.Requests != tc.requests || report.Uncompared != 0 || len(report.Notes) > 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

// TestReplayTellsTheDifference: what was not made by this loop of these requests is
// found, each by the part that differs.
func TestReplayTellsTheDifference(t *testing.T) {
	steps := []script.Step{{Text: "I look.", Calls: []script.Call{look("a")}, Usage: usage()}, {Text: "Done.", Usage: usage()}}
	for name, edit := range map[string]func([]session.Record){
		"request": func(recs []session.Record) { find[*session.Assistant](recs).RequestHash = strings.Repeat("0", 64) },
		"conversation": func(recs []session.Record) {
			find[*session.ToolResults](recs).Message.Blocks[0].Content[0].Text = "saw something else"
		},
		"end":   func(recs []session.Record) { find[*session.End](recs).StopReason = core.EndMaxSteps },
		"steps": func(recs []session.Record) { find[*session.End](recs).Steps = 7 },
		"calls": func(recs []session.Record) { find[*session.ToolResults](recs).Calls[0].Name = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			folder := record(t, engine.Limits{}, []string{"look"}, steps...)
			rewrite(t, folder, edit)
			if report := run(t, folder); report.Verdict != replay.Different || len(report.Differences) == 0 || report.Differences[0].Line == 0 {
				t.Errorf("%+v", report)
			}
		})
	}
}

func find[R session.Record](recs []session.Record) R {
	var none R
	for _, r := range recs {
		if r, ok := r.(R); ok {
			return r
		}
	}
	return none
}

// rewrite writes the journal anew with changed records.
func rewrite(t *testing.T, folder string, edit func([]session.Record)) {
	t.Helper()
	path := filepath.Join(folder, sessionID+".jsonl")
	rec, err := session.ReadRecording(path)
	if err != nil {
		t.Fatal(err)
	}
	var recs []session.Record
	for _, r := range rec.Records {
		recs = append(recs, r.Record)
	}
	edit(recs)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	dir, err := state.Open(filepath.Dir(filepath.Dir(folder)))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	start := find[*session.Start](recs)
	j, err := session.NewStore(dir, session.Options{}).Create(sessionID, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recs[1:] {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReplayOfWhatWasRedacted(t *testing.T) {
	report := run(t, record(t, engine.Limits{}, []string{"my key is " + secret}, script.Step{Text: "I see.", Usage: usage()}))
	if report.Verdict != replay.Redacted || report.Redacted != 1 || report.Requests != 0 || len(report.Notes) == 0 {
		t.Errorf("%+v", report)
	}
}

// TestReplayEndsWhereTheRunWasCut: a journal that breaks off is replayed so far.
func TestReplayEndsWhereTheRunWasCut(t *testing.T) {
	folder := record(t, engine.Limits{}, []string{"look"},
		script.Step{Calls: []script.Call{look("a")}, Usage: usage()}, script.Step{Text: "Done.", Usage: usage()})
	path := filepath.Join(folder, sessionID+".jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(path, []byte(strings.Join(lines[:4], "")+lines[4][:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	report := run(t, folder)
	if report.Verdict != replay.Same || report.Requests != 1 || !strings.Contains(strings.Join(report.Notes, "\n"), "interrupted here") {
		t.Errorf("%+v", report)
	}
}
