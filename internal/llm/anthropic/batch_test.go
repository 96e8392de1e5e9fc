package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// patientClock does not wait: it notes how long it was told to. From the stop-th
// sleep on it sleeps until it is woken by the context's end.
type patientClock struct {
	core.Clock
	mu     sync.Mutex
	slept  []time.Duration
	stop   int
	asleep chan struct{}
	timers map[time.Duration]func()
}

func newPatientClock() *patientClock {
	return &patientClock{Clock: llmtest.NewClock(), stop: 1000, asleep: make(chan struct{}), timers: map[time.Duration]func(){}}
}

func (c *patientClock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	if len(c.slept) > c.stop {
		close(c.asleep)
		<-ctx.Done()
	}
	return ctx.Err()
}

func (c *patientClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers[d] = f
	return func() bool { return true }
}

func (c *patientClock) fire(d time.Duration) {
	c.mu.Lock()
	f := c.timers[d]
	c.mu.Unlock()
	f()
}

// batchServer is a scripted API: each request is answered by its path.
type batchServer struct {
	clock    *patientClock
	model    llm.Model
	requests []string
	body     string
	// states are what the looks at the batch see, the last one again; an empty
	// one is a failure of the server. results is the file.
	states   []string
	looks    int
	results  string
	canceled func()
}

func newBatchServer(t *testing.T) *batchServer {
	t.Helper()
	s := &batchServer{clock: newPatientClock(), states: []string{"in_progress", "ended"}, canceled: func() {}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests = append(s.requests, r.Method+" "+r.RequestURI)
		if r.Header.Get("X-Api-Key") != llmtest.Key || r.Header.Get("Anthropic-Version") != version {
			t.Errorf("headers %v", r.Header)
		}
		s.serve(w, r)
	}))
	t.Cleanup(srv.Close)
	m, err := NewBatch(llm.ClientConfig{
		Info: &llm.Info{Spec: "anthropic/claude-x", ID: "claude-x", Thinks: true}, BaseURL: srv.URL, Key: llmtest.Key, Clock: s.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.model = m
	t.Cleanup(m.(interface{ CloseIdleConnections() }).CloseIdleConnections)
	return s
}

func (s *batchServer) serve(w http.ResponseWriter, r *http.Request) {
	const path = "/v1/messages/batches"
	say := func(body string) { llmtest.Answer(200, "application/json", body)(w, r, nil) }
	switch r.Method + " " + r.RequestURI {
	case "POST " + path:
		var body json.RawMessage
		if json.NewDecoder(r.Body).Decode(&body) != nil {
			return
		}
		s.body = string(body)
		say(`{"id":"msgbatch_1","type":"message_batch","processing_status":"in_progress","results_url":null}`)
	case "GET " + path + "/msgbatch_1":
		state := s.states[min(s.looks, len(s.states)-1)]
		s.looks++
		if state == "" {
			llmtest.Answer(503, "application/json", refused("overloaded_error", "later"))(w, r, nil)
			return
		}
		say(`{"id":"msgbatch_1","processing_status":"` + state + `","results_url":"https://elsewhere.example/steal-the-key"}`)
	case "GET " + path + "/msgbatch_1/results":
		llmtest.Answer(200, "application/x-jsonl", s.results)(w, r, nil)
	case "POST " + path + "/msgbatch_1/cancel":
		s.canceled()
		say(`{"id":"msgbatch_1","processing_status":"canceling"}`)
	default:
		http.NotFound(w, r)
	}
}

func line(result string) string { return `{"custom_id":"garuda","result":` + result + "}\n" }

const succeeded = `{"type":"succeeded","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[{"type":"thinking","thinking":"hm","signature":"s="},{"type":"text","text":"Hi"},{"type":"tool_use","id":"t1","name":"bash","input":{"command":"ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":10,"output_tokens":20}}}`

func TestBatch(t *testing.T) {
	s := newBatchServer(t)
	s.states = []string{"in_progress", "", "in_progress", "in_progress", "in_progress", "ended"}
	s.results = `{"custom_id":"another","result":{"type":"expired"}}` + "\n\n" + line(succeeded)
	s.results = strings.ReplaceAll(s.results, "\n\n", "\n")
	r := llmtest.MustAsk(t, s.model, hello())
	want := []core.Block{
		{Type: core.BlockThinking, Text: "hm", Provider: Format, Opaque: `{"type":"thinking","thinking":"hm","signature":"s="}`},
		core.Text("Hi"),
		{Type: core.BlockToolUse, ID: "t1", Name: "bash", Input: `{"command":"ls"}`},
	}
	if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" {
		t.Error(d)
	}
	if r.Resp.Stop != core.StopToolUse || r.Resp.Usage != (core.Usage{Input: 10, Output: 20}) || r.Resp.PriceFactor != 0.5 || r.Text() != "Hi" || len(r.Started()) != 1 {
		t.Errorf("%+v, events %v", r.Resp, r.Events)
	}
	sec := time.Second
	if d := cmp.Diff([]time.Duration{5 * sec, 10 * sec, 20 * sec, 30 * sec, 30 * sec, 30 * sec}, s.clock.slept); d != "" {
		t.Error(d)
	}
	if strings.Contains(strings.Join(s.requests, "\n"), "cancel") {
		t.Errorf("%v", s.requests)
	}
}

