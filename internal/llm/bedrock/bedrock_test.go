package bedrock

import (
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic/anthropictest"
	"garuda/internal/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dialect has the suite's servers send the events of the Messages API, which
// framed puts into Amazon's framing on their way in.
var dialect = llmtest.Dialect{
	Format: "anthropic", Path: "/invoke-with-response-stream",
	New: func(cfg llm.ClientConfig) (llm.Model, error) {
		if cfg.BaseURL == "" {
			cfg.BaseURL = "none" // an empty one means the region's own
		}
		creds := Credentials{Region: "us-east-1", Bearer: cfg.Key, AccessKey: "AKIAEXAMPLE", SecretKey: "a-secret-access-key"}
		return newAt(cfg, creds, framed)
	},
	KeyHeader: "Authorization", KeyPrefix: "Bearer ",
	Frames: frames, Spare: 1,
	ErrorFrame: llmtest.Event(exceptionMark+"serviceUnavailableException", `{"message":"try later"}`),
	Refusals:   refusals,
	Stops: map[string]core.StopReason{
		"end_turn": core.StopEndTurn, "max_tokens": core.StopMaxTokens, "refusal": core.StopRefusal,
		"model_context_window_exceeded": core.StopMaxTokens, "tool_use": core.StopEndTurn,
	},
	System: "system", List: "messages", CacheMark: `,"cache_control":{"type":"ephemeral"}`,
	Scripted: anthropictest.Scripted,
}

func TestConformance(t *testing.T) { llmtest.Run(t, dialect) }

func BenchmarkStep(b *testing.B) { llmtest.BenchmarkStep(b, dialect) }

var frames = anthropictest.Frames

func refused(name, message string) string {
	return `{"__type":"com.amazon.coral.service#` + name + `","message":` + llmtest.Quote(message) + `}`
}

var refusals = []llmtest.Refusal{
	{Name: "throttled", Status: 429, Body: refused("ThrottlingException", "Too many requests, please wait before trying again."), Kind: llm.ErrRateLimit},
	{Name: "throttled with 400", Status: 400, Body: refused("ThrottlingException", "Rate exceeded"), Kind: llm.ErrRateLimit},
	{Name: "not ready", Status: 429, Body: refused("ModelNotReadyException", "Model is not ready"), Kind: llm.ErrOverloaded},
	{Name: "unavailable", Status: 503, Body: refused("ServiceUnavailableException", "later"), Kind: llm.ErrOverloaded},
	{Name: "quota", Status: 400, Body: refused("ServiceQuotaExceededException", "Your request exceeds the service quota"), Kind: llm.ErrQuota},
	{Name: "model failed", Status: 424, Body: refused("ModelStreamErrorException", "The system encountered an unexpected error during processing."), Kind: llm.ErrServer},
	{Name: "server", Status: 500, Body: refused("InternalServerException", "oops"), Kind: llm.ErrServer},
	{Name: "timeout", Status: 408, Body: refused("ModelTimeoutException", "took too long"), Kind: llm.ErrNetwork},
	{Name: "access", Status: 403, Body: refused("AccessDeniedException", "You don't have access to the model with the specified model ID."), Kind: llm.ErrAuth},
	{Name: "key", Status: 403, Body: `{"Message":"The security token included in the request is expired"}`, Kind: llm.ErrAuth},
	{Name: "overflow", Status: 400, Body: refused("ValidationException", "Input is too long for requested model."), Kind: llm.ErrContextOverflow},
	{Name: "overflow, Claude's words", Status: 400, Body: refused("ValidationException", "The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum"), Kind: llm.ErrContextOverflow},
	{Name: "validation", Status: 400, Body: refused("ValidationException", "messages.3.content.0.image.source.base64: image exceeds 5 MB maximum"), Kind: llm.ErrBadRequest, Block: "messages.3.content.0"},
	{Name: "model", Status: 404, Body: refused("ResourceNotFoundException", "The model could not be found"), Kind: llm.ErrBadRequest, Hint: "model's name"},
}

func hello() *llm.Request { return llmtest.Request(core.UserText("hello")) }

// TestRequest is what goes out: where to, and what is different in the body.
func TestRequest(t *testing.T) {
	for id, want := range map[string]string{
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0":                       "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream",
		"arn:aws:bedrock:us-east-1:12345:application-inference-profile/ab12": "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A12345%3Aapplication-inference-profile%2Fab12/invoke-with-response-stream",
	} {
		var path string
		s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) {
			c.Info = &llm.Info{Spec: "bedrock/" + id, ID: id, Thinks: true}
			c.Quirks.WebSearch = false
		}, func(w http.ResponseWriter, r *http.Request, b []byte) {
			path = r.RequestURI
			llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...)(w, r, b)
		})
		req := hello()
		req.ServerTools = []string{"web_search"}
		llmtest.MustAsk(t, s.Model, req)
		if path != want {
			t.Errorf("%s: sent to %s, want %s", id, path, want)
		}
		beta := ""
		if strings.Contains(id, "sonnet-4-5") {
			beta = `"anthropic_beta":["interleaved-thinking-2025-05-14"],`
		}
		body := s.Body(0)
		if start := `{"anthropic_version":"bedrock-2023-05-31",` + beta + `"max_tokens":16384,`; !strings.HasPrefix(body, start) {
			t.Errorf("sent %.200s, want %s", body, start)
		}
		for _, bad := range []string{`"model"`, `"stream"`, "web_search"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s is in %s", bad, body)
			}
		}
		if h := s.Header(0); h.Get("Anthropic-Version") != "" || h.Get("Anthropic-Beta") != "" || h.Get("Accept") != framing {
			t.Errorf("headers %v", h)
		}
	}
}

func TestRegionIsChecked(t *testing.T) {
	for _, region := range []string{"", "evil.example/", "us-east-1.evil.example#", "US-EAST-1", "us east"} {
		_, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "bedrock/m", ID: "m"}}, Credentials{Region: region, Bearer: "x"})
		if err == nil {
			t.Errorf("region %q is taken", region)
		}
	}
	if _, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "bedrock/m", ID: "m"}}, Credentials{Region: "eu-central-1", Bearer: "x"}); err != nil {
		t.Error(err)
	}
}

// TestErrorsByHeader: the exception's name is in a header, with more behind it.
func TestErrorsByHeader(t *testing.T) {
	for header, kind := range map[string]llm.ErrorKind{
		"ThrottlingException:http://internal.amazon.com/coral/": llm.ErrRateLimit,
		"ServiceUnavailableException":                           llm.ErrOverloaded,
		"AccessDeniedException":                                 llm.ErrAuth,
		"SomethingNewException":                                 llm.ErrBadRequest,
	} {
		s := llmtest.NewServer(t, dialect, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			w.Header().Set("X-Amzn-ErrorType", header)
			llmtest.Answer(400, "application/json", `{"message":"because"}`)(w, r, nil)
		})
		e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, kind)
		if e.Message != "because" || e.Status != 400 {
			t.Errorf("%+v", e)
		}
	}
}
