package llmtest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

func testCut(t *testing.T, d Dialect) {
	frames := d.Frames(full())
	whole := strings.Join(frames, "")
	// The answer is complete with the last byte of the line that decides.
	complete := len(strings.TrimRight(strings.Join(frames[:len(frames)-d.Spare], ""), "\n"))
	step := 7
	if testing.Short() {
		step = 61
	}
	var handlers []Handler
	for n := 0; n < len(whole); n += step {
		handlers = append(handlers, cutAt(whole[:n], false), cutAt(whole[:n], true))
	}
	s := NewServer(t, d, nil, handlers...)
	for i := range handlers {
		n, abrupt := i/2*step, i%2 == 1
		r := Ask(t.Context(), s.Model, hello())
		if n >= complete {
			if r.Err != nil && !abrupt {
				t.Fatalf("cut at %d of %d: %v", n, len(whole), r.Err)
			}
			continue
		}
		e := WantError(t, r.Err, llm.ErrNetwork)
		if r.Resp != nil || !abrupt && e.Streaming != d.has(Deltas) {
			t.Fatalf("cut at %d: %v, %+v", n, r.Resp, e)
		}
	}
}

func cutAt(sent string, abrupt bool) Handler {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) {
		Stream(sent)(w, r, nil)
		if abrupt {
			panic(http.ErrAbortHandler)
		}
	}
}

func testRefusals(t *testing.T, d Dialect) {
	for _, ref := range d.Refusals {
		t.Run(ref.Name, func(t *testing.T) {
			s := NewServer(t, d, func(c *llm.ClientConfig) {
				if ref.Local {
					info := *c.Info
					info.Local, info.Provider, info.Spec = true, "ollama", "ollama/model"
					c.Info = &info
				}
			}, Answer(ref.Status, "application/json", ref.Body))
			e := WantError(t, Ask(t.Context(), s.Model, hello()).Err, ref.Kind)
			if e.Block != ref.Block || !strings.Contains(e.Hint, ref.Hint) {
				t.Errorf("block %q, hint %q in %+v", e.Block, e.Hint, e)
			}
			if ref.Status >= 300 && e.Status != ref.Status {
				t.Errorf("status %d", e.Status)
			}
			if e.Model == "" || !strings.HasSuffix(e.URL, d.Path) || e.Message == "" || e.Streaming {
				t.Errorf("%+v", e)
			}
		})
	}
}

func testRetryAfter(t *testing.T, d Dialect) {
	at := NewClock().Now().Add(90 * time.Second)
	for _, tt := range []struct {
		key, value string
		want       time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond},
		{"Retry-After", at.Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-1", 0},
		{"X-None", "", 0},
	} {
		s := NewServer(t, d, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			w.Header().Set(tt.key, tt.value)
			Answer(http.StatusTooManyRequests, "text/plain", "slow down")(w, r, nil)
		})
		if e := WantError(t, Ask(t.Context(), s.Model, hello()).Err, llm.ErrRateLimit); e.RetryAfter != tt.want {
			t.Errorf("%s %q: %v", tt.key, tt.value, e.RetryAfter)
		}
	}
}

func testErrorInStream(t *testing.T, d Dialect) {
	frames := d.Frames(full())
	var handlers []Handler
	for n := range len(frames) - d.Spare {
		handlers = append(handlers, Stream(append(frames[:n:n], d.ErrorFrame)...))
	}
	s := NewServer(t, d, nil, handlers...)
	for n := range handlers {
		r := Ask(t.Context(), s.Model, hello())
		e := WantError(t, r.Err, llm.ErrOverloaded)
		if e.Streaming != d.has(Deltas) || r.Resp != nil {
			t.Errorf("after frame %d: %+v", n, e)
		}
	}
}

