package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"garuda/internal/llm"
)

// retryAfter is how long the server asks to wait: by retry-after-ms (OpenAI,
// Azure), Retry-After in seconds or as a date, Google's RetryInfo, the words of
// the message, and for a rate limit the time at which the limit that is used up
// is set anew. 0 when it does not say, a year at most whatever it says.
func (f *failure) retryAfter(kind llm.ErrorKind, h http.Header, now time.Time) time.Duration {
	return min(f.askedWait(kind, h, now), year)
}

func (f *failure) askedWait(kind llm.ErrorKind, h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return duration(ms, time.Millisecond)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return duration(s, time.Second)
	}
	if at, err := http.ParseTime(v); err == nil && at.After(now) {
		return at.Sub(now)
	}
	if d := span(f.retry); d > 0 {
		return d
	}
	said := strings.ToLower(f.message)
	for _, mark := range []string{"try again in ", "retry in ", "retry after ", "try again after "} {
		if _, tail, ok := strings.Cut(said, mark); ok {
			if d := span(tail); d > 0 {
				return d
			}
		}
	}
	if kind != llm.ErrRateLimit {
		return 0 // these headers come with every answer
	}
	all := http.Header{}
	for k, v := range f.limits {
		all.Set(k, v)
	}
	for k, v := range h {
		all[k] = v
	}
	return untilReset(all, now)
}

// buckets are the pairs of headers that say what is left of a limit and when it
// is whole again.
var buckets = [][2]string{
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}, // OpenAI, Azure, Groq
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"}, // OpenRouter
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
}

// untilReset is the longest wait for a limit of which nothing is left. Where no
// server says what is left, it is the longest of all: earlier there is no promise.
func untilReset(h http.Header, now time.Time) time.Duration {
	var empty, longest time.Duration
	told := false
	for _, b := range buckets {
		left, wait := h.Get(b[0]), resetIn(h.Get(b[1]), now)
		told = told || left != ""
		longest = max(longest, wait)
		if n, err := strconv.ParseFloat(left, 64); err == nil && n <= 0 {
			empty = max(empty, wait)
		}
	}
	if told {
		return empty
	}
	return longest
}

// resetIn reads a reset: a span ("6m0s", "7.66s", "20ms", seconds), a time
// (RFC 3339, Anthropic) or a time in seconds or milliseconds since 1970
// (OpenRouter).
func resetIn(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return max(0, at.Sub(now))
	}
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil:
		return span(v)
	case n >= 1e11 && n < 1e15:
		return max(0, time.UnixMilli(int64(n)).Sub(now))
	case n >= 1e9 && n < 1e11:
		return max(0, time.Unix(int64(n), 0).Sub(now))
	case n > 0:
		return duration(n, time.Second)
	}
	return 0
}

// span reads the span of time that s begins with: "1m30.5s", "37s", "26 seconds".
// 0 when there is none.
func span(s string) time.Duration {
	var sum time.Duration
	for {
		s = strings.TrimLeft(s, " ")
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		value, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			return sum
		}
		s = strings.TrimLeft(s[n:], " ")
		n = 0
		for n < len(s) && s[n] >= 'a' && s[n] <= 'z' {
			n++
		}
		unit := unitOf(s[:n])
		if unit == 0 {
			return sum
		}
		sum = min(sum+duration(value, unit), year)
		s = s[n:]
	}
}

func unitOf(s string) time.Duration {
	switch s {
	case "ms", "millisecond", "milliseconds":
		return time.Millisecond
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "h", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	}
	return 0
}

// year bounds every wait: a server may say anything.
const year = 365 * 24 * time.Hour

func duration(n float64, unit time.Duration) time.Duration {
	if n >= float64(year)/float64(unit) {
		return year
	}
	return time.Duration(n * float64(unit))
}
