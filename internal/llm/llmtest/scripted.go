package llmtest

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"garuda/internal/llm"
	"garuda/internal/testkit/modelserver"
)

// scriptedFault is a fault of the scripted server and what it must be for a client.
type scriptedFault struct {
	modelserver.Fault
	kind llm.ErrorKind
	// streaming: part of the answer was there.
	streaming bool
	wait      time.Duration
	image     bool
	// output: the output limit is refused, and the server says which one it takes.
	output bool
}

func scriptedFaults() []scriptedFault {
	type fault = modelserver.Fault
	return []scriptedFault{
		{Fault: fault{Kind: modelserver.RateLimit, RetryAfter: "2"}, kind: llm.ErrRateLimit, wait: 2 * time.Second},
		{Fault: fault{Kind: modelserver.RateLimit, RetryAfter: "ms:1500"}, kind: llm.ErrRateLimit, wait: 1500 * time.Millisecond},
		{Fault: fault{Kind: modelserver.Overloaded}, kind: llm.ErrOverloaded},
		{Fault: fault{Kind: modelserver.ServerError}, kind: llm.ErrServer},
		{Fault: fault{Kind: modelserver.Auth}, kind: llm.ErrAuth},
		{Fault: fault{Kind: modelserver.Permission}, kind: llm.ErrAuth},
		{Fault: fault{Kind: modelserver.Quota}, kind: llm.ErrQuota},
		{Fault: fault{Kind: modelserver.Payment}, kind: llm.ErrQuota},
		{Fault: fault{Kind: modelserver.TooLarge}, kind: llm.ErrTooLarge},
		{Fault: fault{Kind: modelserver.ContextOverflow}, kind: llm.ErrContextOverflow},
		{Fault: fault{Kind: modelserver.BadRequest}, kind: llm.ErrBadRequest},
		{Fault: fault{Kind: modelserver.NotFound}, kind: llm.ErrBadRequest},
		{Fault: fault{Kind: modelserver.BadImage}, kind: llm.ErrBadRequest, image: true},
		{Fault: fault{Kind: modelserver.Content}, kind: llm.ErrBadRequest},
		{Fault: fault{Kind: modelserver.BadSchema}, kind: llm.ErrBadRequest},
		{Fault: fault{Kind: modelserver.OutputLimit}, kind: llm.ErrBadRequest, output: true},
		{Fault: fault{Kind: modelserver.CallPairs}, kind: llm.ErrBadRequest},
		{Fault: fault{Kind: modelserver.Signature}, kind: llm.ErrBadRequest},
		{Fault: fault{Kind: modelserver.HTML}, kind: llm.ErrProtocol},
		{Fault: fault{Kind: modelserver.Gateway}, kind: llm.ErrServer},
		{Fault: fault{Kind: modelserver.Gateway, Status: 504}, kind: llm.ErrServer},
		{Fault: fault{Kind: modelserver.Gateway, Status: 413}, kind: llm.ErrTooLarge},
		{Fault: fault{Kind: modelserver.Redirect}, kind: llm.ErrProtocol},
		{Fault: fault{Kind: modelserver.Compressed}, kind: llm.ErrProtocol},
		{Fault: fault{Kind: modelserver.Nothing}, kind: llm.ErrNetwork, streaming: true},
		{Fault: fault{Kind: modelserver.Cut}, kind: llm.ErrNetwork},
		{Fault: fault{Kind: modelserver.Cut, After: 2}, kind: llm.ErrNetwork, streaming: true},
		{Fault: fault{Kind: modelserver.Reset}, kind: llm.ErrNetwork},
		{Fault: fault{Kind: modelserver.EndEarly, After: 2}, kind: llm.ErrNetwork, streaming: true},
		{Fault: fault{Kind: modelserver.BadJSON}, kind: llm.ErrProtocol, streaming: true},
		{Fault: fault{Kind: modelserver.ErrorEvent}, kind: llm.ErrOverloaded, streaming: true},
		{Fault: fault{Kind: modelserver.ErrorEvent, Variant: modelserver.RateLimit}, kind: llm.ErrRateLimit, streaming: true},
		{Fault: fault{Kind: modelserver.ErrorEvent, Variant: modelserver.ContextOverflow}, kind: llm.ErrContextOverflow, streaming: true},
	}
}

