package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"garuda/internal/core"
	"garuda/internal/llm"
)

const (
	// early is how long before its end a token is no longer used.
	early = time.Minute
	// fetchLimit is how long a token server may take.
	fetchLimit = 30 * time.Second
)

// transport puts an access token into each request, and fetches a new one, once,
// when the server refuses it: a token can end before its time. Like the client
// above it, it serves one request at a time.
type transport struct {
	next  http.RoundTripper
	creds *Credentials
	clock core.Clock
	hide  func(secret string)

	token string
	until time.Time // zero where nobody said
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.send(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	body, err := req.GetBody()
	if err != nil {
		return resp, nil //nolint:nilerr // the refusal then stands
	}
	_ = resp.Body.Close() // it says that the token is refused, no more
	t.token = ""
	again := req.Clone(req.Context())
	again.Body = body
	return t.send(again)
}

func (t *transport) send(req *http.Request) (*http.Response, error) {
	if t.token == "" || !t.until.IsZero() && !t.clock.Now().Add(early).Before(t.until) {
		if err := t.fetch(req.Context()); err != nil {
			if req.Body != nil {
				_ = req.Body.Close() // nothing was sent
			}
			return nil, err
		}
	}
	out := req.Clone(req.Context())
	out.Header.Set("Authorization", "Bearer "+t.token)
	if t.creds.quotaProject != "" {
		out.Header.Set("X-Goog-User-Project", t.creds.quotaProject)
	}
	return t.next.RoundTrip(out)
}

var errSlow = errors.New("the token server did not answer in time")

func (t *transport) fetch(parent context.Context) error {
	ctx, cancel := core.Within(parent, t.clock, fetchLimit, errSlow)
	defer cancel()
	got, err := t.creds.fetch(ctx, &http.Client{
		Transport:     inContext{ctx, t.next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	switch {
	case err == nil && got.AccessToken == "":
		err = &llm.Error{Kind: llm.ErrProtocol, Message: "the token server gave no token"}
	case err == nil:
		t.hide(got.AccessToken)
		t.token, t.until = got.AccessToken, time.Time{}
		if !got.Expiry.IsZero() {
			t.until = t.clock.Now().Add(time.Until(got.Expiry))
		}
		return nil
	case parent.Err() != nil:
		return parent.Err()
	case errors.Is(context.Cause(ctx), errSlow):
		return &llm.Error{Kind: llm.ErrIdle, Message: fmt.Sprintf("%v (%s)", errSlow, fetchLimit), Err: errSlow}
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return t.refusal(refused.Response.StatusCode, refused.Body)
	}
	return fmt.Errorf("fetch an access token: %w", err)
}

// refusal types what a token server says. Its error is not wrapped: that one
// prints the whole answer.
func (t *transport) refusal(status int, body []byte) error {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(body, &said) // what is no JSON says nothing here
	e := &llm.Error{Kind: llm.ErrAuth, Status: status, Hint: "check " + t.creds.Source + "; `gcloud auth application-default login` makes new credentials"}
	e.Message = strings.TrimSuffix("Google gives no access token: "+strings.TrimSpace(said.Error+" "+said.Description), ": ")
	switch {
	case status == http.StatusTooManyRequests:
		e.Kind, e.Hint = llm.ErrRateLimit, ""
	case status >= http.StatusInternalServerError:
		e.Kind, e.Hint = llm.ErrServer, ""
	}
	return e
}

// inContext makes requests end with ctx: not every token source hands it on.
type inContext struct {
	ctx  context.Context
	next http.RoundTripper
}

func (c inContext) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.next.RoundTrip(req.WithContext(c.ctx))
}
