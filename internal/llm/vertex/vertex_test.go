package vertex

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic/anthropictest"
	"garuda/internal/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dialect has the key as a token that needs no server.
var dialect = llmtest.Dialect{
	Format: "anthropic", Path: ":streamRawPredict",
	New: func(cfg llm.ClientConfig) (llm.Model, error) {
		if cfg.BaseURL == "" {
			cfg.BaseURL = "none" // an empty one means the region's own
		}
		value := cfg.Key
		if value == "" {
			value = "a-token"
		}
		return New(cfg, Place{Project: "my-project", Region: "us-east5"}, fixed(value))
	},
	KeyHeader: "Authorization", KeyPrefix: "Bearer ",
	Frames: frames, Spare: 1,
	ErrorFrame: llmtest.Event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	Refusals:   refusals,
	Stops: map[string]core.StopReason{
		"end_turn": core.StopEndTurn, "max_tokens": core.StopMaxTokens, "refusal": core.StopRefusal, "pause_turn": core.StopPause,
	},
	System: "system", List: "messages", CacheMark: `,"cache_control":{"type":"ephemeral"}`,
	Scripted: func(next http.Handler) http.Handler { return refusedTwice(anthropictest.Scripted(next)) },
}

var frames = anthropictest.Frames

// refusedTwice refuses what is tried again with another token, as the first was
// refused: a step of the scripted server answers one request.
func refusedTwice(next http.Handler) http.Handler {
	var before atomic.Bool
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before.Swap(false) {
			http.Error(w, refused("401", "UNAUTHENTICATED", "no"), http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(&watchedStatus{w, &before}, r)
	})
}

type watchedStatus struct {
	http.ResponseWriter
	refused *atomic.Bool
}

func (w *watchedStatus) WriteHeader(status int) {
	w.refused.Store(status == http.StatusUnauthorized)
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedStatus) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func fixed(value string) *Credentials {
	return &Credentials{secret: "the-refresh-token", fetch: func(context.Context, *http.Client) (*oauth2.Token, error) {
		return &oauth2.Token{AccessToken: value}, nil
	}}
}

func TestConformance(t *testing.T) { llmtest.Run(t, dialect) }

func refused(code, status, message string) string {
	return `{"error":{"code":` + code + `,"message":` + llmtest.Quote(message) + `,"status":"` + status + `"}}`
}

var refusals = []llmtest.Refusal{
	{Name: "quota a minute", Status: 429, Body: refused("429", "RESOURCE_EXHAUSTED", "Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model"), Kind: llm.ErrRateLimit},
	{Name: "in a list", Status: 429, Body: "[" + refused("429", "RESOURCE_EXHAUSTED", "Resource exhausted, please try again later.") + "]", Kind: llm.ErrRateLimit},
	{Name: "permission", Status: 403, Body: refused("403", "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied"), Kind: llm.ErrAuth},
	{Name: "model", Status: 404, Body: refused("404", "NOT_FOUND", "Publisher Model `claude-x` was not found or your project does not have access to it."), Kind: llm.ErrBadRequest, Hint: "model's name"},
	{Name: "unavailable", Status: 503, Body: refused("503", "UNAVAILABLE", "The service is currently unavailable."), Kind: llm.ErrOverloaded},
	{Name: "claude's overflow", Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, Kind: llm.ErrContextOverflow},
	{Name: "token", Status: 401, Body: refused("401", "UNAUTHENTICATED", "Request had invalid authentication credentials."), Kind: llm.ErrAuth},
}

func hello() *llm.Request { return llmtest.Request(core.UserText("hello")) }

// TestRequest is what goes out: where to, and what is different in the body.
func TestRequest(t *testing.T) {
	var path string
	s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) {
		c.Info = &llm.Info{Spec: "vertex/m", ID: "claude-sonnet-4-5@20250929", Thinks: true}
		c.Quirks.WebSearch = true
	}, func(w http.ResponseWriter, r *http.Request, b []byte) {
		path = r.RequestURI
		llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...)(w, r, b)
	})
	req := hello()
	req.ServerTools = []string{"web_search"}
	llmtest.MustAsk(t, s.Model, req)
	if want := "/v1/projects/my-project/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"; path != want {
		t.Errorf("sent to %s, want %s", path, want)
	}
	body := s.Body(0)
	if start := `{"anthropic_version":"vertex-2023-10-16","max_tokens":16384,"stream":true,`; !strings.HasPrefix(body, start) || strings.Contains(body, `"model"`) {
		t.Errorf("sent %.200s, want %s", body, start)
	}
	if !strings.Contains(body, `"web_search_20250305"`) {
		t.Errorf("no search in %s", body)
	}
	h := s.Header(0)
	if h.Get("Anthropic-Version") != "" || h.Get("Anthropic-Beta") != "interleaved-thinking-2025-05-14" || h.Get("X-Goog-User-Project") != "" {
		t.Errorf("headers %v", h)
	}
}

func TestPlaces(t *testing.T) {
	for region, want := range map[string]string{
		"global":   "https://aiplatform.googleapis.com",
		"eu":       "https://aiplatform.eu.rep.googleapis.com",
		"us-east5": "https://us-east5-aiplatform.googleapis.com",
	} {
		if got := Address(region); got != want {
			t.Errorf("%s: %s", region, got)
		}
	}
	for _, p := range []Place{{}, {Project: "p"}, {Region: "us-east5"}, {"p", "evil.example/"}, {"p", "US"}} {
		if _, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "vertex/m", ID: "m"}}, p, fixed("x")); err == nil {
			t.Errorf("%+v is taken", p)
		}
	}
	if _, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "vertex/m", ID: "m"}}, Place{"p", "global"}, fixed("x")); err != nil {
		t.Error(err)
	}
}
