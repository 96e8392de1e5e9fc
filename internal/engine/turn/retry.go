package turn

import (
	"fmt"
	"time"

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
// for the first) and how long to wait. jitter is a random number in [0, 1). When
// the answer is no, reason may say why in words a person understands.
func Retry(e *llm.Error, failed int, local bool, jitter float64) (wait time.Duration, again bool, reason string) {
	if !retryable(e, local) {
		return 0, false, ""
	}
	if failed > MaxRetries {
		return 0, false, fmt.Sprintf("gave up after %d tries", failed)
	}
	if e.RetryAfter > maxRetryAfter {
		return 0, false, fmt.Sprintf("the server asks to wait %s; try again then", e.RetryAfter.Round(time.Second))
	}
	wait = firstRetryDelay << (failed - 1)
	wait += time.Duration(float64(wait) * jitter / 2)
	return max(wait, e.RetryAfter), true, ""
}

func retryable(e *llm.Error, local bool) bool {
	switch e.Kind {
	case llm.ErrRateLimit, llm.ErrOverloaded, llm.ErrServer, llm.ErrNetwork, llm.ErrIdle:
		return true
	case llm.ErrRefused:
		return !local
	case llm.ErrProtocol:
		return e.Streaming // a stream that broke in the middle
	case llm.ErrAuth, llm.ErrQuota, llm.ErrContextOverflow, llm.ErrTooLarge, llm.ErrBadRequest:
	}
	return false
}
