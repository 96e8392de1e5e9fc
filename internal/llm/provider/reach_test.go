package provider

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// answers is a transport that gives one status, or an error.
type answers struct {
	status int
	err    error
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{StatusCode: a.status, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
}

func TestReach(t *testing.T) {
	file, err := ParseFile("models.json", []byte(`{"providers":{"mock":{"type":"openai-compatible","baseUrl":"http://127.0.0.1:9/v1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		answers
		want string
	}{
		{"no such list", answers{status: 404}, ""},
		{"not for GET", answers{status: 405}, ""},
		{"key refused", answers{status: 401}, "is not accepted"},
		{"broken", answers{status: 502}, "HTTP 502"},
		{"not there", answers{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, "no server answers at http://127.0.0.1:9/v1 (connection refused): start the server, or correct its baseUrl"},
		{"not reached", answers{err: errors.New("no route to host")}, "no route to host"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := New(Options{File: file, Lookup: func(string) (string, bool) { return "", false }, Keys: noKeys{}, Transport: tc.answers})
			c, err := r.Resolve("mock/m", nil)
			if err != nil {
				t.Fatal(err)
			}
			err = r.Reach(t.Context(), c)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Reach: %v, want %q", err, tc.want)
			}
		})
	}
}

// TestServersThatAreNotStarted names what starts each program of the table.
func TestServersThatAreNotStarted(t *testing.T) {
	for spec, want := range map[string]string{
		"ollama/m": "start Ollama (ollama serve)", "lmstudio/m": "lms server start", "llamacpp/m": "llama-server -m", "vllm/m": "vllm serve",
	} {
		r := New(Options{File: &File{}, Lookup: func(string) (string, bool) { return "", false }, Keys: noKeys{}, Transport: answers{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}})
		c, err := r.Resolve(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Reach(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "dial") {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// deadline is a transport that notes how long it may take.
type deadline struct{ left time.Duration }

func (d *deadline) RoundTrip(r *http.Request) (*http.Response, error) {
	if at, ok := r.Context().Deadline(); ok {
		d.left = time.Until(at)
	}
	return answers{status: 404}.RoundTrip(r)
}

// Whoever asks whether a server answers waits longer than one who only wants a list.
func TestReachWaitsTenSeconds(t *testing.T) {
	env := map[string]string{"AWS_REGION": "us-east-1"}
	for _, name := range []string{"anthropic", "openai", "gemini", "bedrock"} {
		d := &deadline{}
		r := New(Options{Lookup: func(n string) (string, bool) { v, ok := env[n]; return v, ok }, Transport: d,
			Keys: keys{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k", "AWS_BEARER_TOKEN_BEDROCK": "k"}})
		if _, err := r.ReachProvider(t.Context(), name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d.left > 10*time.Second || d.left < 5*time.Second {
			t.Errorf("%s: asked with %s left", name, d.left)
		}
	}
}

// noKeys has none.
type noKeys struct{}

func (noKeys) Key(string) (value, source string, ok bool) { return "", "", false }
