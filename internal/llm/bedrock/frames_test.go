package bedrock

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// exceptionMark begins the name of an event that is to become an exception.
const exceptionMark = "exception:"

// framed puts server-sent events that come in into Amazon's framing.
func framed(next http.RoundTripper) http.RoundTripper { return framer{next} }

type framer struct{ next http.RoundTripper }

func (f framer) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := f.next.RoundTrip(req)
	if err == nil && resp.Header.Get("Content-Type") == "text/event-stream" {
		resp.Header.Set("Content-Type", framing)
		resp.Body = &reframed{ReadCloser: resp.Body}
	}
	return resp, err
}

// reframed reads server-sent events and gives out a message for each. The rest
// of one that breaks off becomes a message that breaks off, and a comment a
// message that says nothing.
type reframed struct {
	io.ReadCloser
	text   []byte // normalised, not yet used
	out    []byte
	lastCR bool
	err    error
}

func (r *reframed) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		buf := make([]byte, 32<<10)
		n, err := r.ReadCloser.Read(buf)
		r.take(buf[:n])
		if r.err = err; errors.Is(err, io.EOF) {
			r.end()
		}
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

func (r *reframed) take(b []byte) {
	for _, c := range b {
		if c == '\n' && r.lastCR {
			r.lastCR = false
			continue
		}
		if r.lastCR = c == '\r'; r.lastCR {
			c = '\n'
		}
		r.text = append(r.text, c)
	}
	for {
		event, rest, ok := bytes.Cut(r.text, []byte("\n\n"))
		if !ok {
			return
		}
		r.out = append(r.out, message(event)...)
		r.text = rest
	}
}

func (r *reframed) end() {
	m := message(r.text)
	if data := dataOf(r.text); len(data) > 0 && !json.Valid(data) {
		m = m[:len(m)/2]
	}
	r.out = append(r.out, m...)
}

func dataOf(event []byte) []byte {
	var data []byte
	for line := range bytes.SplitSeq(event, []byte("\n")) {
		if d, ok := bytes.CutPrefix(bytes.TrimPrefix(line, []byte("\ufeff")), []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(d, []byte(" "))...)
		}
	}
	return data
}

func message(event []byte) []byte {
	data := dataOf(event)
	if name, ok := bytes.CutPrefix(event, []byte("event: "+exceptionMark)); ok {
		name, _, _ = bytes.Cut(name, []byte("\n"))
		return encoded(data, ":message-type", "exception", ":exception-type", string(name))
	}
	switch {
	case len(data) > 0:
		return chunk(data)
	case bytes.HasPrefix(event, []byte(":")):
		return chunk([]byte(`{"type":"ping"}`))
	}
	return nil
}

func chunk(data []byte) []byte {
	payload, err := json.Marshal(map[string]any{"bytes": data, "p": "abcdefgh"})
	if err != nil {
		panic(err)
	}
	return encoded(payload, ":message-type", "event", ":event-type", "chunk", ":content-type", "application/json")
}

func encoded(payload []byte, headers ...string) []byte {
	m := eventstream.Message{Payload: payload}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var out bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&out, m); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func TestEvents(t *testing.T) {
	stream := bytes.Join([][]byte{
		chunk([]byte(`{"type":"a"}`)),
		chunk([]byte("{\"type\":\r\n\"b\",\n\"c\":\"\\n\"}")),
		encoded([]byte(`{}`), ":message-type", "event", ":event-type", "metadata"), // unknown kinds are passed over
		encoded([]byte(`{}`), ":message-type", "news"),
		encoded([]byte(`{}`)),
		encoded([]byte(`not JSON`), ":message-type", "event", ":event-type", "chunk"),
		encoded([]byte(`{"message":"m","originalMessage":"what the model said","originalStatusCode":500}`), ":message-type", "exception", ":exception-type", "modelStreamErrorException"),
		encoded(nil, ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "oops"),
	}, nil)
	want := "data: {\"type\":\"a\"}\n\n" + "data: {\"type\":  \"b\", \"c\":\"\\n\"}\n\n" + "data: not JSON\n\n" +
		"event: error\ndata: {\"__type\":\"modelStreamErrorException\",\"message\":\"what the model said\"}\n\n" +
		"event: error\ndata: {\"__type\":\"InternalFailure\",\"message\":\"oops\"}\n\n"
	for name, r := range map[string]io.Reader{"whole": bytes.NewReader(stream), "bytewise": iotest.OneByteReader(bytes.NewReader(stream))} {
		got, err := io.ReadAll(newEvents(io.NopCloser(r)))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}
	// Cut anywhere, it gives a part of it, event by event, and ends.
	for n := range stream {
		got, err := io.ReadAll(newEvents(io.NopCloser(bytes.NewReader(stream[:n]))))
		if err != nil || !strings.HasPrefix(want, string(got)) || len(got) > 0 && !strings.HasSuffix(string(got), "\n\n") {
			t.Fatalf("cut at %d: %v, %q", n, err, got)
		}
	}
	// A byte that changed on the way is an error, and nothing of its message comes out.
	broken := bytes.Clone(stream)
	broken[len(chunk([]byte(`{"type":"a"}`)))/2] ^= 1
	if got, err := io.ReadAll(newEvents(io.NopCloser(bytes.NewReader(broken)))); err == nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
	lost := errors.New("lost")
	if _, err := io.ReadAll(newEvents(io.NopCloser(io.MultiReader(bytes.NewReader(stream[:50]), iotest.ErrReader(lost))))); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

func TestExceptionsInTheStream(t *testing.T) {
	for name, kind := range map[string]llm.ErrorKind{
		"throttlingException":         llm.ErrRateLimit,
		"serviceUnavailableException": llm.ErrOverloaded,
		"internalServerException":     llm.ErrServer,
		"modelStreamErrorException":   llm.ErrServer,
		"modelTimeoutException":       llm.ErrServer,
		"validationException":         llm.ErrBadRequest,
		"somethingNewException":       llm.ErrServer,
	} {
		s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(frames(llmtest.Reply{})[0], llmtest.Event(exceptionMark+name, `{"message":"because"}`)))
		e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, kind)
		if !e.Streaming || e.Message != "because" {
			t.Errorf("%+v", e)
		}
	}
}

// FuzzEvents: whatever comes, reading ends, and what comes out is events.
func FuzzEvents(f *testing.F) {
	f.Add(chunk([]byte(`{"type":"a"}`)))
	f.Add(encoded([]byte(`{"message":"m"}`), ":message-type", "exception", ":exception-type", "x"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, _ := io.ReadAll(newEvents(io.NopCloser(bytes.NewReader(in))))
		if len(got) > 0 && !bytes.HasSuffix(got, []byte("\n\n")) {
			t.Fatalf("%q", got)
		}
	})
}

// BenchmarkDelta is what one delta costs, from Amazon's framing to the event.
func BenchmarkDelta(b *testing.B) {
	var stream []byte
	const deltas = 1000
	for range deltas {
		stream = append(stream, chunk([]byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" some words"}}`))...)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.Copy(io.Discard, newEvents(io.NopCloser(bytes.NewReader(stream)))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deltas), "ns/delta")
}