// testScripted has the client meet every fault of the scripted server; the step
// after it is answered, so nothing of the fault stays behind.
func testScripted(t *testing.T, d Dialect, _ Features) {
	for _, f := range scriptedFaults() {
		t.Run(strings.Trim(f.Kind+" "+f.Variant+" "+f.RetryAfter, " "), func(t *testing.T) {
			m, _ := scripted(t, d, modelserver.Step{Text: "never all of this", Thinking: "hm", Fault: &f.Fault}, modelserver.Step{Text: "well"})
			e := WantError(t, Ask(t.Context(), m, hello()).Err, f.kind)
			if e.OutputLimit != f.output || f.output != (e.MaxOutput > 0) {
				t.Errorf("output limit %v, %d", e.OutputLimit, e.MaxOutput)
			}
			if e.RetryAfter != f.wait && f.wait != 0 || e.Image != f.image || e.Streaming != (f.streaming && d.has(Deltas)) {
				t.Errorf("wait %v, image %v, streaming %v: %+v", e.RetryAfter, e.Image, e.Streaming, e)
			}
			if r := MustAsk(t, m, hello()); r.Text() != "well" {
				t.Errorf("after it: %q", r.Text())
			}
		})
	}
	for _, f := range []modelserver.Fault{{Kind: modelserver.Stall}, {Kind: modelserver.Stall, After: 2}} {
		t.Run("stall", func(t *testing.T) {
			m, srv := scripted(t, d, modelserver.Step{Thinking: "hm", Text: strings.Repeat("never all of this ", 10), Fault: &f})
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_ = srv.WaitStalled(ctx) // it ends when the test does
				cancel()
			}()
			wantAborted(t, f.After, Ask(ctx, m, hello()), context.Canceled)
		})
	}
	t.Run("habits", func(t *testing.T) { testScriptedHabits(t, d) })
}

// testScriptedHabits: the ways in which servers cut an answer into pieces.
func testScriptedHabits(t *testing.T, d Dialect) {
	step := modelserver.Step{Thinking: "hm ü😀", Text: "aü€😀b", Calls: []modelserver.Call{{ID: "c1", Name: "bash", Input: []byte(`{"command":"ü😀"}`)}}}
	for _, w := range []modelserver.Wire{
		{}, {Fragment: 1}, {Fragment: 1, Unit: "byte", Chunk: 1}, {Fragment: 1, Unit: "utf16", Chunk: 3}, {Newline: "crlf", Comments: true}, {Newline: "cr", Multiline: true},
	} {
		step.Wire = &w
		m, _ := scripted(t, d, step)
		r := MustAsk(t, m, hello())
		calls := r.Resp.Message.ToolUses()
		if r.Text() != step.Text || r.Thinking() != step.Thinking || len(calls) != 1 || !strings.Contains(calls[0].Input, "ü😀") {
			t.Errorf("%+v: %q, %q, %+v", w, r.Text(), r.Thinking(), calls)
		}
	}
}

func scripted(t *testing.T, d Dialect, steps ...modelserver.Step) (llm.Model, *modelserver.Server) {
	t.Helper()
	srv := modelserver.Start(t, &modelserver.Scenario{Steps: steps}, modelserver.Options{})
	url := srv.URL()
	if d.Scripted != nil {
		front := httptest.NewServer(d.Scripted(srv))
		t.Cleanup(front.Close)
		url = front.URL
	}
	m, err := d.New(llm.ClientConfig{
		Info:    &llm.Info{Spec: "test/model", Provider: "test", ID: "model", Format: d.Format, Thinks: true, ContextWindow: 100_000},
		BaseURL: url + d.Base, Key: Key,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIdle(m) })
	return m, srv
}
