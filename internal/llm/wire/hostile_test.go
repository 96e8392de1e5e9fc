package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"

	"garuda/internal/llm"
)

// forever is a stream that repeats itself without end.
type forever struct {
	text string
	at   int
}

func (f *forever) Read(p []byte) (int, error) {
	for n := range p {
		p[n] = f.text[f.at%len(f.text)]
		f.at++
	}
	return len(p), nil
}

func TestAnAnswerWithoutEndIsGivenUp(t *testing.T) {
	for name, text := range map[string]string{
		"events":   "data: {" + strings.Repeat(" ", 30_000) + "}\n\n",
		"comments": ": still here\n\n",
		"a line":   "x",
	} {
		r := Recorded(t.Context(), &llm.Info{Spec: "x/m"}, &forever{text: text})
		var err error
		for err == nil {
			_, err = r.Next()
		}
		r.Close()
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.ErrProtocol || !e.NoRetry {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoByteMakesTheRestLonger(t *testing.T) {
	clock := &byHand{timers: make(chan func(), 8)}
	var cause error
	dog := startWatchdog(clock, time.Minute, waitFirstByte, func(err error) { cause = err })
	<-clock.timers
	dog.within(10*time.Second, waitRest)
	fire := <-clock.timers
	clock.passed.Add(int64(9 * time.Second))
	dog.touch()
	dog.watch(time.Minute, waitNextByte)
	fire()
	if cause == nil || !strings.HasSuffix(cause.Error(), waitRest) {
		t.Errorf("the wait goes on: %v", cause)
	}
}

// TestWhatFollowsIsBounded: neither what comes behind an answer nor the words of
// an error may drip for as long as a server likes.
func TestWhatFollowsIsBounded(t *testing.T) {
	for name, tt := range map[string]struct {
		do    func(r *Reply)
		limit time.Duration
	}{
		"behind the answer":   {func(r *Reply) { r.Patience(3 * time.Second) }, 3 * time.Second},
		"to the stream's end": {func(r *Reply) { r.Settle() }, settleLimit},
		"of an error": {func(r *Reply) {
			_ = r.check(&http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}})
		}, errorBodyLimit},
	} {
		r := Recorded(t.Context(), &llm.Info{Spec: "x/m"}, strings.NewReader("words"))
		r.dog = startWatchdog(r.client.clock, time.Hour, waitNextByte, r.cancel)
		tt.do(r)
		if !r.dog.fixed || r.dog.limit != tt.limit {
			t.Errorf("%s: fixed %v, limit %v", name, r.dog.fixed, r.dog.limit)
		}
		r.Close()
	}
}

// TestErrorsThatAreNoText: nobody reads bytes, and nothing is ever unpacked.
func TestErrorsThatAreNoText(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(bytes.Repeat([]byte(`{"error":{"message":"too long"}}`), 10_000))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []string{"gzip", "identity", ""} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
			}
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(packed.Bytes())
		}))
		e := postError(t, testClient(t, srv.URL, nil))
		if e.Kind != llm.ErrBadRequest || strings.ContainsFunc(e.Message, unicode.IsControl) || strings.Contains(e.Message, "\ufffd") {
			t.Errorf("%q: %+v", encoding, e)
		}
		srv.Close()
	}
	if isBinary([]byte("größe\n日本 \x1b[31mred")) || isBinary(nil) || !isBinary(bytes.Repeat([]byte("\x00\x01abc"), 10)) {
		t.Error("text is taken for bytes, or bytes for text")
	}
}
