package gemini

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dialect = llmtest.Dialect{
	Format: Format, New: New, Path: "/v1beta/models/model:streamGenerateContent",
	KeyHeader:  "X-Goog-Api-Key",
	Frames:     frames,
	ErrorFrame: llmtest.Data(`{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`),
	Refusals:   refusals,
	Stops: map[string]core.StopReason{
		"STOP": core.StopEndTurn, "MAX_TOKENS": core.StopMaxTokens, "CONTINUATION": core.StopMaxTokens,
		"SAFETY": core.StopRefusal, "RECITATION": core.StopRefusal, "BLOCKLIST": core.StopRefusal, "PROHIBITED_CONTENT": core.StopRefusal,
		"SPII": core.StopRefusal, "LANGUAGE": core.StopRefusal, "IMAGE_SAFETY": core.StopRefusal,
		"OTHER": core.StopOther, "TOO_MANY_TOOL_CALLS": core.StopOther, "SOMETHING_NEW": core.StopOther,
	},
	System: "systemInstruction", List: "contents",
}

func TestConformance(t *testing.T) { llmtest.Run(t, dialect) }

// event renders one chunk; parts are JSON, rest is what stands beside the content.
func event(rest string, parts ...string) string {
	return llmtest.Data(fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],"usageMetadata":{"promptTokenCount":9},"modelVersion":"gemini-x","responseId":"r1"}`,
		strings.Join(parts, ","), rest))
}

func last(reason string, u core.Usage, parts ...string) string {
	return llmtest.Data(fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"},"finishReason":%q,"index":0}],"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d,"totalTokenCount":1},"modelVersion":"gemini-x","responseId":"r1"}`,
		strings.Join(parts, ","), reason, u.Input+u.CacheRead, u.CacheRead, u.Output-u.Thinking, u.Thinking))
}

// frames speaks as the API does: text in pieces, each call whole in a chunk of its
// own, a signature on the first call, or in a part at the end where there is none.
func frames(r llmtest.Reply) []string {
	q := llmtest.Quote
	var out []string
	for _, s := range r.Thinking {
		out = append(out, event("", `{"text":`+q(s)+`,"thought":true}`))
	}
	for _, s := range r.Text {
		out = append(out, event("", `{"text":`+q(s)+`}`))
	}
	sig := ""
	if r.Signature != "" {
		sig = `,"thoughtSignature":` + q(r.Signature)
	}
	for i, c := range r.Calls {
		args := strings.Join(c.Args, "")
		if args == "" {
			args = "{}"
		}
		if !json.Valid([]byte(args)) {
			args = q(args)
		}
		part := `{"functionCall":{"id":` + q(c.ID) + `,"name":` + q(c.Name) + `,"args":` + args + `}`
		if i == 0 {
			part += sig
		}
		out = append(out, event("", part+"}"))
	}
	stop, end := r.RawStop, `{"text":""}`
	if stop == "" {
		stop = "STOP"
	}
	if len(r.Calls) == 0 && sig != "" {
		end = `{"text":""` + sig + `}`
	}
	return append(out, last(stop, r.Usage, end))
}

func refused(status int, name, message, details string) string {
	if details != "" {
		details = `,"details":[` + details + `]`
	}
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%q%s}}`, status, llmtest.Quote(message), name, details)
}

const (
	keyInvalid = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`
	perMinute  = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}`
	perDay     = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}`
	overQuota  = "You exceeded your current quota, please check your plan and billing details."
)

var refusals = []llmtest.Refusal{
	{Name: "key", Status: 400, Body: refused(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", keyInvalid), Kind: llm.ErrAuth},
	{Name: "permission", Status: 403, Body: refused(403, "PERMISSION_DENIED", "Permission denied on resource project.", ""), Kind: llm.ErrAuth},
	{Name: "no key", Status: 401, Body: refused(401, "UNAUTHENTICATED", "Request is missing required authentication credential.", ""), Kind: llm.ErrAuth},
	{Name: "a minute's quota", Status: 429, Body: refused(429, "RESOURCE_EXHAUSTED", overQuota, perMinute), Kind: llm.ErrRateLimit},
	{Name: "a day's quota", Status: 429, Body: refused(429, "RESOURCE_EXHAUSTED", overQuota, perDay), Kind: llm.ErrQuota},
	{Name: "busy", Status: 429, Body: refused(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.", ""), Kind: llm.ErrRateLimit},
	{Name: "overloaded", Status: 503, Body: refused(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", ""), Kind: llm.ErrOverloaded},
	{Name: "tokens", Status: 400, Body: refused(400, "INVALID_ARGUMENT", "The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).", ""), Kind: llm.ErrContextOverflow},
	{Name: "in a list", Status: 400, Body: "[" + refused(400, "INVALID_ARGUMENT", "The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).", "") + "\n]", Kind: llm.ErrContextOverflow},
	{Name: "large", Status: 400, Body: refused(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", ""), Kind: llm.ErrTooLarge},
	{Name: "signature", Status: 400, Body: refused(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts.", ""), Kind: llm.ErrBadRequest},
	{Name: "model", Status: 404, Body: refused(404, "NOT_FOUND", "models/gemini-x is not found for API version v1beta, or is not supported for generateContent.", ""), Kind: llm.ErrBadRequest, Hint: "model's name"},
	{Name: "server", Status: 500, Body: refused(500, "INTERNAL", "An internal error has occurred. Please retry.", ""), Kind: llm.ErrServer},
	{Name: "too slow", Status: 504, Body: refused(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", ""), Kind: llm.ErrServer},
}

func hello() *llm.Request { return llmtest.Request(core.UserText("hello")) }

func plain() []string { return frames(llmtest.Reply{Text: []string{"ok"}}) }

// as sets the model's id.
func as(id string) func(*llm.ClientConfig) {
	return func(c *llm.ClientConfig) {
		info := *c.Info
		info.ID = id
		c.Info = &info
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(event(`,"groundingMetadata":{"webSearchQueries":["q"],"groundingChunks":[{"web":{"title":"t"}}]}`, `{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["a"]}}}`, `{"text":"x","thoughtSignature":"cw=="}`) + last("STOP", core.Usage{}))
	f.Add(event("", `{"inlineData":{"mimeType":"image/png","data":"eA=="}}`, `{"text":"x","thought":true,"thoughtSignature":"cw=="}`, `{"functionCall":{"name":"f"}}`) + last("MALFORMED_FUNCTION_CALL", core.Usage{}))
	f.Add(llmtest.Data(`{"promptFeedback":{"blockReason":"SAFETY"}}`))
	llmtest.FuzzStream(f, dialect, func(r *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
		return decode(r, familyOf("gemini-3-pro"), emit)
	})
}

func BenchmarkStep(b *testing.B) { llmtest.BenchmarkStep(b, dialect) }
