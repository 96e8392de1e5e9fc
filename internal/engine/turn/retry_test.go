package turn

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/llm"
)

var kinds = []llm.ErrorKind{
	llm.ErrAuth, llm.ErrQuota, llm.ErrRateLimit, llm.ErrOverloaded, llm.ErrContextOverflow, llm.ErrTooLarge, llm.ErrBadRequest,
	llm.ErrRefused, llm.ErrNetwork, llm.ErrIdle, llm.ErrProtocol, llm.ErrServer,
}

func anyError(t *rapid.T) *llm.Error {
	return &llm.Error{
		Kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
		RetryAfter: time.Duration(rapid.Int64Range(0, int64(2*time.Minute)).Draw(t, "retryAfter")),
		NoRetry:    rapid.Bool().Draw(t, "noRetry"),
		Streaming:  rapid.Bool().Draw(t, "streaming"),
	}
}

// TestRetryProperties: what page 01 says of retries, for every error.
func TestRetryProperties(t *testing.T) {
	never := []llm.ErrorKind{llm.ErrAuth, llm.ErrQuota, llm.ErrContextOverflow, llm.ErrTooLarge, llm.ErrBadRequest}
	rapid.Check(t, func(t *rapid.T) {
		e, local := anyError(t), rapid.Bool().Draw(t, "local")
		jitter := rapid.Float64Range(0, 0.999).Draw(t, "jitter")
		sent, last := 0, time.Duration(0)
		for failed := 1; ; failed++ {
			wait, again, reason := Retry(e, failed, local, jitter)
			if !again {
				if wait != 0 {
					t.Fatalf("no retry, and yet a wait of %v", wait)
				}
				if e.RetryAfter > maxRetryAfter && retryable(e, local) && !e.NoRetry && !strings.Contains(reason, core.Span(e.RetryAfter)) {
					t.Fatalf("%q does not say the time %v", reason, e.RetryAfter)
				}
				break
			}
			sent++
			if reason != "" || wait < e.RetryAfter || wait < last || wait > max(e.RetryAfter, 4*time.Second)+2*time.Second {
				t.Fatalf("after failure %d: wait %v after %v, asked for %v, reason %q", failed, wait, last, e.RetryAfter, reason)
			}
			last = wait
		}
		may := !slices.Contains(never, e.Kind) && !e.NoRetry && e.RetryAfter <= maxRetryAfter &&
			(e.Kind != llm.ErrRefused || !local) && (e.Kind != llm.ErrProtocol || e.Streaming)
		if may && sent != MaxRetries || !may && sent != 0 {
			t.Fatalf("%+v (local %v) was sent again %d times", e, local, sent)
		}
	})
}

func TestRetrySpreads(t *testing.T) {
	e := &llm.Error{Kind: llm.ErrRateLimit, RetryAfter: 30 * time.Second}
	low, _, _ := Retry(e, 1, false, 0)
	high, _, _ := Retry(e, 1, false, 0.999)
	if low != e.RetryAfter || high <= low || high > low+time.Second {
		t.Errorf("waits from %v to %v", low, high)
	}
}

func TestRetryReasons(t *testing.T) {
	for want, e := range map[string]*llm.Error{
		"wait 1m15s": {Kind: llm.ErrRateLimit, RetryAfter: 75 * time.Second},
		"of no use":  {Kind: llm.ErrOverloaded, NoRetry: true},
		"":           {Kind: llm.ErrQuota, RetryAfter: 75 * time.Second},
	} {
		if _, again, reason := Retry(e, 1, false, 0); again || !strings.Contains(reason, want) || want == "" && reason != "" {
			t.Errorf("%+v: %v, %q, want %q", e, again, reason, want)
		}
	}
	if _, again, reason := Retry(&llm.Error{Kind: llm.ErrServer}, MaxRetries+1, false, 0); again || reason != "gave up after 4 tries" {
		t.Errorf("%v, %q", again, reason)
	}
}