func testStall(t *testing.T, d Dialect) {
	if !d.has(Deltas) {
		t.Skip(d.Without[Deltas])
	}
	limits := llm.TimeLimits{FirstByte: 2 * time.Minute, Idle: 30 * time.Second}
	stalled := func(sent chan<- struct{}, frames ...string) Handler {
		return func(w http.ResponseWriter, r *http.Request, _ []byte) {
			Stream(frames...)(w, r, nil)
			_ = http.NewResponseController(w).Flush()
			close(sent)
			<-r.Context().Done()
		}
	}
	t.Run("first byte", func(t *testing.T) {
		sent := make(chan struct{})
		s := NewServer(t, d, func(c *llm.ClientConfig) { c.Limits = limits }, stalled(sent))
		go func() {
			<-sent
			s.Clock.Advance(limits.FirstByte)
		}()
		e := WantError(t, Ask(t.Context(), s.Model, hello()).Err, llm.ErrIdle)
		if e.Streaming {
			t.Errorf("%+v", e)
		}
	})
	t.Run("middle", func(t *testing.T) {
		frames := d.Frames(full())
		s := NewServer(t, d, func(c *llm.ClientConfig) { c.Limits = limits }, stalled(make(chan struct{}), frames[:len(frames)/2]...))
		shown := false
		_, err := s.Model.Stream(t.Context(), hello(), func(llm.Event) {
			if !shown {
				shown = true
				go s.Clock.Advance(limits.Idle)
			}
		})
		if e := WantError(t, err, llm.ErrIdle); !e.Streaming || !strings.Contains(e.Message, "30s") {
			t.Errorf("%+v", e)
		}
	})
	t.Run("comments keep it alive", func(t *testing.T) {
		frames := d.Frames(Reply{Text: []string{"ok"}})
		var s *Server
		s = NewServer(t, d, func(c *llm.ClientConfig) { c.Limits = limits }, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			for range 20 {
				noted := s.Clock.Looked(1) // each byte is noted with its time
				Stream(": still here\n\n")(w, r, nil)
				<-noted
				s.Clock.Advance(limits.Idle - time.Second)
			}
			Stream(frames...)(w, r, nil)
		})
		MustAsk(t, s.Model, hello())
	})
}

func testGarbage(t *testing.T, d Dialect) {
	frames := d.Frames(full())
	for name, h := range map[string]Handler{
		"bad JSON":        Stream(append(frames[:2:2], Data(`{"type":"message_start",`))...),
		"no JSON":         Stream(append(frames[:1:1], Data(`hello`))...),
		"JSON array":      Stream(Data(`[1,2]`)),
		"HTML":            Answer(200, "text/html; charset=utf-8", "<html><title>Sign in</title></html>"),
		"plain text":      Answer(200, "text/plain", "it works"),
		"no content":      Answer(200, "text/plain", ""),
		"JSON document":   Answer(200, "application/json", `{"hello":"world"}`),
		"JSON list":       Answer(200, "application/json", `[]`),
		"broken document": Answer(200, "application/json", `{"choices":[`),
		"compressed answer": func(w http.ResponseWriter, r *http.Request, b []byte) {
			w.Header().Set("Content-Encoding", "br")
			Stream("x")(w, r, b)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(t, d, nil, h)
			_ = WantError(t, Ask(t.Context(), s.Model, hello()).Err, llm.ErrProtocol)
		})
	}
	t.Run("plain text that is a stream", func(t *testing.T) {
		s := NewServer(t, d, nil, Answer(200, "text/plain", strings.Join(d.Frames(Reply{Text: []string{"ok"}}), "")))
		MustAsk(t, s.Model, hello())
	})
	t.Run("error with status 200", func(t *testing.T) {
		s := NewServer(t, d, nil, Answer(200, "application/json", `{"error":"Trying to keep the first 9000 tokens when context the overflows."}`))
		_ = WantError(t, Ask(t.Context(), s.Model, hello()).Err, llm.ErrContextOverflow)
	})
}

func testRedirect(t *testing.T, d Dialect) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := NewServer(t, d, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, other.URL+"/elsewhere?token=x", status)
		})
		e := WantError(t, Ask(t.Context(), s.Model, hello()).Err, llm.ErrProtocol)
		if !strings.Contains(e.Message, other.URL+"/elsewhere") || strings.Contains(e.Message, "token") {
			t.Error(e.Message)
		}
	}
	if reached.Load() {
		t.Error("a redirect was followed")
	}
}

