package turn

import (
	"fmt"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// MaxRetries is how often a failed request is sent again.
const MaxRetries = 3

// maxRetryAfter is the longest wait a server may ask for; beyond it the request
// fails and says the time.
const maxRetryAfter = 60 * time.Second

// firstRetryDelay doubles with each attempt.
const firstRetryDelay = time.Second

// Retry says whether to send the request again after its failed-th failure (1
// for the first) and how long to wait. jitter is a random number in [0, 1); it
// makes the wait longer, never shorter than the server asks. When the answer is
// no, reason may say why in words a person understands.
//
// The caller's own abort is no *llm.Error and never comes here.
func Retry(e *llm.Error, failed int, local bool, jitter float64) (wait time.Duration, again bool, reason string) {
	switch {
	case !retryable(e, local):
		return 0, false, ""
	case e.NoRetry:
		return 0, false, "the server says that trying again is of no use"
	case failed > MaxRetries:
		return 0, false, fmt.Sprintf("gave up after %d tries", failed)
	case e.RetryAfter > maxRetryAfter:
		return 0, false, fmt.Sprintf("the server asks to wait %s; try again then", core.Span(e.RetryAfter))
	}
	backoff := firstRetryDelay << (max(failed, 1) - 1)
	// Clients that were turned away together should not come back together.
	spread := time.Duration(float64(backoff) * jitter / 2)
	return max(backoff, e.RetryAfter) + spread, true, ""
}

// retryable reports whether the same request may succeed later. Of the 4xx these
// are a rate limit (429), a timeout (408), a lock that was held too long (409) and
// a server without room (498 of Groq); package wire types all others as kinds that
// say no.
func retryable(e *llm.Error, local bool) bool {
	switch e.Kind {
	case llm.ErrRateLimit, llm.ErrOverloaded, llm.ErrServer, llm.ErrNetwork, llm.ErrIdle:
		return true
	case llm.ErrRefused:
		return !local
	case llm.ErrProtocol:
		return e.Streaming && !e.NoRetry // a stream that broke in the middle
	case llm.ErrAuth, llm.ErrQuota, llm.ErrContextOverflow, llm.ErrTooLarge, llm.ErrBadRequest:
	}
	return false
}
