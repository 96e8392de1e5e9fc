package bedrock

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// raw is the dialect of a server that speaks Amazon's framing itself.
func raw() llmtest.Dialect {
	d := dialect
	d.New = func(cfg llm.ClientConfig) (llm.Model, error) {
		return New(cfg, Credentials{Region: "us-east-1", Bearer: cfg.Key})
	}
	return d
}

func sends(b []byte) llmtest.Handler {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", framing)
		_, _ = w.Write(b)
	}
}

// messages are an answer's events, each as a message.
func messages(r llmtest.Reply) [][]byte {
	var out [][]byte
	for _, f := range frames(r) {
		out = append(out, message([]byte(strings.TrimSuffix(f, "\n\n"))))
	}
	return out
}

// prelude is a message's first twelve bytes, with its checksum right.
func prelude(total, headers uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, total)
	b = binary.BigEndian.AppendUint32(b, headers)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func TestHostileFraming(t *testing.T) {
	whole := messages(llmtest.Reply{Text: []string{"one", "two"}})
	before := bytes.Join(whole[:4], nil)
	changed := func(at int) []byte {
		m := bytes.Clone(whole[4])
		m[(at+len(m))%len(m)] ^= 0x40
		return m
	}
	endless := append(prelude(16+100, 0), make([]byte, 100)...)
	for name, tt := range map[string]struct {
		last []byte
		kind llm.ErrorKind
	}{
		"length changed":          {changed(0), llm.ErrNetwork},
		"prelude checksum":        {changed(8), llm.ErrNetwork},
		"header changed":          {changed(14), llm.ErrNetwork},
		"payload changed":         {changed(-10), llm.ErrNetwork},
		"checksum changed":        {changed(-1), llm.ErrNetwork},
		"4 GB long":               {prelude(0xffffffff, 0), llm.ErrNetwork},
		"headers of 4 GB":         {prelude(0xffffffff, 0xffffff00), llm.ErrNetwork},
		"headers above the total": {prelude(100, 1000), llm.ErrNetwork},
		"shorter than itself":     {prelude(3, 0), llm.ErrNetwork},
		"wrong sum at the end":    {endless, llm.ErrNetwork},
		"no framing":              {[]byte("HTTP/1.1 200 OK\r\n\r\nhello, this is no event stream at all"), llm.ErrNetwork},
		"server-sent events":      {[]byte(llmtest.Data(`{"type":"message_stop"}`)), llm.ErrNetwork},
		"exception without name":  {encoded([]byte(`{"message":"m"}`), ":message-type", "exception"), llm.ErrServer},
		"exception of no JSON":    {encoded([]byte("\x00\xff\r\n\r\ndata: {}"), ":message-type", "exception", ":exception-type", "throttlingException"), llm.ErrRateLimit},
		"name with line breaks":   {encoded([]byte(`{}`), ":message-type", "exception", ":exception-type", "throttlingException\r\n\r\ndata: {}"), llm.ErrRateLimit},
		"error with line breaks":  {encoded(nil, ":message-type", "error", ":error-code", "x\n\ny", ":error-message", "a\r\n\r\ndata: {}"), llm.ErrServer},
		"chunk of bytes":          {chunk([]byte{0, 0xff, '\r', '\n', '\n'}), llm.ErrProtocol},
		"chunk of nothing":        {chunk(nil), llm.ErrProtocol},
		"chunk that holds events": {chunk([]byte("{}\n\ndata: {\"type\":\"message_stop\"}")), llm.ErrProtocol},
		"chunk without bytes":     {encoded([]byte(`{"bytes":7}`), ":message-type", "event", ":event-type", "chunk"), llm.ErrNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, raw(), nil, sends(append(bytes.Clone(before), tt.last...)))
			r := llmtest.Ask(t.Context(), s.Model, hello())
			if e := llmtest.WantError(t, r.Err, tt.kind); r.Resp != nil || e.Model == "" || e.URL == "" {
				t.Errorf("%+v, %+v", r.Resp, e)
			}
		})
	}
}

// TestCutFraming cuts an answer at every byte, in good order and not.
func TestCutFraming(t *testing.T) {
	all := messages(llmtest.Reply{Text: []string{"ok"}, Calls: []llmtest.Call{{ID: "c1", Name: "bash", Args: []string{`{"a":1}`}}}})
	stream := bytes.Join(all, nil)
	complete := len(stream) - len(all[len(all)-1])
	var handlers []llmtest.Handler
	for n := range stream {
		handlers = append(handlers, func(w http.ResponseWriter, r *http.Request, b []byte) {
			sends(stream[:n])(w, r, b)
			if n%2 == 1 {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
	}
	s := llmtest.NewServer(t, raw(), nil, handlers...)
	for n := range stream {
		r := llmtest.Ask(t.Context(), s.Model, hello())
		if n >= complete {
			if r.Err != nil {
				t.Fatalf("cut at %d, behind the answer: %v", n, r.Err)
			}
			continue
		}
		if _ = llmtest.WantError(t, r.Err, llm.ErrNetwork); r.Resp != nil {
			t.Fatalf("cut at %d: %+v", n, r.Resp)
		}
	}
}

// countless gives a message over and over.
type countless struct {
	message []byte
	at      int
	given   int
}

func (c *countless) Read(p []byte) (int, error) {
	n := copy(p, c.message[c.at:])
	c.at = (c.at + n) % len(c.message)
	c.given += n
	return n, nil
}

// TestFramingIsBounded: the largest messages that are taken cost no more than a few
// of them in memory, and those that say nothing do not keep an answer alive for ever.
func TestFramingIsBounded(t *testing.T) {
	large := encoded(bytes.Repeat([]byte("x"), 1<<20), ":message-type", "event", ":event-type", "news")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := newEvents(io.NopCloser(io.LimitReader(&countless{message: large}, int64(20*len(large)))))
	if got, err := io.ReadAll(e); err != nil || len(got) > 0 {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 12<<20 {
		t.Errorf("%d MB were allocated for messages of 1", grown>>20)
	}
	src := &countless{message: encoded(nil, ":message-type", "event", ":event-type", "news")}
	e = newEvents(io.NopCloser(src))
	if e.left != maxStream {
		t.Errorf("%d bytes may come", e.left)
	}
	e.left = 1 << 20
	_, err := io.Copy(io.Discard, e)
	if typed, ok := errors.AsType[*llm.Error](err); !ok || !typed.NoRetry || src.given > 2<<20 {
		t.Errorf("%v after %d bytes", err, src.given)
	}
}

func TestExceptionBehindAnAnswer(t *testing.T) {
	stream := bytes.Join(append(messages(llmtest.Reply{Text: []string{"ok"}}), encoded([]byte(`{"message":"late"}`), ":message-type", "exception", ":exception-type", "internalServerException")), nil)
	s := llmtest.NewServer(t, raw(), nil, sends(stream))
	if r := llmtest.MustAsk(t, s.Model, hello()); r.Text() != "ok" || r.Resp.Stop != core.StopEndTurn {
		t.Errorf("%+v", r.Resp)
	}
	if _, ok := errors.AsType[*llm.Error](llmtest.Ask(t.Context(), s.Model, hello()).Err); ok {
		t.Error("an answer that is whole was thrown away")
	}
}
