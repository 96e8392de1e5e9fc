package modelserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Faults. The first group is an HTTP error in place of the answer; the second
// breaks the answer after Fault.After events.
const (
	RateLimit       = "rate_limit"       // 429
	Overloaded      = "overloaded"       // 529 from Anthropic, 503 from others
	ServerError     = "server_error"     // 500
	Auth            = "auth"             // 401
	Quota           = "quota"            // 400 from Anthropic, 429 insufficient_quota from OpenAI
	Payment         = "payment"          // 402
	TooLarge        = "too_large"        // 413
	ContextOverflow = "context_overflow" // 400 in the words of the API or of Fault.Variant
	BadRequest      = "bad_request"      // 400 that names a block
	NotFound        = "not_found"        // 404, no such model
	NeedsResponses  = "needs_responses"  // 404, a model that Chat Completions does not serve
	HTML            = "html"             // 200 with a page, as a captive portal does

	Cut        = "cut"         // the connection ends in the middle
	EndEarly   = "end_early"   // the response ends well, but without its last events
	Reset      = "reset"       // the connection is reset
	Stall      = "stall"       // nothing more comes until Release, or the client leaves
	BadJSON    = "bad_json"    // an event that is no JSON; then the rest
	ErrorEvent = "error_event" // an error within the stream, in the words of Fault.Variant
)

var faultKinds = []string{RateLimit, Overloaded, ServerError, Auth, Quota, Payment, TooLarge, ContextOverflow, BadRequest,
	NotFound, NeedsResponses, HTML, Permission, BadImage, Content, BadSchema, OutputLimit, CallPairs, Signature,
	Gateway, Redirect, Compressed, Nothing, HeadersOnly, Cut, EndEarly, Reset, Stall, BadJSON, ErrorEvent}

// Fault is what goes wrong with a step.
type Fault struct {
	Kind string `json:"kind"`
	// After is how many events are sent first. With 0, Cut, Reset and Stall come
	// before the response's headers.
	After int `json:"after,omitempty"`
	// Status replaces the HTTP status of the first group.
	Status int `json:"status,omitempty"`
	// RetryAfter is the header as it is ("2"), "date:3s" for that time from now as
	// an HTTP date, "ms:1500" for the header retry-after-ms, or "reset:3s" for the
	// headers that say when a limit that is used up is whole again.
	RetryAfter string `json:"retryAfter,omitempty"`
	// NoRetry sends the header by which Anthropic and OpenAI say that trying again
	// is of no use.
	NoRetry bool `json:"noRetry,omitempty"`
	// Message replaces the server's words.
	Message string `json:"message,omitempty"`
	// Variant is whose words a ContextOverflow has: llamacpp, vllm, lmstudio,
	// openrouter, anthropic_output; or which error an ErrorEvent is: overloaded
	// (default), server_error, rate_limit.
	Variant string `json:"variant,omitempty"`
}

// http reports whether the fault takes the place of the answer.
func (f *Fault) http() bool {
	switch f.Kind {
	case Cut, EndEarly, Reset, Stall, BadJSON, ErrorEvent:
		return false
	}
	return true
}

// words are one API's way to say an error.
type words struct {
	status     int
	typ        string
	code       any
	message    string
	extra      map[string]any
	topMessage bool
}

var anthropicWords = map[string]words{
	RateLimit:       {429, "rate_limit_error", nil, "This request would exceed your account's rate limit.", nil, false},
	Overloaded:      {529, "overloaded_error", nil, "Overloaded", nil, false},
	ServerError:     {500, "api_error", nil, "Internal server error", nil, false},
	Auth:            {401, "authentication_error", nil, "invalid x-api-key", nil, false},
	Quota:           {400, "invalid_request_error", nil, "Your credit balance is too low to access the Anthropic API.", nil, false},
	Payment:         {402, "billing_error", nil, "There is a problem with your billing.", nil, false},
	TooLarge:        {413, "request_too_large", nil, "Request exceeds the maximum size", nil, false},
	ContextOverflow: {400, "invalid_request_error", nil, "prompt is too long: 205312 tokens > 200000 maximum", nil, false},
	BadRequest:      {400, "invalid_request_error", nil, "messages.1.content.0: text content blocks must be non-empty", nil, false},
	NotFound:        {404, "not_found_error", nil, "model: scripted", nil, false},
	NeedsResponses:  {404, "not_found_error", nil, "not found", nil, false},
}

