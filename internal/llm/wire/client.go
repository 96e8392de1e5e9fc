package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
)

// The default limits of one attempt; see [llm.TimeLimits].
const (
	connectLimit  = 10 * time.Second
	byteLimit     = 2 * time.Minute
	byteLimitLong = 20 * time.Minute
)

// Auth says how requests are authorised.
type Auth struct {
	// Header carries the key: "Authorization" with the prefix "Bearer ", or
	// "X-Api-Key" with none. Empty where Transport does it; the key is then only
	// kept out of errors.
	Header, Prefix string
	// Transport, where it is set, wraps what carries the requests: to sign each
	// with its body's hash (req.GetBody gives it), to fetch a token, or to turn
	// another framing of the answer into events. It runs in the goroutine that
	// called Post. hide keeps a secret that it came by out of later errors. An
	// *llm.Error that it returns needs neither Model nor URL.
	Transport func(next http.RoundTripper, hide func(secret string)) http.RoundTripper
}

// Client sends the requests of one model over HTTP.
type Client struct {
	info    *llm.Info
	base    *url.URL
	key     string
	header  http.Header
	limits  llm.TimeLimits
	clock   core.Clock
	http    *http.Client
	idle    *http.Transport // whose waiting connections can be closed
	secrets []string
	unsent  func(hash string)
}

// New checks the configuration and makes a client; nothing is dialled yet.
func New(cfg llm.ClientConfig, auth Auth) (*Client, error) {
	if cfg.Info == nil {
		return nil, errors.New("model client: no model information")
	}
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("model %s: base URL %q is not an http or https address", cfg.Info.Spec, withoutUser(cfg.BaseURL))
	}
	if base.User != nil {
		return nil, fmt.Errorf("model %s: the base URL holds a user name or password; use apiKeyEnv or headers instead", cfg.Info.Spec)
	}
	c := &Client{
		info: cfg.Info, base: base, key: cfg.Key, header: http.Header{},
		limits: withDefaults(cfg.Limits, cfg.Info), clock: cfg.Clock, unsent: cfg.Unsent,
	}
	if c.clock == nil {
		c.clock = core.SystemClock
	}
	for k, v := range cfg.Headers {
		c.header.Set(k, v)
		c.secrets = appendSecret(c.secrets, v)
	}
	if cfg.Key != "" { // last, so that no configured header takes its place
		if auth.Header != "" {
			c.header.Set(auth.Header, auth.Prefix+cfg.Key)
		}
		c.secrets = appendSecret(c.secrets, cfg.Key)
	}
	c.idle = transport(c.limits.Connect)
	c.http = &http.Client{Transport: c.idle, CheckRedirect: refuseRedirect}
	if auth.Transport != nil {
		c.http.Transport = auth.Transport(c.idle, func(s string) { c.secrets = appendSecret(c.secrets, s) })
	}
	return c, nil
}

// withoutUser cuts what may be a password out of an address that did not parse.
func withoutUser(s string) string {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return "…" + s[at:]
	}
	return s
}

func withDefaults(l llm.TimeLimits, info *llm.Info) llm.TimeLimits {
	if l.Connect == 0 {
		l.Connect = connectLimit
	}
	if l.FirstByte == 0 {
		l.FirstByte = byteLimit
		if info.Local || info.Thinks {
			l.FirstByte = byteLimitLong
		}
	}
	if l.Idle == 0 {
		l.Idle = byteLimit
		if info.Thinks {
			l.Idle = byteLimitLong
		}
	}
	return l
}

func transport(connect time.Duration) *http.Transport {
	dialer := &net.Dialer{Timeout: connect, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 4,
	}}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: connect,
		ForceAttemptHTTP2:   true,
		DisableCompression:  true, // a compressed stream arrives late and in lumps
		MaxIdleConnsPerHost: 1,    // one call at a time
		IdleConnTimeout:     90 * time.Second,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      16 << 10,
	}
}

// refuseRedirect hands the redirect itself back; Post reports it.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Info describes the model.
func (c *Client) Info() *llm.Info { return c.info }

// CloseIdleConnections closes the connections that no request uses.
func (c *Client) CloseIdleConnections() { c.idle.CloseIdleConnections() }

// SetDefaultHeader adds a header of the wire format to each request, unless the
// configuration has one.
func (c *Client) SetDefaultHeader(key, value string) {
	if c.header.Get(key) == "" {
		c.header.Set(key, value)
	}
}

// Post sends the body, which may be nil, to base + path and returns once the
// answer's headers are there. The error is an *llm.Error, or ctx's own.
func (c *Client) Post(ctx context.Context, path string, body *Body) (*Reply, error) {
	return c.send(ctx, http.MethodPost, path, body)
}

// Get asks for base + path, as Post sends.
func (c *Client) Get(ctx context.Context, path string) (*Reply, error) {
	return c.send(ctx, http.MethodGet, path, nil)
}

func (c *Client) send(ctx context.Context, method, path string, body *Body) (*Reply, error) {
	if c.unsent != nil {
		if body != nil {
			c.unsent(body.Hash())
		}
		return nil, llm.ErrUnsent
	}
	target := c.base.JoinPath(path)
	inner, cancel := context.WithCancelCause(ctx)
	r := &Reply{client: c, parent: ctx, ctx: inner, cancel: cancel, url: withoutQuery(target)}
	req, err := http.NewRequestWithContext(inner, method, target.String(), nil)
	if err != nil {
		cancel(nil)
		return nil, r.wrap(llm.ErrBadRequest, "the request could not be made", err)
	}
	req.Header = c.header.Clone()
	req.Header.Set("Accept", "text/event-stream, application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		body.attach(req)
	}

	r.dog = startWatchdog(c.clock, c.limits.FirstByte, waitFirstByte, cancel)
	resp, err := c.http.Do(req) //nolint:bodyclose // Reply.Close closes it
	if err != nil {
		err = r.fail(unwrapURL(err))
		r.Close()
		return nil, err
	}
	r.open(resp)
	if err := r.check(resp); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// named puts model and address into an error that an Auth.Transport made.
func (r *Reply) named(err error) error {
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Model == "" {
		e.Model, e.URL, e.Message = r.client.info.Spec, r.url, clip(r.client.redact(e.Message), maxMessage)
	}
	return err
}

func withoutQuery(u *url.URL) string {
	v := *u
	v.RawQuery, v.Fragment, v.User = "", "", nil
	return v.String()
}

// unwrapURL drops what *url.Error adds: the method and the address, which the
// typed error carries itself.
func unwrapURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// minSecret is the length below which a value is no secret but a word such as
// "none" or "x", which local servers take as a key.
const minSecret = 5

func appendSecret(secrets []string, v string) []string {
	for _, s := range []string{v, strings.TrimPrefix(v, "Bearer ")} {
		if len(s) >= minSecret && !slices.Contains(secrets, s) {
			secrets = append(secrets, s)
		}
	}
	return secrets
}

// redact takes the key, and the values of configured headers, out of a text.
func (c *Client) redact(s string) string {
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	return s
}
