package llmtest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"garuda/internal/llm"
)

// testAbort ends a request at each event and after each frame: the error is the
// context's own, nothing half-received comes back, the connection is closed and no
// goroutine stays.
func testAbort(t *testing.T, d Dialect) {
	before := goleak.IgnoreCurrent()
	t.Run("at each event", func(t *testing.T) { abortAtEvents(t, d) })
	t.Run("after each frame", func(t *testing.T) { abortAfterFrames(t, d) })
	t.Run("before the answer", func(t *testing.T) { abortBefore(t, d) })
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// wantAborted checks that err is what the context says, and no typed error, which
// would be tried again.
func wantAborted(t testing.TB, what any, r Result, want error) {
	t.Helper()
	if _, typed := errors.AsType[*llm.Error](r.Err); typed || !errors.Is(r.Err, want) || r.Resp != nil {
		t.Fatalf("%v: %v, %v; want %v alone", what, r.Resp, r.Err, want)
	}
}

// abortAtEvents has the caller's own reaction to an event end the request.
func abortAtEvents(t *testing.T, d Dialect) {
	s := NewServer(t, d, nil, Stream(d.Frames(full())...))
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		var r Result
		seen := 0
		r.Resp, r.Err = s.Model.Stream(ctx, hello(), func(llm.Event) {
			if seen++; seen == n {
				cancel()
			}
		})
		cancel()
		if seen < n {
			if r.Err != nil || n < 2 {
				t.Fatalf("%d events, %v", seen, r.Err)
			}
			return
		}
		wantAborted(t, n, r, context.Canceled)
		if seen > n {
			t.Fatalf("%d events after the abort", seen-n)
		}
	}
}

// abortAfterFrames ends it from outside while the server says nothing more; also
// once the answer is complete and only its end is missing.
func abortAfterFrames(t *testing.T, d Dialect) {
	frames := d.Frames(full())
	sent, closed := make(chan struct{}), make(chan struct{})
	var handlers []Handler
	for n := range frames {
		handlers = append(handlers, func(w http.ResponseWriter, r *http.Request, _ []byte) {
			Stream(frames[:n]...)(w, r, nil)
			sent <- struct{}{}
			<-r.Context().Done() // the client hung up
			closed <- struct{}{}
		})
	}
	s := NewServer(t, d, nil, handlers...)
	for n := range handlers {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-sent
			cancel()
		}()
		wantAborted(t, n, Ask(ctx, s.Model, hello()), context.Canceled)
		<-closed
	}
}

// abortBefore ends it while the server has not answered, and before it is asked.
func abortBefore(t *testing.T, d Dialect) {
	asked := make(chan struct{})
	s := NewServer(t, d, nil, func(_ http.ResponseWriter, r *http.Request, _ []byte) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	wantAborted(t, "waiting", Ask(ctx, s.Model, hello()), context.Canceled)
	wantAborted(t, "already", Ask(ctx, s.Model, hello()), context.Canceled)
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	wantAborted(t, "too late", Ask(late, s.Model, hello()), context.DeadlineExceeded)
	if n := s.Requests(); n != 1 {
		t.Errorf("%d requests, want only the first", n)
	}
}
