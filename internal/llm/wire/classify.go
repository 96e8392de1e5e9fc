package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"garuda/internal/llm"
)

// failure is what a server says went wrong, whatever shape it says it in.
type failure struct {
	status             int
	typ, code, message string
	param              string
	window             int // the server's context in tokens, where it says so
}

// Failure types an error that arrived inside an answer: data is the event or
// document that holds it.
func (r *Reply) Failure(data []byte) error { return r.classify(data, nil) }

func (r *Reply) classify(body []byte, header http.Header) error {
	f := parseFailure(body)
	f.status = r.status
	if f.status >= 200 && f.status < 300 {
		f.status = 0
		if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
			f.status = n // OpenRouter and others put the status inside the stream
		}
	}
	if f.message == "" {
		f.message = strings.TrimSpace(f.typ + " " + f.code)
	}
	if f.message == "" {
		f.message = "no reason given"
		if f.status != 0 {
			f.message = strings.ToLower(http.StatusText(f.status))
		}
	}
	e := r.newError(f.kind(), f.message)
	e.Status = f.status
	e.Block = block(f.param, f.message)
	e.RetryAfter = retryAfter(header, r.client.clock.Now())
	e.Hint = r.hint(e.Kind, f)
	return e
}

// HoldsError reports whether a document or an event without a type is an error:
// it has a member of that name which is not null.
func HoldsError(data []byte) bool {
	var v struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(data, &v) == nil && !isNull(v.Error)
}

