package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/sse"
)

const (
	maxErrorBody = 64 << 10
	maxJSONBody  = sse.MaxEvent
	// settleLimit is how long a finished answer may take to end its connection's
	// turn, so that the connection can be used again.
	settleLimit = 100 * time.Millisecond
	// errorBodyLimit is how long the words of an error may take to arrive; its
	// status says enough without them.
	errorBodyLimit = 10 * time.Second
	// maxAnswer bounds what one answer may bring in all. The longest that models
	// write are a few tens of megabytes on the wire, each token an event.
	maxAnswer = 128 << 20
)

// Reply is an answer that is arriving. It belongs to one goroutine.
type Reply struct {
	// JSON is true when the server answered with one JSON document instead of a
	// stream of events.
	JSON bool

	client  *Client
	parent  context.Context
	ctx     context.Context
	cancel  context.CancelCauseFunc
	dog     *watchdog
	url     string
	status  int
	body    io.ReadCloser
	events  *sse.Reader
	peeked  []byte
	arrived int
	gotByte bool
	ended   bool
	partial bool
}

// Recorded is a reply whose events are read from src instead of a connection: for
// fuzzing and for reading a recorded stream. It has no limits and no address.
func Recorded(ctx context.Context, info *llm.Info, src io.Reader) *Reply {
	inner, cancel := context.WithCancelCause(ctx)
	r := &Reply{client: &Client{info: info, clock: core.SystemClock}, parent: ctx, ctx: inner, cancel: cancel, status: http.StatusOK, gotByte: true}
	r.dog = &watchdog{clock: core.SystemClock, cancel: cancel, done: true}
	r.body = io.NopCloser(src)
	r.events = sse.NewReader((*watched)(r))
	return r
}

func (r *Reply) open(resp *http.Response) {
	r.body, r.status = resp.Body, resp.StatusCode
	r.events = sse.NewReader((*watched)(r))
}

// errEndless is an answer of which no end is to be seen.
var errEndless = errors.New("the server's answer is larger than 128 MB")

// watched is the reply's body; every byte of it, comments too, keeps the
// watchdog quiet.
type watched Reply

func (w *watched) Read(p []byte) (int, error) {
	if len(w.peeked) > 0 {
		n := copy(p, w.peeked)
		w.peeked = w.peeked[n:]
		return n, nil
	}
	n, err := w.body.Read(p)
	if n > 0 {
		if w.gotByte {
			w.dog.touch()
		} else {
			w.gotByte = true
			w.dog.watch(w.client.limits.Idle, waitNextByte)
		}
	}
	w.ended = w.ended || errors.Is(err, io.EOF)
	if w.arrived += n; w.arrived > maxAnswer {
		return 0, errEndless
	}
	return n, err
}

// check refuses every answer that cannot be read as events or JSON.
func (r *Reply) check(resp *http.Response) error {
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return r.redirected(resp)
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		r.dog.within(errorBodyLimit, waitRest)
		body, _ := r.read(maxErrorBody) // of a body that breaks off, the status says enough
		if err := r.parent.Err(); err != nil {
			return err
		}
		if compression(resp) != "" {
			body = nil // the status says enough
		}
		return r.classify(body, resp.Header)
	}
	if enc := compression(resp); enc != "" {
		return r.Protocol("the server compressed its answer (%s), which was not asked for", enc)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		return nil
	case "application/json":
		r.JSON = true
		return nil
	case "", "text/plain", "application/octet-stream", "application/x-ndjson", "application/x-jsonl":
		return r.sniff()
	}
	return r.wrongType(kind)
}

// compression is how an answer is compressed; empty for one that is not. None was asked
// for, and none is ever unpacked: a small one can hold a very large one.
func compression(resp *http.Response) string {
	if enc := resp.Header.Get("Content-Encoding"); enc != "identity" {
		return enc
	}
	return ""
}

// sniff looks at the first bytes where the server does not say what it sends.
func (r *Reply) sniff() error {
	buf := make([]byte, 64)
	for n := 0; ; {
		m, err := (*watched)(r).Read(buf[n:])
		n += m
		r.peeked = nil
		start := bytes.TrimLeft(bytes.TrimPrefix(buf[:n], []byte("\ufeff")), " \t\r\n")
		if err != nil && !errors.Is(err, io.EOF) {
			return r.fail(err)
		}
		if len(start) < len("event") && err == nil && n < len(buf) {
			continue
		}
		r.peeked = buf[:n]
		switch {
		case bytes.HasPrefix(start, []byte("{")):
			r.JSON = true
			return nil
		case bytes.HasPrefix(start, []byte("data")), bytes.HasPrefix(start, []byte("event")),
			bytes.HasPrefix(start, []byte(":")), bytes.HasPrefix(start, []byte("id:")), bytes.HasPrefix(start, []byte("retry")):
			return nil
		}
		return r.wrongType("text/plain")
	}
}

func (r *Reply) wrongType(kind string) error {
	body, _ := r.read(maxErrorBody)
	e := r.newError(llm.ErrProtocol, fmt.Sprintf("the server answered with %s instead of a stream of events: %s", kind, r.excerpt(body)))
	e.Hint = "check the base URL: it must be that of a model API, usually ending in /v1"
	return e
}

// Next returns the next event; io.EOF when the stream ended. Other errors are
// typed, or the caller's own when it gave up.
func (r *Reply) Next() (sse.Event, error) {
	if err := r.parent.Err(); err != nil {
		return sse.Event{}, err
	}
	ev, err := r.events.Next()
	switch {
	case err == nil:
		r.partial = true
		return ev, nil
	case errors.Is(err, io.EOF):
		return ev, err
	case errors.Is(err, sse.ErrTooLarge), errors.Is(err, errEndless):
		e := r.wrap(llm.ErrProtocol, err.Error(), err)
		e.NoRetry = true // it was paid for, and the next one would be like it
		return ev, e
	}
	return ev, r.fail(err)
}

// Document returns the whole body of a JSON answer.
func (r *Reply) Document() ([]byte, error) {
	body, err := r.read(maxJSONBody + 1)
	if err != nil {
		return nil, r.fail(err)
	}
	if len(body) > maxJSONBody {
		return nil, r.Protocol("the server's answer is larger than 32 MB")
	}
	return body, nil
}

// read returns up to limit bytes of the body.
func (r *Reply) read(limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader((*watched)(r), limit))
}

// Patience replaces the idle limit by one for all that may still come, but need
// not, after the answer is complete: bytes do not make it longer.
func (r *Reply) Patience(limit time.Duration) { r.dog.within(limit, waitRest) }

// Settle reads what is left after the answer's last event, so that the
// connection can serve the next request. It never waits long.
func (r *Reply) Settle() {
	if r.ended {
		return
	}
	r.dog.within(settleLimit, waitRest)
	_, _ = io.Copy(io.Discard, io.LimitReader((*watched)(r), maxErrorBody)) // the answer is complete either way
}

// Close ends the request, at once if it is still going on.
func (r *Reply) Close() {
	r.dog.close()
	r.cancel(nil)
	if r.body != nil {
		_ = r.body.Close() // there is nothing to lose: what was wanted has been read
	}
}
