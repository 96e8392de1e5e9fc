package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"garuda/internal/llm"
)

func testClient(t *testing.T, url string, change func(*llm.ClientConfig)) *Client {
	t.Helper()
	cfg := llm.ClientConfig{Info: &llm.Info{Spec: "x/m"}, BaseURL: url, Key: "sk-0123456789"}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg, Auth{Header: "Authorization", Prefix: "Bearer "})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func smallBody() *Body {
	text := []byte(`{"a":1}`)
	return &Body{parts: [][]byte{text}, size: len(text)}
}

func postError(t *testing.T, c *Client) *llm.Error {
	t.Helper()
	r, err := c.Post(t.Context(), "x", smallBody())
	if err == nil {
		defer r.Close()
		_, err = r.Document()
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("got %v, want a typed error", err)
	}
	return e
}

// byHand is a clock whose timers fire when the test says so; all that was waited
// for is then over.
type byHand struct {
	still
	passed atomic.Int64
	timers chan func()
}

func (c *byHand) Now() time.Time { return c.still.Now().Add(time.Duration(c.passed.Load())) }

func (c *byHand) AfterFunc(d time.Duration, f func()) func() bool {
	c.timers <- func() {
		c.passed.Add(int64(d))
		f()
	}
	return func() bool { return true }
}

// TestEachLimitSaysWhatItWaitedFor has a server go silent at each place.
func TestEachLimitSaysWhatItWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		name    string
		sends   string // nothing, headers, bytes
		timer   int    // which limit fires
		message string
	}{
		{"silence", "nothing", 1, "no answer: waited 3m for the first byte"},
		{"headers alone", "headers", 1, "the server began its answer (HTTP 200) and sent nothing more: waited 3m for the first byte"},
		{"a byte", "bytes", 2, "the answer stopped: waited 50s for the next byte"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := make(chan struct{})
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				if tt.sends != "nothing" {
					_ = http.NewResponseController(w).Flush()
				}
				if tt.sends == "bytes" {
					_, _ = io.WriteString(w, " ")
					_ = http.NewResponseController(w).Flush()
				}
				close(sent)
				<-r.Context().Done()
			}))
			defer srv.Close()
			clock := &byHand{timers: make(chan func(), 8)}
			c := testClient(t, srv.URL, func(c *llm.ClientConfig) {
				c.Clock, c.Limits = clock, llm.TimeLimits{FirstByte: 3 * time.Minute, Idle: 50 * time.Second}
			})
			opened := make(chan struct{})
			go func() {
				<-sent
				if tt.sends != "nothing" {
					<-opened // the client has the headers
				}
				for n := 1; ; n++ {
					fire := <-clock.timers
					if n == tt.timer {
						fire()
						return
					}
				}
			}()
			r, err := c.Post(t.Context(), "x", smallBody())
			close(opened)
			if err == nil {
				defer r.Close()
				_, err = r.Document()
			}
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Kind != llm.ErrIdle || e.Message != tt.message {
				t.Errorf("%v, want %q", err, tt.message)
			}
		})
	}
}

type slow struct{}

func (slow) Error() string   { return "i/o timeout" }
func (slow) Timeout() bool   { return true }
func (slow) Temporary() bool { return true }

func TestUnreached(t *testing.T) {
	c := testClient(t, "https://example.com/v1", nil)
	for _, tt := range []struct {
		err           error
		kind          llm.ErrorKind
		message, hint string
	}{
		{&net.OpError{Op: "dial", Err: slow{}}, llm.ErrNetwork, "cannot reach https://example.com/v1/x: waited 10s for the connection", ""},
		{errors.New("net/http: TLS handshake timeout"), llm.ErrNetwork, "waited 10s for the TLS handshake", ""},
		{&net.DNSError{Err: "no such host", Name: "example.com", IsNotFound: true}, llm.ErrNetwork, "no such host", "check the base URL and the network"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "example.com", IsTemporary: true}}, llm.ErrNetwork, "server misbehaving", "name server"},
		{errors.New("Proxy Authentication Required"), llm.ErrAuth, "the proxy wants a user and a password", "HTTP_PROXY"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, llm.ErrNetwork, "cannot reach", ""},
	} {
		r := &Reply{client: c, parent: t.Context(), ctx: t.Context(), url: "https://example.com/v1/x"}
		e, ok := errors.AsType[*llm.Error](r.fail(tt.err))
		if !ok || e.Kind != tt.kind || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) || tt.hint == "" && e.Hint != "" || !errors.Is(e, tt.err) {
			t.Errorf("%v: %+v", tt.err, e)
		}
	}
}

func TestTLS(t *testing.T) {
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	e := postError(t, testClient(t, tls.URL, nil))
	if e.Kind != llm.ErrProtocol || !strings.Contains(e.Hint, "SSL_CERT_FILE") {
		t.Errorf("a certificate of an unknown authority: %+v", e)
	}
	e = postError(t, testClient(t, strings.Replace(tls.URL, "https://", "http://", 1), nil))
	if e.Kind != llm.ErrBadRequest || !strings.Contains(e.Hint, "https://") {
		t.Errorf("http to a server with TLS: %+v", e)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	e = postError(t, testClient(t, strings.Replace(plain.URL, "http://", "https://", 1), nil))
	if e.Kind != llm.ErrProtocol || !strings.Contains(e.Hint, "http://") {
		t.Errorf("https to a server without TLS: %+v", e)
	}
}

// TestKeptConnectionThatDies: a request that was sent on a kept connection is not
// sent again by the transport, because the server may have begun to answer it.
func TestKeptConnectionThatDies(t *testing.T) {
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if requests.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0) // end with a reset
		_ = conn.Close()
	}))
	defer srv.Close()
	c := testClient(t, srv.URL, nil)
	r, err := c.Post(t.Context(), "x", smallBody())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Document(); err != nil {
		t.Fatal(err)
	}
	r.Close()
	if e := postError(t, c); e.Kind != llm.ErrNetwork || requests.Load() != 2 {
		t.Errorf("%+v after %d requests, want a network error after 2", e, requests.Load())
	}
}

// TestProxy runs this test again in a process of its own: net/http reads the
// proxy variables once, and never uses a proxy for this machine's own names.
func TestProxy(t *testing.T) {
	if url := os.Getenv("GARUDA_TEST_ASK"); url != "" {
		e := postError(t, testClient(t, url, nil))
		t.Logf("kind=%s status=%d", e.Kind, e.Status)
		return
	}
	var asked atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.RequestURI)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer proxy.Close()
	for _, tt := range []struct{ url, variables, want string }{
		{"http://model.invalid/v1", "HTTP_PROXY=" + proxy.URL, "POST http://model.invalid/v1/x"},
		{"https://model.invalid/v1", "HTTPS_PROXY=" + proxy.URL, "CONNECT model.invalid:443"},
		{"http://model.invalid/v1", "HTTP_PROXY=" + proxy.URL + " NO_PROXY=.invalid", ""},
	} {
		asked.Store("")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProxy$", "-test.v")
		cmd.Env = append([]string{"GARUDA_TEST_ASK=" + tt.url, "PATH=" + os.Getenv("PATH")}, strings.Fields(tt.variables)...)
		if runtime.GOOS == "windows" {
			cmd.Env = append(cmd.Env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"))
		}
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := asked.Load(); got != tt.want {
			t.Errorf("%s with %s: the proxy was asked %q, want %q\n%s", tt.url, tt.variables, got, tt.want, out)
		}
	}
}
