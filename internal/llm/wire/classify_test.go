package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

func TestBlock(t *testing.T) {
	for in, want := range map[string]string{
		"messages.3.content.0.image.source.base64: image exceeds 5 MB maximum": "messages.3.content.0",
		"messages.[2].content":                        "messages.2",
		"Invalid 'messages[12].content[1].text'":      "messages.12.content.1",
		"input[3].content[0].image_url":               "input.3.content.0",
		"tools.0.custom.name: too long":               "tools.0",
		"messages: text content must be non-empty":    "",
		"the messages.content is bad, messages.1 too": "messages.1",
		"my_messages.1 and input_image[0]":            "",
		"":                                            "",
	} {
		if got := block(in); got != want {
			t.Errorf("block(%q) = %q, want %q", in, got, want)
		}
	}
	if got := block("", "input[1]"); got != "input.1" {
		t.Error(got)
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"1e300": 365 * 24 * time.Hour, "inf": 365 * 24 * time.Hour, "nan": 0, "0": 0, "": 0,
		"Fri, 02 Jan 2026 03:04:00 GMT": 0, // past
		"Fri, 31 Dec 9999 23:59:59 GMT": 365 * 24 * time.Hour,
	} {
		if got := (&failure{}).retryAfter(llm.ErrRateLimit, http.Header{"Retry-After": {v}}, now); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
	for _, v := range []string{"9999-12-31T23:59:59Z", "99999999999", "999999999999999", "1e8", "99999h"} {
		h := http.Header{"X-Ratelimit-Reset": {v}}
		if got := (&failure{}).retryAfter(llm.ErrRateLimit, h, now); got != year {
			t.Errorf("a reset at %q: %v", v, got)
		}
	}
}

func TestParseFailure(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"m"}}`:              "m",
		`{"error":"m"}`:                          "m",
		`{"message":"m"}`:                        "m",
		`{"detail":"m"}`:                         "m",
		`{"response":{"error":{"message":"m"}}}`: "m",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"m\"}}"}}}`: "Provider returned error: m",
		`{"error":{"message":"p","metadata":{"raw":{"x":1}}}}`:                                                 `p: {"x":1}`,
		`{"other":1}`:        `{"other":1}`,
		`{"error":[1]}`:      `[1]`,
		`not json`:           `not json`,
		`<title>502</title>`: `502`,
		"\xff\x00":           "\ufffd\x00",
		``:                   ``,
	} {
		if got := parseFailure([]byte(body)).message; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestStatuses: with nothing but a status to go by, only those that may pass are
// typed as what is tried again.
func TestStatuses(t *testing.T) {
	passing := map[llm.ErrorKind]bool{llm.ErrRateLimit: true, llm.ErrOverloaded: true, llm.ErrServer: true, llm.ErrNetwork: true}
	for status := 400; status < 600; status++ {
		f := failure{status: status, message: "no"}
		want := status >= 500 || status == 408 || status == 409 || status == 429 || status == 498
		if got := f.kind(); passing[got] != want {
			t.Errorf("%d is %s", status, got)
		}
	}
}

func FuzzParseFailure(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m","code":5,"metadata":{"raw":"{}"}}}`))
	f.Add([]byte(`[{"error":{"message":"try again in 1m2.5s","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"3s","violations":[{"quotaId":"PerDay"}]}]}}]`))
	f.Add([]byte(`{"detail":[{"loc":["body","messages",1],"msg":"maximum context length is 8,192 tokens"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := parseFailure(body)
		if got.kind() == "" {
			t.Fatal("no kind")
		}
		block(got.param, got.message)
		if w := got.contextWindow(); w < 0 {
			t.Fatalf("a window of %d", w)
		}
		h := http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {got.message}}
		if d := got.retryAfter(llm.ErrRateLimit, h, time.Unix(0, 0)); d < 0 || d > year {
			t.Fatalf("a wait of %v", d)
		}
	})
}

func TestClip(t *testing.T) {
	if got := clip(strings.Repeat("ü", 10), 5); got != "üü…" {
		t.Error(got)
	}
}

func TestSpoken(t *testing.T) {
	thinking := core.Block{Type: core.BlockThinking, Provider: "x", Opaque: `{}`}
	foreign := core.Block{Type: core.BlockOpaque, Provider: "y", Opaque: `{}`}
	for i, tt := range []struct {
		in   []core.Block
		want int
	}{
		{nil, 0},
		{[]core.Block{thinking}, 0},
		{[]core.Block{thinking, core.Text("a")}, 2},
		{[]core.Block{core.Text("a"), thinking, core.Text(" "), foreign}, 1},
		{[]core.Block{thinking, {Type: core.BlockOpaque, Provider: "x", Opaque: `{}`}}, 2},
		{[]core.Block{thinking, {Type: core.BlockOpaque, Provider: "x", Opaque: `{`}}, 0},
	} {
		if got := Spoken(tt.in, "x"); len(got) != tt.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

func TestDefaultLimits(t *testing.T) {
	for _, tt := range []struct {
		info            llm.Info
		firstByte, idle time.Duration
	}{
		{llm.Info{}, 2 * time.Minute, 2 * time.Minute},
		{llm.Info{Local: true}, 20 * time.Minute, 2 * time.Minute},
		{llm.Info{Thinks: true}, 20 * time.Minute, 20 * time.Minute},
	} {
		got := withDefaults(llm.TimeLimits{}, &tt.info)
		if want := (llm.TimeLimits{Connect: 10 * time.Second, FirstByte: tt.firstByte, Idle: tt.idle}); got != want {
			t.Errorf("%+v: %+v, want %+v", tt.info, got, want)
		}
	}
	own := llm.TimeLimits{Connect: 1, FirstByte: 2, Idle: 3}
	if got := withDefaults(own, &llm.Info{Thinks: true}); got != own {
		t.Errorf("%+v", got)
	}
}