// TestBatchBody: the request is the one that would have been streamed.
func TestBatchBody(t *testing.T) {
	s := newBatchServer(t)
	s.results = line(succeeded)
	r := llmtest.MustAsk(t, s.model, hello())
	streamed := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) { c.Info = s.model.Info() }, llmtest.Stream(plain()...))
	llmtest.MustAsk(t, streamed.Model, hello())
	want := `{"requests":[{"custom_id":"garuda","params":` + strings.Replace(streamed.Body(0), `,"stream":true`, "", 1) + `}]}`
	if s.body != want || r.Resp.RequestBytes != len(want) {
		t.Errorf("sent %s\nwant %s", s.body, want)
	}
}

func TestBatchEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		results string
		kind    llm.ErrorKind
		noRetry bool
	}{
		"overloaded":   {line(`{"type":"errored","error":` + refused("overloaded_error", "Overloaded") + `}`), llm.ErrOverloaded, false},
		"api error":    {line(`{"type":"errored","error":` + refused("api_error", "Internal server error") + `}`), llm.ErrServer, false},
		"bad request":  {line(`{"type":"errored","error":` + refused("invalid_request_error", "messages.0: bad") + `}`), llm.ErrBadRequest, false},
		"cancelled":    {line(`{"type":"canceled"}`), llm.ErrServer, true},
		"expired":      {line(`{"type":"expired"}`), llm.ErrServer, true},
		"of next year": {line(`{"type":"new"}`), llm.ErrProtocol, false},
		"no message":   {line(`{"type":"succeeded"}`), llm.ErrProtocol, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBatchServer(t)
			s.results = tt.results
			e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.model, hello()).Err, tt.kind)
			if e.NoRetry != tt.noRetry || len(s.clock.slept) != 2 {
				t.Errorf("%+v after %v", e, s.clock.slept)
			}
		})
	}
}

// TestBatchLooksFail: ten looks that fail in a row are enough, and end the batch;
// one that works in between begins the count anew.
func TestBatchLooksFail(t *testing.T) {
	for name, tt := range map[string]struct {
		states  []string
		results string
		looks   int
	}{
		"server fails":      {[]string{""}, "", 10},
		"one works":         {append(append(make([]string, 9), "in_progress"), make([]string, 10)...), "", 20},
		"results are wrong": {[]string{"ended"}, "{broken\n", 10},
		"no result":         {[]string{"ended"}, `{"custom_id":"other"}` + "\n", 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := newBatchServer(t)
			s.states, s.results = tt.states, tt.results
			err := llmtest.Ask(t.Context(), s.model, hello()).Err
			if e, ok := errors.AsType[*llm.Error](err); !ok || s.looks != tt.looks || !e.NoRetry || !strings.Contains(e.Message, "msgbatch_1") {
				t.Errorf("%v after %d looks", err, s.looks)
			}
			if last := s.requests[len(s.requests)-1]; last != "POST /v1/messages/batches/msgbatch_1/cancel" {
				t.Errorf("last %s", last)
			}
		})
	}
}

// TestSlowLook: a look that takes a minute is one that failed.
func TestSlowLook(t *testing.T) {
	s := newBatchServer(t)
	s.results = line(succeeded)
	hang := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && s.looks == 0 {
			s.looks++
			s.clock.fire(checkLimit)
			<-r.Context().Done()
			close(hang)
			return
		}
		s.serve(w, r)
	}))
	t.Cleanup(slow.Close)
	m, err := NewBatch(llm.ClientConfig{Info: s.model.Info(), BaseURL: slow.URL, Key: llmtest.Key, Clock: s.clock,
		Limits: llm.TimeLimits{FirstByte: time.Hour, Idle: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.(interface{ CloseIdleConnections() }).CloseIdleConnections()
	llmtest.MustAsk(t, m, hello())
	<-hang
}

// TestBatchIsGivenUp: an abort while waiting cancels the batch.
func TestBatchIsGivenUp(t *testing.T) {
	s := newBatchServer(t)
	s.states, s.clock.stop = []string{"in_progress"}, 2
	var canceled int
	s.canceled = func() { canceled++ }
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.clock.asleep
		cancel()
	}()
	r := llmtest.Ask(ctx, s.model, hello())
	if !errors.Is(r.Err, context.Canceled) || r.Resp != nil || canceled != 1 {
		t.Errorf("%v, %v, cancelled %d times", r.Resp, r.Err, canceled)
	}
}

// TestBatchIDs: an id from the server becomes part of an address, and must not lead elsewhere.
func TestBatchIDs(t *testing.T) {
	for _, id := range []string{"", "../files", "a/b", "a?b", "a#b", strings.Repeat("x", 101)} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			llmtest.Answer(200, "application/json", `{"id":"`+id+`","processing_status":"in_progress"}`)(w, r, nil)
		}))
		m, err := NewBatch(llm.ClientConfig{Info: &llm.Info{Spec: "x/m", ID: "m"}, BaseURL: srv.URL, Clock: newPatientClock()})
		if err != nil {
			t.Fatal(err)
		}
		_ = llmtest.WantError(t, llmtest.Ask(t.Context(), m, hello()).Err, llm.ErrProtocol)
		m.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		srv.Close()
	}
}
