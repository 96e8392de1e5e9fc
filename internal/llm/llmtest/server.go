package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// Key is the key that the suite's models are given.
const Key = "sk-conformance-0123456789"

// Server is a scripted model server, and a model that talks to it.
type Server struct {
	Model llm.Model
	Clock *Clock
	URL   string

	mu      sync.Mutex
	bodies  [][]byte
	headers []http.Header
}

// Handler answers one request; body is the request's.
type Handler func(w http.ResponseWriter, r *http.Request, body []byte)

// NewServer starts a server whose n-th request the n-th handler answers; the last
// one answers all further ones.
func NewServer(t testing.TB, d Dialect, change func(*llm.ClientConfig), handlers ...Handler) *Server {
	t.Helper()
	s := &Server{Clock: NewClock()}
	srv := httptest.NewServer(d.serve(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies, s.headers = append(s.bodies, body), append(s.headers, r.Header)
		s.mu.Unlock()
		handlers[min(n, len(handlers)-1)](w, r, body)
	}))
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	cfg := llm.ClientConfig{
		Info:    &llm.Info{Spec: "test/model", Provider: "test", ID: "model", Format: d.Format, Thinks: true, ContextWindow: 100_000},
		BaseURL: srv.URL + d.Base,
		Key:     Key,
		Clock:   s.Clock,
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if s.Model, err = d.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeIdle(s.Model) })
	return s
}

func closeIdle(m llm.Model) {
	if c, ok := m.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Body is the n-th request's body.
func (s *Server) Body(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.bodies[n])
}

// Requests is how many came.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// Header is the n-th request's header.
func (s *Server) Header(n int) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.headers[n]
}

// Stream answers with events, flushed one by one.
func Stream(frames ...string) Handler {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, f := range frames {
			_, _ = io.WriteString(w, f)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// Answer answers with a status and a body.
func Answer(status int, contentType, body string) Handler {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Result is what one call of Stream gave.
type Result struct {
	Resp   *llm.Response
	Err    error
	Events []llm.Event
}

// Ask sends a request and gathers the events.
func Ask(ctx context.Context, m llm.Model, req *llm.Request) Result {
	var r Result
	r.Resp, r.Err = m.Stream(ctx, req, func(e llm.Event) { r.Events = append(r.Events, e) })
	return r
}

// MustAsk is Ask for an answer that must come.
func MustAsk(t testing.TB, m llm.Model, req *llm.Request) Result {
	t.Helper()
	r := Ask(t.Context(), m, req)
	if r.Err != nil {
		t.Fatalf("Stream: %v", r.Err)
	}
	return r
}

// Text joins the text deltas, Thinking the thinking deltas.
func (r Result) Text() string {
	var out strings.Builder
	for _, e := range r.Events {
		if d, ok := e.(llm.TextDelta); ok {
			out.WriteString(d.Text)
		}
	}
	return out.String()
}

// Thinking joins the thinking deltas.
func (r Result) Thinking() string {
	var out strings.Builder
	for _, e := range r.Events {
		if d, ok := e.(llm.ThinkingDelta); ok {
			out.WriteString(d.Text)
		}
	}
	return out.String()
}

// Started are the calls that were announced.
func (r Result) Started() []llm.ToolCallStarted {
	var out []llm.ToolCallStarted
	for _, e := range r.Events {
		if s, ok := e.(llm.ToolCallStarted); ok {
			out = append(out, s)
		}
	}
	return out
}

// WantError checks that err is typed and of the kind.
func WantError(t testing.TB, err error, kind llm.ErrorKind) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *llm.Error of kind %s", err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("got kind %s, want %s: %v", e.Kind, kind, e)
	}
	if strings.Contains(e.Error(), Key) {
		t.Fatalf("the key is in the error: %v", e)
	}
	return e
}

// Request is a small request with two tools.
func Request(msgs ...*core.Message) *llm.Request {
	return &llm.Request{
		System: "You are a test. <b>&\"\u00fc\u2028",
		Tools: []llm.ToolSpec{
			{Name: "read_file", Description: "Reads.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "bash", Description: "Runs <cmd> & more.", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}}}`)},
		},
		Messages:  msgs,
		MaxTokens: 16_384,
		SessionID: "20260102-030405-abcd",
	}
}