func testNoServer(t *testing.T, d Dialect) {
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	for _, local := range []bool{true, false} {
		m, err := d.New(llm.ClientConfig{Info: &llm.Info{Spec: "ollama/m", Provider: "ollama", ID: "m", Local: local}, BaseURL: "http://" + addr + d.Base})
		if err != nil {
			t.Fatal(err)
		}
		e := WantError(t, Ask(t.Context(), m, hello()).Err, llm.ErrRefused)
		if !strings.Contains(e.Error(), "http://"+addr) || local && !strings.Contains(e.Hint, "is the server running") {
			t.Error(e)
		}
	}
	for _, bad := range []string{"", "ftp://x", "http://", "http://user:secret@host/v1", "://"} {
		_, err := d.New(llm.ClientConfig{Info: &llm.Info{Spec: "x/m"}, BaseURL: bad})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("base URL %q: %v", bad, err)
		}
	}
}

func testKeyStaysSecret(t *testing.T, d Dialect) {
	const header = "a-secret-header-value"
	echo := fmt.Sprintf(`{"error":{"message":"bad key %s and %s","type":"authentication_error"}}`, Key, header)
	for name, h := range map[string]Handler{
		"error body":  Answer(401, "application/json", echo),
		"plain body":  Answer(401, "text/plain", Key+header),
		"in a stream": Stream(Event("error", echo)),
		"bad event":   Stream(Data(Key + header)),
		"wrong type":  Answer(200, "text/html", Key+header),
		"redirect": func(w http.ResponseWriter, r *http.Request, _ []byte) {
			http.Redirect(w, r, "/"+Key+header, http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(t, d, func(c *llm.ClientConfig) { c.Headers = map[string]string{"X-Team": header} }, h)
			r := Ask(t.Context(), s.Model, hello())
			for err := r.Err; err != nil; {
				if strings.Contains(err.Error(), Key) || strings.Contains(err.Error(), header) {
					t.Errorf("a secret is in %v", err)
				}
				u, ok := err.(interface{ Unwrap() error })
				if !ok {
					break
				}
				err = u.Unwrap()
			}
			if r.Err == nil {
				t.Error("no error")
			}
		})
	}
}

// testEarlyAnswer has the server answer and hang up before it has read the
// request, as gateways do with one that is too large.
func testEarlyAnswer(t *testing.T, d Dialect) {
	srv := httptest.NewServer(d.serve(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1000))
		Answer(http.StatusRequestEntityTooLarge, "text/html", "<html><head><title>413 Request Entity Too Large</title></head></html>")(w, r, nil)
	}))
	defer srv.Close()
	m, err := d.New(llm.ClientConfig{Info: &llm.Info{Spec: "test/m", ID: "m"}, BaseURL: srv.URL + d.Base})
	if err != nil {
		t.Fatal(err)
	}
	defer closeIdle(m)
	req := Request(core.UserText(strings.Repeat("x", 200<<10)))
	for range 5 {
		e := WantError(t, Ask(t.Context(), m, req).Err, llm.ErrTooLarge)
		if e.Message != "413 Request Entity Too Large" {
			t.Errorf("%+v", e)
		}
		req.Messages = append(req.Messages, core.UserText("more"))
	}
}

func testConnectionReuse(t *testing.T, d Dialect) {
	var conns atomic.Int32
	clock := NewClock()
	frames := d.Frames(full())
	srv := httptest.NewUnstartedServer(d.serve(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !d.has(Deltas) {
			Stream(frames...)(w, r, nil)
			return
		}
		Stream(frames[:len(frames)-1]...)(w, r, nil)
		// The stream ends only after the client has read the last event.
		settling := clock.Looked(2)
		Stream(frames[len(frames)-1])(w, r, nil)
		select {
		case <-settling:
		case <-r.Context().Done():
		}
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	m, err := d.New(llm.ClientConfig{Info: &llm.Info{Spec: "test/m", ID: "m"}, BaseURL: srv.URL + d.Base, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer closeIdle(m)
	for range 5 {
		MustAsk(t, m, hello())
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}
