package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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

// Excess is an answer that is more than anybody can use. The next one would be like
// it, and cost as much.
func (r *Reply) Excess(format string, args ...any) error {
	e := r.newError(llm.ErrProtocol, fmt.Sprintf(format, args...))
	e.NoRetry = true
	return e
}

// BadEvent is an event whose data cannot be read.
func (r *Reply) BadEvent(data []byte, err error) error {
	return r.wrap(llm.ErrProtocol, fmt.Sprintf("the server sent an event that cannot be read (%v): %s", err, r.excerpt(data)), err)
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
		return r.waited(limit)
	}
	if typed, ok := errors.AsType[*llm.Error](err); ok {
		return r.named(typed)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		e := r.wrap(llm.ErrNetwork, "the proxy cannot be reached: "+err.Error(), err)
		e.Hint = "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
		return e
	}
	if strings.HasSuffix(err.Error(), "Proxy Authentication Required") {
		e := r.wrap(llm.ErrAuth, "the proxy wants a user and a password", err)
		e.Hint = "check the user and the password in HTTP_PROXY or HTTPS_PROXY"
		return e
	}
	if IsRefused(err) {
		e := r.wrap(llm.ErrRefused, "no server answers at "+r.url+" (connection refused)", err)
		e.Hint = "check the base URL and that the server is up"
		if r.client.info.Local {
			e.Hint = "is the server running? Start it, or check the base URL"
		}
		return e
	}
	if r.body != nil {
		return r.wrap(llm.ErrNetwork, "the connection broke: "+err.Error(), err)
	}
	return r.unreached(err)
}

// waited is a limit that passed; it says what was there before.
func (r *Reply) waited(limit *limitError) error {
	before := "no answer"
	switch {
	case r.gotByte:
		before = "the answer stopped"
	case r.body != nil:
		before = fmt.Sprintf("the server began its answer (HTTP %d) and sent nothing more", r.status)
	}
	e := r.wrap(llm.ErrIdle, fmt.Sprintf("%s: %v", before, limit), limit)
	if r.client.info.Local && !r.gotByte {
		e.Hint = "the server may still be loading the model, or reading a long prompt"
	}
	return e
}

// unreached is a connection that was not made, or broke before the answer.
func (r *Reply) unreached(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" && op.Timeout() {
		return r.wrap(llm.ErrNetwork, fmt.Sprintf("cannot reach %s: waited %s for the connection", r.url, r.client.limits.Connect), err)
	}
	if strings.HasSuffix(err.Error(), "TLS handshake timeout") {
		return r.wrap(llm.ErrNetwork, fmt.Sprintf("cannot reach %s: waited %s for the TLS handshake", r.url, r.client.limits.Connect), err)
	}
	e := r.wrap(llm.ErrNetwork, "cannot reach "+r.url+": "+err.Error(), err)
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		e.Hint = "check the base URL and the network"
		if !dns.IsNotFound {
			e.Hint = "the name server does not answer; check the network"
		}
	}
	if hint := certificateHint(err); hint != "" {
		e.Kind, e.Hint = llm.ErrProtocol, hint // asking again changes nothing
	}
	return e
}

// certificateHint says what to do about a TLS connection that was refused here;
// empty for every other error.
func certificateHint(err error) string {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the server's certificate is not trusted on this machine: let the variable SSL_CERT_FILE name a file with its authority's certificate (a company's proxy has one of its own)"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the certificate is for another host: check the base URL"
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "the certificate is not valid now: check this machine's clock, then ask whoever runs the server"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the server's certificate cannot be verified on this machine"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.HasSuffix(err.Error(), "server gave HTTP response to HTTPS client") {
		return "the server does not speak TLS: should the base URL begin with http://?"
	}
	return ""
}

// wsaRefused is Windows' own number for a refused connection.
const wsaRefused = syscall.Errno(10061)

// IsRefused reports whether an error means that nothing listens at an address.
func IsRefused(err error) bool {
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

// excerpt takes the keys out of a server's answer before it cuts it.
func (r *Reply) excerpt(b []byte) string { return excerpt([]byte(r.client.redact(string(b)))) }

// excerpt is the start of a server's answer, for a message on one line.
func excerpt(b []byte) string {
	if isBinary(b) {
		return "(bytes that are no text)"
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b[:min(len(b), 600)]), "\ufffd")), " ")
	if s == "" {
		return "(nothing)"
	}
	return clip(s, 200)
}

// isBinary reports whether the start of an answer is no text, such as one that is
// compressed.
func isBinary(b []byte) bool {
	const looked, share, few = 200, 10, 8
	b = b[:min(len(b), looked)]
	odd, read := 0, 0
	for read < len(b) && (utf8.FullRune(b[read:]) || len(b) < looked) {
		c, size := utf8.DecodeRune(b[read:])
		if c == utf8.RuneError && size == 1 || c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != 0x1b || c == 0x7f {
			odd++
		}
		read += size
	}
	return odd > few && odd*share > len(b)
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
