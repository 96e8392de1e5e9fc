package wire

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"garuda/internal/llm"
)

// TestRefusedProxy: the proxy environment is read once a process, so the error is
// made here as net/http makes it.
func TestRefusedProxy(t *testing.T) {
	c, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "x/m"}, BaseURL: "https://example.com/v1"}, Auth{Header: "Authorization", Prefix: "Bearer "})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reply{client: c, parent: t.Context(), ctx: t.Context(), url: "https://example.com/v1/x"}
	dial := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for _, tt := range []struct {
		err  error
		kind llm.ErrorKind
		hint string
	}{
		{dial, llm.ErrRefused, "base URL"},
		{&net.OpError{Op: "proxyconnect", Err: dial}, llm.ErrNetwork, "HTTPS_PROXY"},
		{&net.DNSError{Err: "no such host", Name: "example.com", IsNotFound: true}, llm.ErrNetwork, "the network"},
	} {
		e, ok := errors.AsType[*llm.Error](r.fail(tt.err))
		if !ok || e.Kind != tt.kind || !strings.Contains(e.Hint, tt.hint) || !errors.Is(e, tt.err) {
			t.Errorf("%v: %+v", tt.err, e)
		}
	}
}

func TestQueryIsKeptButNotShown(t *testing.T) {
	c, err := New(llm.ClientConfig{Info: &llm.Info{Spec: "x/m"}, BaseURL: "https://example.com/v1/?api-version=7"}, Auth{Header: "Api-Key"})
	if err != nil {
		t.Fatal(err)
	}
	target := c.base.JoinPath("chat/completions")
	if target.String() != "https://example.com/v1/chat/completions?api-version=7" || withoutQuery(target) != "https://example.com/v1/chat/completions" {
		t.Error(target, withoutQuery(target))
	}
}
