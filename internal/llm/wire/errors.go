package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"syscall"
	"unicode/utf8"

	"garuda/internal/llm"
)

// maxMessage bounds what of a server's words goes into an error, in bytes.
const maxMessage = 2_000

func (r *Reply) newError(kind llm.ErrorKind, message string) *llm.Error {
	return &llm.Error{
		Kind: kind, Model: r.client.info.Spec, URL: r.url, Status: r.status,
		Message: clip(r.client.redact(message), maxMessage), Streaming: r.partial,
	}
}

func (r *Reply) wrap(kind llm.ErrorKind, message string, err error) *llm.Error {
	e := r.newError(kind, message)
	e.Err = err
	return e
}

// Protocol is an answer that breaks the protocol.
func (r *Reply) Protocol(format string, args ...any) error {
	return r.newError(llm.ErrProtocol, fmt.Sprintf(format, args...))
}

// BadEvent is an event whose data cannot be read.
func (r *Reply) BadEvent(data []byte, err error) error {
	return r.wrap(llm.ErrProtocol, fmt.Sprintf("the server sent an event that cannot be read (%v): %s", err, excerpt(data)), err)
}

// Cut is a stream that ended before its answer was complete; nothing of it
// counts, so it can be asked for again.
func (r *Reply) Cut(before string) error {
	e := r.newError(llm.ErrNetwork, "the connection ended before "+before)
	e.Streaming = true
	return e
}

// Unusable is an answer that came whole and is of no use; it can be asked for
// again.
func (r *Reply) Unusable(format string, args ...any) error {
	return r.newError(llm.ErrServer, fmt.Sprintf(format, args...))
}

// BadRequest is a request that cannot be encoded; it was not sent.
func (c *Client) BadRequest(err error) error {
	return &llm.Error{Kind: llm.ErrBadRequest, Model: c.info.Spec, URL: withoutQuery(c.base), Message: c.redact(err.Error()), Err: err}
}

// fail types an error of the connection.
func (r *Reply) fail(err error) error {
	if ctxErr := r.parent.Err(); ctxErr != nil {
		return ctxErr
	}
	if limit, ok := errors.AsType[*limitError](context.Cause(r.ctx)); ok {
		e := r.wrap(llm.ErrIdle, fmt.Sprintf("no answer: %v", limit), limit)
		if r.gotByte {
			e.Message = fmt.Sprintf("the answer stopped: %v", limit)
		}
		return e
	}
	if typed, ok := errors.AsType[*llm.Error](err); ok {
		return typed
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		e := r.wrap(llm.ErrNetwork, "the proxy cannot be reached: "+err.Error(), err)
		e.Hint = "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
		return e
	}
	if refused(err) {
		e := r.wrap(llm.ErrRefused, "no server answers at "+r.url+" (connection refused)", err)
		e.Hint = "check the base URL and that the server is up"
		if r.client.info.Local {
			e.Hint = "is the server running? Start it, or check the base URL"
		}
		return e
	}
	return r.network(err)
}

func (r *Reply) network(err error) error {
	if r.body != nil {
		return r.wrap(llm.ErrNetwork, "the connection broke: "+err.Error(), err)
	}
	e := r.wrap(llm.ErrNetwork, "cannot reach "+r.url+": "+err.Error(), err)
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		e.Hint = "check the base URL and the network"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		e.Kind = llm.ErrProtocol // asking again changes nothing
		e.Hint = "the server's certificate is not trusted on this machine"
	}
	return e
}

// wsaRefused is Windows' own number for a refused connection.
const wsaRefused = syscall.Errno(10061)

func refused(err error) bool {
	number, ok := errors.AsType[syscall.Errno](err)
	return ok && (number == syscall.ECONNREFUSED || runtime.GOOS == "windows" && number == wsaRefused)
}

// redirected names where the server wanted to send the request, and the key with it.
func (r *Reply) redirected(resp *http.Response) error {
	target := "an address it did not name"
	if to, err := resp.Location(); err == nil {
		target = withoutQuery(to)
	} else if to, err := url.Parse(resp.Header.Get("Location")); err == nil && to.Path != "" {
		target = withoutQuery(to)
	}
	e := r.newError(llm.ErrProtocol, "the server redirects to "+target+", which is not followed")
	e.Hint = "if that is the right place, set it as the base URL"
	return e
}

// excerpt is the start of a server's answer, for a message on one line.
func excerpt(b []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b[:min(len(b), 600)]), "\ufffd")), " ")
	if s == "" {
		return "(nothing)"
	}
	return clip(s, 200)
}

// clip cuts s at a rune border to at most n bytes and an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
