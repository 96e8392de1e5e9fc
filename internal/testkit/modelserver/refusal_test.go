package modelserver

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestBetween is what proxies and gateways do.
func TestBetween(t *testing.T) {
	for kind, want := range map[string]struct {
		status       int
		header, body string
	}{
		Gateway:    {502, "text/html", "<title>502 Bad Gateway</title>"},
		Compressed: {200, "text/event-stream", "\x28\xb5"},
		Nothing:    {200, "text/event-stream", ""},
	} {
		s := Start(t, &Scenario{Steps: []Step{{Text: "t", Fault: &Fault{Kind: kind}}}}, Options{})
		resp, data := mustPost(t, s, "chat", streamed)
		if resp.StatusCode != want.status || resp.Header.Get("Content-Type") != want.header || !strings.Contains(string(data), want.body) || want.body == "" && len(data) > 0 {
			t.Errorf("%s: %d %v %q", kind, resp.StatusCode, resp.Header, data)
		}
		if got := s.Requests()[0]; got.Fault != kind || got.Status != want.status {
			t.Errorf("%s was recorded as %+v", kind, got)
		}
	}
	s := Start(t, &Scenario{Steps: []Step{{Text: "t", Fault: &Fault{Kind: Redirect}}}}, Options{})
	resp, _ := mustPost(t, s, "chat", streamed)
	if resp.StatusCode != http.StatusTemporaryRedirect || resp.Header.Get("Location") != "/elsewhere" {
		t.Errorf("redirect: %d %v", resp.StatusCode, resp.Header)
	}
}

func TestHeadersOnly(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{{Text: "t", Fault: &Fault{Kind: HeadersOnly}}}}, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := post(ctx, t, s, "chat", streamed)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	cancel()
	if data, err := io.ReadAll(resp.Body); err == nil || len(data) > 0 {
		t.Errorf("%q, %v", data, err)
	}
}
