package turn

import (
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

func TestNext(t *testing.T) {
	for _, tc := range []struct {
		name       string
		stop       core.StopReason
		calls      int
		recoveries int
		action     Action
		end        core.TurnEnd
	}{
		{"answer", core.StopEndTurn, 0, 0, Finish, core.EndDone},
		{"calls", core.StopToolUse, 2, 0, RunCalls, ""},
		{"calls though it says stop", core.StopEndTurn, 1, 0, RunCalls, ""},
		{"says calls but has none", core.StopToolUse, 0, 0, Finish, core.EndDone},
		{"cut", core.StopMaxTokens, 0, 0, Recover, ""},
		{"cut with half a call", core.StopMaxTokens, 1, 2, Recover, ""},
		{"cut once too often", core.StopMaxTokens, 0, 3, Finish, core.EndMaxTokens},
		{"refusal", core.StopRefusal, 0, 0, Finish, core.EndRefusal},
		{"refusal never runs calls", core.StopRefusal, 1, 0, Finish, core.EndRefusal},
		{"pause", core.StopPause, 0, 0, Step, ""},
		{"pause with calls", core.StopPause, 1, 0, RunCalls, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			action, end := Next(tc.stop, tc.calls, tc.recoveries)
			if action != tc.action || end != tc.end {
				t.Errorf("Next = %v, %q; want %v, %q", action, end, tc.action, tc.end)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	for _, tc := range []struct {
		name   string
		err    llm.Error
		failed int
		local  bool
		wait   time.Duration
		again  bool
	}{
		{"first", llm.Error{Kind: llm.ErrOverloaded}, 1, false, time.Second, true},
		{"third", llm.Error{Kind: llm.ErrServer}, 3, false, 4 * time.Second, true},
		{"fourth", llm.Error{Kind: llm.ErrServer}, 4, false, 0, false},
		{"server's wish", llm.Error{Kind: llm.ErrRateLimit, RetryAfter: 30 * time.Second}, 1, false, 30 * time.Second, true},
		{"server's wish too long", llm.Error{Kind: llm.ErrRateLimit, RetryAfter: 61 * time.Second}, 1, false, 0, false},
		{"bad request", llm.Error{Kind: llm.ErrBadRequest}, 1, false, 0, false},
		{"auth", llm.Error{Kind: llm.ErrAuth}, 1, false, 0, false},
		{"quota", llm.Error{Kind: llm.ErrQuota}, 1, false, 0, false},
		{"refused here", llm.Error{Kind: llm.ErrRefused}, 1, true, 0, false},
		{"refused elsewhere", llm.Error{Kind: llm.ErrRefused}, 1, false, time.Second, true},
		{"broken stream", llm.Error{Kind: llm.ErrProtocol, Streaming: true}, 1, false, time.Second, true},
		{"nonsense from the start", llm.Error{Kind: llm.ErrProtocol}, 1, false, 0, false},
		{"idle", llm.Error{Kind: llm.ErrIdle}, 2, false, 2 * time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			wait, again, _ := Retry(&tc.err, tc.failed, tc.local, 0)
			if wait != tc.wait || again != tc.again {
				t.Errorf("Retry = %v, %v; want %v, %v", wait, again, tc.wait, tc.again)
			}
		})
	}
	if wait, _, _ := Retry(&llm.Error{Kind: llm.ErrServer}, 1, false, 0.999); wait < time.Second || wait > 1500*time.Millisecond {
		t.Errorf("jitter gives %v, want within half of the delay", wait)
	}
}

func TestRepeats(t *testing.T) {
	call := func(in string) []core.Block { return []core.Block{{Type: core.BlockToolUse, Name: "bash", Input: in}} }
	result := func(s string) []core.Block { return []core.Block{core.ToolResult("x", false, core.Text(s))} }
	var r Repeats
	steps := []struct {
		call, result string
		stop         bool
	}{
		{`{"a":1,"b":2}`, "one", false},
		{`{"b": 2, "a": 1}`, "one", false},
		{`{"a":1,"b":2}`, "other", false},
		{`{"a":1,"b":2}`, "other", false},
		{`{"a":1,"b":2}`, "other", true},
	}
	for i, s := range steps {
		if got := r.Step(call(s.call), result(s.result)); got != s.stop {
			t.Errorf("step %d: stop = %v, want %v", i, got, s.stop)
		}
	}
	r.Allowed()
	if r.Step(call("{}"), result("x")) {
		t.Error("a yes did not start the count anew")
	}
	s := Sign("bash", `{"command":"ls"}`)
	for want := range 3 {
		if got := r.Before(s); got != want {
			t.Errorf("Before = %d, want %d", got, want)
		}
	}
}

func TestEstimator(t *testing.T) {
	var e Estimator
	if got := e.Tokens(400); got != 100 {
		t.Errorf("first estimate %d, want 100", got)
	}
	e.Measured(400, 200)
	if got := e.Tokens(400); got != 200 {
		t.Errorf("corrected estimate %d, want 200", got)
	}
	e.Measured(300, 1)
	if got := e.Tokens(400); got != 40 {
		t.Errorf("an odd report gives %d, want the bound 40", got)
	}
}

// TestEstimatorOfACuttingServer: a server that cuts what is longer than its context
// counts no more than that, and must not make every later estimate too small.
func TestEstimatorOfACuttingServer(t *testing.T) {
	const context = 4096
	var e Estimator
	for bytes := 8_000; bytes < 400_000; bytes += 8_000 {
		e.Measured(bytes, min(bytes/4, context))
		if got, real := e.Tokens(bytes), bytes/4; got < real*9/10 {
			t.Fatalf("%d tokens are taken for %d", real, got)
		}
	}
	e.Measured(8_000, 1_000) // a conversation that was made smaller is measured anew
	if got := e.Tokens(8_000); got != 1_000 {
		t.Errorf("%d", got)
	}
}