var openAIWords = map[string]words{
	RateLimit:   {429, "requests", "rate_limit_exceeded", "Rate limit reached for requests.", nil, false},
	Overloaded:  {503, "server_error", "server_is_overloaded", "The engine is currently overloaded, please try again later", nil, false},
	ServerError: {500, "server_error", nil, "The server had an error while processing your request.", nil, false},
	Auth:        {401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided.", nil, false},
	Quota:       {429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.", nil, false},
	Payment:     {402, "invalid_request_error", 402, "Insufficient credits. Add more to continue.", nil, false},
	TooLarge:    {413, "invalid_request_error", nil, "Request body too large", nil, false},
	ContextOverflow: {400, "invalid_request_error", "context_length_exceeded",
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9011 tokens.", nil, false},
	BadRequest: {400, "invalid_request_error", "invalid_value", "Invalid value for 'messages[1].content'.", map[string]any{"param": "messages[1].content"}, false},
	NotFound:   {404, "invalid_request_error", "model_not_found", "The model `scripted` does not exist or you do not have access to it.", nil, false},
	NeedsResponses: {404, "invalid_request_error", nil, "This model is only supported in v1/responses and not in v1/chat/completions.",
		map[string]any{"param": "model"}, false},
}

// overflowWords are other servers' ways to say that the context is full.
var overflowWords = map[string]words{
	"llamacpp": {400, "exceed_context_size_error", 400, "the request exceeds the available context size (4096 tokens), try increasing it",
		map[string]any{"n_prompt_tokens": 5000, "n_ctx": 4096}, false},
	"vllm": {400, "BadRequestError", 400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3976 in the messages, 1024 in the completion). Please reduce the length of the messages or completion.",
		map[string]any{"object": "error"}, true},
	"lmstudio":         {400, "", nil, "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.", nil, false},
	"openrouter":       {400, "", 400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens. Please reduce the length of either one.", nil, false},
	"anthropic_output": {400, "invalid_request_error", nil, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again", nil, false},
}

func (f *Fault) words(format string) words {
	table := openAIWords
	switch format {
	case "anthropic":
		table = anthropicWords
	case "gemini":
		table = geminiWords
	}
	w := table[f.Kind]
	if v, ok := refusal(f.Kind, format); ok {
		w = v
	}
	if f.Kind == ErrorEvent {
		w = table[Overloaded]
		if v, ok := table[f.Variant]; ok {
			w = v
		}
	}
	if v, ok := overflowWords[f.Variant]; ok && f.Kind == ContextOverflow {
		w = v
	}
	if f.Status != 0 {
		w.status = f.Status
	}
	if f.Message != "" {
		w.message = f.Message
	}
	return w
}

// body is the error as the format's JSON.
func (w words) body(format string) any {
	e := map[string]any{"message": w.message}
	if format == "gemini" {
		e["code"], e["status"] = w.status, w.typ
		maps.Copy(e, w.extra)
		return map[string]any{"error": e}
	}
	if w.typ != "" {
		e["type"] = w.typ
	}
	maps.Copy(e, w.extra)
	if format == "anthropic" {
		return map[string]any{"type": "error", "error": e, "request_id": "req_scripted"}
	}
	e["code"] = w.code
	if w.topMessage {
		return e // old vLLM
	}
	return map[string]any{"error": e}
}

// respond writes the HTTP error.
func (f *Fault) respond(w http.ResponseWriter, format string) (status int) {
	switch kind, value, _ := strings.Cut(f.RetryAfter, ":"); {
	case f.RetryAfter == "":
	case kind == "date":
		// Rounded up: a date has whole seconds, and none must be asked for too early.
		d, err := time.ParseDuration(value)
		if err != nil {
			d = 0
		}
		at := time.Now().Add(d + time.Second - 1).UTC().Truncate(time.Second)
		w.Header().Set("Retry-After", at.Format(http.TimeFormat))
	case kind == "reset":
		d, err := time.ParseDuration(value)
		if err != nil {
			d = 0
		}
		w.Header().Set("X-Ratelimit-Remaining-Tokens", "0")
		w.Header().Set("X-Ratelimit-Reset-Tokens", d.String())
		w.Header().Set("Anthropic-Ratelimit-Tokens-Remaining", "0")
		w.Header().Set("Anthropic-Ratelimit-Tokens-Reset", time.Now().Add(d).UTC().Format(time.RFC3339))
	case kind == "ms":
		w.Header().Set("Retry-After-Ms", value)
	default:
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.NoRetry {
		w.Header().Set("X-Should-Retry", "false")
	}
	if f.Kind == HTML {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html><html><title>Sign in</title><body>Please sign in to the network.</body></html>")
		return http.StatusOK
	}
	say := f.words(format)
	return writeJSON(w, say.status, say.body(format))
}

func writeJSON(w http.ResponseWriter, status int, v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data) // a client that left is recorded as gone
	return status
}
