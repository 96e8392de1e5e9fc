package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model answers each request with the next function.
type model struct {
	mu      sync.Mutex
	answers []func(ctx context.Context, emit func(llm.Event)) (*llm.Response, error)
}

func (*model) Info() *llm.Info { return &llm.Info{Spec: "fake/m", ID: "m"} }

func (m *model) Stream(ctx context.Context, _ *llm.Request, emit func(llm.Event)) (*llm.Response, error) {
	m.mu.Lock()
	next := m.answers[0]
	m.answers = m.answers[1:]
	m.mu.Unlock()
	return next(ctx, emit)
}

func (m *model) says(texts ...string) *model {
	for _, text := range texts {
		m.answers = append(m.answers, func(_ context.Context, emit func(llm.Event)) (*llm.Response, error) {
			emit(llm.ThinkingDelta{Text: "hm"})
			for _, word := range strings.SplitAfter(text, " ") {
				emit(llm.TextDelta{Text: word})
			}
			return &llm.Response{Stop: core.StopEndTurn, RawStop: "stop", UsageReported: true,
				Message: &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text(text)}}}, nil
		})
	}
	return m
}

// hangs answers when its context ends, and closes started before.
func (m *model) hangs(started chan<- struct{}) *model {
	m.answers = append(m.answers, func(ctx context.Context, emit func(llm.Event)) (*llm.Response, error) {
		emit(llm.TextDelta{Text: "so far"})
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return m
}

type modes struct{}

func (modes) Mode() string         { return "build" }
func (modes) SetMode(string) error { return nil }
func (modes) BeginTurn()           {}

func newSession(t *testing.T, m *model) *engine.Session {
	t.Helper()
	registry, err := tool.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	s := engine.New(engine.Config{ID: "20260101-000000-abcd", Model: m, Modes: modes{},
		Pipeline:    &tool.Pipeline{Registry: registry, Env: &tool.Env{Clock: core.SystemClock}},
		OpenJournal: func() (engine.Journal, error) { return session.Memory("20260101-000000-abcd"), nil }})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func prompts(texts ...string) <-chan engine.Prompt {
	c := make(chan engine.Prompt, len(texts))
	for _, text := range texts {
		c <- engine.Prompt{Text: text}
	}
	close(c)
	return c
}

// kinds are the lines' types, and what says more about them.
func kinds(t *testing.T, out string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(out) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if o["session_id"] == nil || o["uuid"] == nil {
			t.Errorf("a line without session_id or uuid: %s", line)
		}
		kind, _ := o["type"].(string)
		for _, key := range []string{"subtype", "terminal_reason"} {
			if s, ok := o[key].(string); ok {
				kind += "/" + s
			}
		}
		if event, ok := o["event"].(map[string]any); ok {
			kind += "/" + event["type"].(string)
		}
		all = append(all, kind)
	}
	return all
}

func TestStream(t *testing.T) {
	var out, errs bytes.Buffer
	code, err := Run(t.Context(), newSession(t, (&model{}).says("one more", "two")), Options{
		Format: StreamJSON, Partial: true, Stdout: &out, Stderr: &errs, Prompts: prompts("a", "b")})
	if code != 0 || err != nil || errs.Len() > 0 {
		t.Errorf("code %d, %v, %s", code, err, errs.String())
	}
	var got []string
	for _, kind := range kinds(t, out.String()) {
		if kind != "stream_event/content_block_delta" { // as many as the reader was quick
			got = append(got, kind)
		}
	}
	block := []string{"stream_event/content_block_start", "stream_event/content_block_stop"}
	turn := append(append(append([]string{}, block...), block...), "assistant", "result/success/completed")
	if diff := cmp.Diff(append(append([]string{"system/init"}, turn...), turn...), got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestInterrupted(t *testing.T) {
	for _, tc := range []struct {
		name   string
		format Format
		// prompts are sent before the interrupt; open leaves their channel open.
		prompts []string
		open    bool
		hangs   bool
		want    []string
	}{
		{"a turn", JSON, []string{"a"}, false, true, []string{"result/error_during_execution/interrupted"}},
		{"what waits is dropped", JSON, []string{"a", "b", "c"}, false, true, []string{"result/error_during_execution/interrupted"}},
		{"before there was a message", StreamJSON, nil, true, false, []string{"system/init", "result/error_during_execution/interrupted"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, started, stop := &model{}, make(chan struct{}), make(chan struct{})
			if tc.hangs {
				m.hangs(started)
			} else {
				close(started)
			}
			in := make(chan engine.Prompt)
			go func() {
				for _, text := range tc.prompts {
					in <- engine.Prompt{Text: text}
				}
				if !tc.open {
					close(in)
				}
				<-started
				close(stop)
			}()
			var out bytes.Buffer
			code, err := Run(t.Context(), newSession(t, m), Options{
				Format: tc.format, Stdout: &out, Stderr: io.Discard, Prompts: in, Interrupted: stop})
			if code != 130 || err != nil {
				t.Errorf("code %d, %v", code, err)
			}
			if diff := cmp.Diff(tc.want, kinds(t, out.String())); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// An interrupt after the last turn's end changes nothing: its result is told.
func TestInterruptedTooLate(t *testing.T) {
	stop := make(chan struct{})
	var out bytes.Buffer
	first := writerFunc(func(p []byte) (int, error) {
		select {
		case <-stop:
		default:
			close(stop) // while the result is written
		}
		return out.Write(p)
	})
	code, err := Run(t.Context(), newSession(t, (&model{}).says("done")), Options{
		Format: JSON, Stdout: first, Stderr: io.Discard, Prompts: prompts("a"), Interrupted: stop})
	if code != 0 || err != nil || !strings.Contains(out.String(), `"terminal_reason":"completed"`) {
		t.Errorf("code %d, %v: %s", code, err, out.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestBadInputHasAResult(t *testing.T) {
	bad := errors.New("line 2: not a JSON object")
	var out bytes.Buffer
	code, err := Run(t.Context(), newSession(t, (&model{}).says("one")), Options{
		Format: StreamJSON, Stdout: &out, Stderr: io.Discard, Prompts: prompts("a"), PromptErr: func() error { return bad }})
	if code != 3 || !errors.Is(err, bad) {
		t.Errorf("code %d, %v", code, err)
	}
	want := []string{"system/init", "assistant", "result/success/completed", "result/error_during_execution/error"}
	if diff := cmp.Diff(want, kinds(t, out.String())); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if !strings.Contains(out.String(), bad.Error()) {
		t.Error("the last line does not say what was wrong")
	}
}

// The session goes on while nobody reads, and an interrupt gets through.
func TestSlowReader(t *testing.T) {
	started, stop, read := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := newSession(t, (&model{}).says("a long text").hangs(started))
	out := &bytes.Buffer{}
	slow := writerFunc(func(p []byte) (int, error) {
		<-read
		return out.Write(p)
	})
	go func() {
		<-started // the second turn runs while the first line is not written yet
		close(stop)
		for s.Busy() {
		}
		close(read)
	}()
	code, err := Run(t.Context(), s, Options{
		Format: Text, Stdout: slow, Stderr: io.Discard, Prompts: prompts("a", "b"), Interrupted: stop})
	if code != 130 || err != nil || !strings.HasPrefix(out.String(), "a long text\n") {
		t.Errorf("code %d, %v: %q", code, err, out.String())
	}
}

func TestFailingOutputEndsTheRun(t *testing.T) {
	full := errors.New("no space left on device")
	for _, format := range []Format{Text, JSON, StreamJSON} {
		code, err := Run(t.Context(), newSession(t, (&model{}).says("one")), Options{
			Format: format, Stdout: writerFunc(func([]byte) (int, error) { return 0, full }), Stderr: io.Discard, Prompts: prompts("a")})
		if code != 1 || !errors.Is(err, full) {
			t.Errorf("%s: code %d, %v", format, code, err)
		}
	}
}

// A terminal is told nothing by what a model writes; a pipe gets it as it is.
func TestTextForTerminals(t *testing.T) {
	const text = "red \x1b[31mtext"
	for terminal, want := range map[bool]string{true: "red ␛[31mtext\n", false: text + "\n"} {
		var out bytes.Buffer
		if _, err := Run(t.Context(), newSession(t, (&model{}).says(text)), Options{
			Format: Text, Stdout: &out, Stderr: io.Discard, Prompts: prompts("a"), Terminal: terminal}); err != nil || out.String() != want {
			t.Errorf("terminal %v: %q, %v", terminal, out.String(), err)
		}
	}
}

// How a run ended is told in the same way wherever it is told.
func TestEndings(t *testing.T) {
	for end, want := range map[core.TurnEnd]string{
		core.EndDone: "success completed 0", core.EndMaxSteps: "error_max_turns max_turns 2",
		core.EndTokenBudget: "error_max_budget_usd budget_exhausted 2", core.EndSpend: "error_max_budget_usd spend_exhausted 2",
		core.EndRepeatedCalls: "error_during_execution repeated_calls 2", core.EndMaxTokens: "success max_tokens 2",
		core.EndRefusal: "success refusal 2", core.EndTimeout: "error_during_execution timeout 2",
		core.EndInterrupted: "error_during_execution interrupted 130", core.EndError: "error_during_execution error 1",
	} {
		r := &engine.TurnResult{End: end}
		line := resultLine(r, &llm.Info{Spec: "fake/m"})
		got := line["subtype"].(string) + " " + line["terminal_reason"].(string) + " " + strconv.Itoa(exitCode(r))
		if got != want || line["is_error"] != (end != core.EndDone) {
			t.Errorf("%s: %s (is_error %v), want %s", end, got, line["is_error"], want)
		}
	}
	r := &engine.TurnResult{End: core.EndDone, JournalErr: errors.New("disk full")}
	if line := resultLine(r, &llm.Info{}); line["is_error"] != true || exitCode(r) != 1 {
		t.Errorf("a session that was not kept ends as a success: %v", line)
	}
	r = &engine.TurnResult{Session: engine.Totals{Usage: core.Usage{Unreported: 7}}}
	if line := resultLine(r, &llm.Info{}); line["unreported_tokens"] != 7 {
		t.Errorf("unreported tokens of earlier turns are not told beside the session's cost: %v", line)
	}
}