// parseFailure reads the shapes in use: {"error":{…}} (Anthropic, OpenAI and most
// others), {"error":"text"} (Ollama, LM Studio), a bare {"message","type","code"}
// (older vLLM), {"detail":…} (FastAPI), {"response":{"error":{…}}} (Responses), and
// plain text or HTML (proxies).
func parseFailure(body []byte) failure {
	var outer struct {
		errorObject
		Error    json.RawMessage `json:"error"`
		Response struct {
			Error json.RawMessage `json:"error"`
		} `json:"response"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return failure{message: plainMessage(body)}
	}
	inner := outer.Error
	if isNull(inner) {
		inner = outer.Response.Error
	}
	if isNull(inner) {
		f := outer.failure()
		if f.message == "" && f.code == "" {
			f.message = excerpt(body)
		}
		return f
	}
	var text string
	if json.Unmarshal(inner, &text) == nil {
		f := outer.failure()
		f.message = text
		return f
	}
	var object errorObject
	if json.Unmarshal(inner, &object) != nil {
		return failure{message: excerpt(inner)}
	}
	return object.failure()
}

// errorObject is the union of what servers put into an error.
type errorObject struct {
	Message  string          `json:"message"`
	Type     string          `json:"type"`
	Code     Number          `json:"code"`
	Param    Number          `json:"param"`
	Detail   json.RawMessage `json:"detail"`
	Window   int             `json:"n_ctx"`
	Metadata struct {
		Raw json.RawMessage `json:"raw"`
	} `json:"metadata"`
}

func (o *errorObject) failure() failure {
	f := failure{typ: o.Type, code: string(o.Code), message: o.Message, param: string(o.Param), window: o.Window}
	if f.message == "" && !isNull(o.Detail) {
		f.message = textOf(o.Detail)
	}
	// OpenRouter says "Provider returned error" and puts the provider's words here.
	if raw := o.Metadata.Raw; !isNull(raw) {
		said := textOf(raw)
		if inner := parseFailure([]byte(said)); inner.message != "" {
			said = inner.message
		}
		f.message = strings.TrimSpace(f.message + ": " + said)
	}
	return f
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// plainMessage makes one line of a body that is not JSON. Of a page only the
// title is of use.
func plainMessage(body []byte) string {
	s := strings.TrimSpace(string(body))
	if s == "" {
		return ""
	}
	lower := strings.ToLower(s)
	if from := strings.Index(lower, "<title>"); from >= 0 {
		if to := strings.Index(lower[from:], "</title>"); to > 0 && len(lower) == len(s) {
			s = s[from+len("<title>") : from+to]
		}
	}
	return excerpt([]byte(s))
}

// kind reads the type first, then what is said, then the status: servers agree
// on none of them.
func (f *failure) kind() llm.ErrorKind {
	said := strings.ToLower(f.message)
	names := strings.ToLower(f.typ + " " + f.code)
	switch {
	case containsAny(names, overflowNames) || containsAny(said, overflowWords):
		return llm.ErrContextOverflow
	case f.status == http.StatusRequestEntityTooLarge || containsAny(names, tooLargeNames) || containsAny(said, tooLargeWords):
		return llm.ErrTooLarge
	case f.status == http.StatusPaymentRequired || containsAny(names, quotaNames) || containsAny(said, quotaWords):
		return llm.ErrQuota
	case containsAny(names, authNames):
		return llm.ErrAuth
	case containsAny(names, rateNames):
		return llm.ErrRateLimit
	case containsAny(names, overloadNames):
		return llm.ErrOverloaded
	}
	if f.status != 0 {
		return kindOfStatus(f.status, said)
	}
	switch {
	case containsAny(names, badNames):
		return llm.ErrBadRequest
	case containsAny(said, []string{"overloaded", "at capacity"}):
		return llm.ErrOverloaded
	case containsAny(said, []string{"rate limit", "too many requests"}):
		return llm.ErrRateLimit
	}
	return llm.ErrServer
}

func kindOfStatus(status int, said string) llm.ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return llm.ErrAuth
	case http.StatusTooManyRequests:
		return llm.ErrRateLimit
	case http.StatusServiceUnavailable, 529: // 529 is Anthropic's "overloaded"
		return llm.ErrOverloaded
	case http.StatusRequestTimeout:
		return llm.ErrNetwork
	case http.StatusConflict: // OpenAI: a lock was held too long; worth another try
		return llm.ErrServer
	}
	if status >= 500 {
		if strings.Contains(said, "overloaded") {
			return llm.ErrOverloaded
		}
		return llm.ErrServer
	}
	return llm.ErrBadRequest
}

// The spellings, lower case. Names are compared with an error's type and code,
// words with its message.
var (
	overflowNames = []string{"context_length_exceeded", "exceed_context_size", "context_window_exceeded", "model_context_window"}
	overflowWords = []string{
		"prompt is too long",                     // Anthropic
		"exceed context limit",                   // Anthropic: input length and `max_tokens` exceed context limit
		"maximum context length",                 // OpenAI, OpenRouter, DeepSeek, vLLM
		"exceeds the context window",             // OpenAI Responses
		"reduce the length of the messages",      // Groq
		"exceeds the available context size",     // llama.cpp
		"context size has been exceeded",         // LM Studio
		"context the overflows",                  // LM Studio (its spelling)
		"context overflows",                      // LM Studio
		"exceeded max context length",            // Ollama
		"input length exceeds",                   // Ollama: the input length exceeds the context length
		"exceeds the context length",             // Ollama
		"longer than the model's context length", // SGLang
		"exceed context window",                  // llama-cpp-python
		"exceeded model token limit",             // Moonshot
		"input is too long for requested model",  // Bedrock
		"exceeds the maximum number of tokens",   // Gemini
		"range of input length should be",        // Qwen
		"larger than the model's context",
	}
	tooLargeNames = []string{"request_too_large"}
	tooLargeWords = []string{"request too large", "request entity too large", "payload too large", "request exceeds the maximum size"}
	quotaNames    = []string{"insufficient_quota", "billing", "insufficient_balance", "insufficient_credits", "payment_required"}
	quotaWords    = []string{
		"credit balance is too low",   // Anthropic
		"exceeded your current quota", // OpenAI
		"insufficient balance",        // DeepSeek
		"insufficient credits",        // OpenRouter
		"requires more credits",       // OpenRouter
		"key limit exceeded",          // OpenRouter
		"api usage limits",            // Anthropic: you have reached your specified API usage limits
		"spending limit", "billing hard limit",
	}
	authNames     = []string{"authentication", "permission", "invalid_api_key", "unauthorized"}
	rateNames     = []string{"rate_limit", "too_many_requests"}
	overloadNames = []string{"overloaded", "unavailable", "slow_down"}
	badNames      = []string{"invalid_request", "badrequest", "bad_request", "not_found", "invalid_prompt", "invalid_image"}
)

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// hint says what the user can do next, where that is known.
func (r *Reply) hint(kind llm.ErrorKind, f failure) string {
	info := r.client.info
	switch kind {
	case llm.ErrAuth:
		if r.client.key == "" {
			return "the server wants a key and none is set"
		}
		if info.KeySource != "" && info.KeySource != "none" {
			return "check the key from " + info.KeySource
		}
	case llm.ErrContextOverflow:
		if info.Local {
			return r.overflowHint(f.window)
		}
	case llm.ErrBadRequest:
		if f.status == http.StatusNotFound {
			return "check the model's name and the base URL"
		}
	}
	return ""
}

// overflowHint names the settings: Garuda's own, so that it compacts in time, and
// the one that makes a local server's context larger.
func (r *Reply) overflowHint(window int) string {
	info := r.client.info
	tokens := "to what the server really has"
	if window > 0 {
		tokens = fmt.Sprintf("to %d", window)
	}
	larger := "the server's own context setting"
	switch info.Provider {
	case "ollama":
		larger = "num_ctx in Ollama (or OLLAMA_CONTEXT_LENGTH)"
	case "llamacpp":
		larger = "--ctx-size of llama-server"
	case "lmstudio":
		larger = "the context length with which LM Studio loads the model"
	case "vllm":
		larger = "--max-model-len of vLLM"
	}
	return fmt.Sprintf("set contextWindow of %q in models.json %s, or raise %s", info.Spec, tokens, larger)
}

// retryAfter reads retry-after-ms (OpenAI, Azure) and Retry-After, in seconds or
// as a date. 0 when the server does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
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
	return 0
}

// duration is n units, at most a year: a server may say anything.
func duration(n float64, unit time.Duration) time.Duration {
	const year = 365 * 24 * time.Hour
	if n >= float64(year)/float64(unit) {
		return year
	}
	return time.Duration(n * float64(unit))
}

// block finds the path of what was refused, such as messages.3.content.0, in an
// error's parameter or message. Numbers may stand in brackets; the path ends at
// its last number.
func block(texts ...string) string {
	for _, s := range texts {
		for _, root := range []string{"messages", "input", "tools"} {
			for from := 0; ; {
				at := strings.Index(s[from:], root)
				if at < 0 {
					break
				}
				at += from
				from = at + len(root)
				if at > 0 && isPath(s[at-1]) {
					continue
				}
				if p := numbered(s[at:], root); p != "" {
					return p
				}
			}
		}
	}
	return ""
}

func isPath(c byte) bool {
	return c == '_' || c == '.' || c == '[' || c == ']' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// numbered cuts the path below root that s starts with behind its last number;
// empty when it has none.
func numbered(s, root string) string {
	end := 0
	for end < len(s) && isPath(s[end]) {
		end++
	}
	parts := strings.FieldsFunc(s[:end], func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	if parts[0] != root {
		return ""
	}
	for n := len(parts); n > 1; n-- {
		if _, err := strconv.Atoi(parts[n-1]); err == nil {
			return strings.Join(parts[:n], ".")
		}
	}
	return ""
}
