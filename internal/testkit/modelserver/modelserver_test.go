package modelserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var paths = map[string]string{"anthropic": "/v1/messages", "chat": "/v1/chat/completions", "responses": "/v1/responses",
	"gemini": "/v1beta/models/m:streamGenerateContent?alt=sse"}

// post sends a request body and returns the response, whose body the test's end closes.
func post(ctx context.Context, t *testing.T, s *Server, format, body string) (*http.Response, error) {
	t.Helper()
	resp, err := send(ctx, s.URL()+paths[format], body)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	}
	return resp, err
}

func send(ctx context.Context, url, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
}

func mustPost(t *testing.T, s *Server, format, body string) (*http.Response, []byte) {
	t.Helper()
	resp, err := post(t.Context(), t, s, format, body)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, data
}

const streamed = `{"model": "m", "stream": true, "stream_options": {"include_usage": true}}`

var full = Step{
	Thinking: "Ich überlege 😀 lange genug für zwei Stücke.", Signature: "s1g+/=",
	Text: "Grüße, Welt! 😀 Noch ein Stück, damit es zwei werden.",
	Calls: []Call{{Name: "read_file", Input: json.RawMessage(`{"path": "a b/ü.txt", "limit": 5}`)},
		{ID: "mine", Name: "bash", Raw: `{"command": "ech`}},
	Usage: &Usage{Input: 100, Output: 50, CacheRead: 900},
}

func TestFormats(t *testing.T) {
	for format := range paths {
		for name, wire := range map[string]Wire{
			"plain": {}, "small": {Fragment: 1}, "chunks": {Chunk: 3, Newline: "crlf"}, "cr": {Newline: "cr", Comments: true},
			"many lines": {Multiline: true}, "interleaved": {Interleave: true, Fragment: 5},
		} {
			t.Run(format+"/"+name, func(t *testing.T) {
				s := Start(t, &Scenario{Wire: wire, Steps: []Step{full}}, Options{})
				resp, data := mustPost(t, s, format, streamed)
				if ct := resp.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") {
					t.Errorf("content type %q", ct)
				}
				want := spoken{Thinking: full.Thinking, Signature: "s1g+/=", Text: full.Text, Stop: "tool_use", In: 100, Out: 50, Cached: 900,
					Calls: []spokenCall{{"call_000000", "read_file", `{"path":"a b/ü.txt","limit":5}`}, {"mine", "bash", `{"command": "ech`}}}
				switch format {
				case "chat":
					want.Stop, want.In, want.Signature = "tool_calls", 1000, ""
				case "responses":
					want.Stop, want.In = "completed", 1000
				case "gemini":
					want.Stop, want.In = "STOP", 1000
				}
				if d := cmp.Diff(want, listen(t, format, sse(t, data))); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// Deltas cut inside a rune are no valid UTF-8 by themselves, and whole together.
func TestCutRunes(t *testing.T) {
	w := Wire{Unit: "byte", Fragment: 3}
	var joined []byte
	broken := false
	for _, f := range w.fragments("aüb😀\"\\\n") {
		broken = broken || !utf8.Valid(f)
		if len(f) < 2 || f[0] != '"' {
			t.Fatalf("%q", f)
		}
		joined = append(joined, f[1:len(f)-1]...)
	}
	if !broken || string(joined) != `aüb😀\"\\\u000a` {
		t.Errorf("broken %v, %q", broken, joined)
	}
	units := Wire{Unit: "utf16", Fragment: 2}.fragments("a😀b")
	if string(units[0]) != `"a\ud83d"` || string(units[1]) != `"\ude00b"` {
		t.Errorf("%s", units)
	}
	s := Start(t, &Scenario{Wire: w, Steps: []Step{{Text: "ü😀"}}}, Options{})
	if _, data := mustPost(t, s, "chat", streamed); utf8.Valid(data) {
		t.Error("the bytes were mended on their way")
	}
}

func TestWhole(t *testing.T) {
	step := full
	step.Calls = full.Calls[:1]
	for format, where := range map[string][]any{
		"anthropic": {"content", 2, "name"},
		"chat":      {"choices", 0, "message", "tool_calls", 0, "function", "name"},
		"responses": {"output", 2, "name"},
	} {
		s := Start(t, &Scenario{Steps: []Step{step, {Text: "t", Fault: &Fault{Kind: BadJSON}}, {Text: "t", Fault: &Fault{Kind: Cut}}}}, Options{})
		resp, data := mustPost(t, s, format, `{"model": "m"}`)
		if got := str(at(decode(t, data), where...)); got != "read_file" || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %q in %s", format, got, data)
		}
		if _, data := mustPost(t, s, format, `{"model": "m"}`); json.Valid(data) {
			t.Errorf("%s: %s", format, data)
		}
		if _, err := post(t.Context(), t, s, format, `{"model": "m"}`); err == nil {
			t.Errorf("%s: the connection was not cut", format)
		}
	}
}

func TestHabits(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{
		{Thinking: "hm", Text: "ok", Wire: &Wire{Reasoning: "think"}},
		{Thinking: "hm", Text: "ok", Wire: &Wire{Reasoning: "reasoning", NoIDs: true}, Calls: []Call{{Name: "a"}}, NoUsage: true},
	}}, Options{})
	_, data := mustPost(t, s, "chat", streamed)
	if got := listen(t, "chat", sse(t, data)); got.Text != "<think>hm</think>\n\nok" || got.In != 1000 {
		t.Errorf("%+v", got)
	}
	_, data = mustPost(t, s, "chat", streamed)
	if got := listen(t, "chat", sse(t, data)); got.Thinking != "hm" || got.Calls[0].ID != "" || got.Calls[0].Args != "{}" || got.In != 0 ||
		bytes.Contains(data, []byte("usage")) {
		t.Errorf("%+v", got)
	}
}

func TestStops(t *testing.T) {
	for format, want := range map[string]map[string]string{
		"anthropic": {"max_tokens": "max_tokens", "refusal": "refusal", "odd": "odd"},
		"chat":      {"max_tokens": "length", "refusal": "content_filter", "odd": "odd"},
		"responses": {"max_tokens": "incomplete", "refusal": "completed", "odd": "completed"},
		"gemini":    {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY", "odd": "odd", "": "STOP"},
	} {
		for stop, word := range want {
			s := Start(t, &Scenario{Steps: []Step{{Text: "t", Stop: stop}}}, Options{})
			_, data := mustPost(t, s, format, streamed)
			if got := listen(t, format, sse(t, data)); got.Stop != word {
				t.Errorf("%s %s: %q", format, stop, got.Stop)
			}
			if format == "responses" && stop == "refusal" && !bytes.Contains(data, []byte("response.refusal.delta")) {
				t.Error("no refusal part")
			}
		}
	}
}

func TestHTTPFaults(t *testing.T) {
	status := map[string][3]int{ // anthropic, chat, gemini
		RateLimit: {429, 429, 429}, Overloaded: {529, 503, 503}, ServerError: {500, 500, 500}, Auth: {401, 401, 400},
		Quota: {400, 429, 429}, Payment: {402, 402, 402}, TooLarge: {413, 413, 400}, ContextOverflow: {400, 400, 400},
		BadRequest: {400, 400, 400}, NotFound: {404, 404, 404}, NeedsResponses: {404, 404, 404}, Permission: {403, 403, 403},
		BadImage: {400, 400, 400}, Content: {400, 400, 400}, BadSchema: {400, 400, 400}, OutputLimit: {400, 400, 400},
		CallPairs: {400, 400, 400}, Signature: {400, 400, 400},
	}
	for kind, want := range status {
		for i, format := range []string{"anthropic", "chat", "gemini"} {
			s := Start(t, &Scenario{Steps: []Step{{Fault: &Fault{Kind: kind}}, {Fault: &Fault{Kind: kind, Status: 499, Message: "other words"}}}}, Options{})
			resp, data := mustPost(t, s, format, streamed)
			if resp.StatusCode != want[i] || str(at(decode(t, data), "error", "message")) == "" {
				t.Errorf("%s %s: %d %s", format, kind, resp.StatusCode, data)
			}
			resp, data = mustPost(t, s, format, streamed)
			if resp.StatusCode != 499 || at(decode(t, data), "error", "message") != "other words" {
				t.Errorf("%s %s: %d %s", format, kind, resp.StatusCode, data)
			}
		}
	}
	for variant := range overflowWords {
		s := Start(t, &Scenario{Steps: []Step{{Fault: &Fault{Kind: ContextOverflow, Variant: variant}}}}, Options{})
		if resp, data := mustPost(t, s, "chat", streamed); resp.StatusCode != http.StatusBadRequest || !bytes.Contains(data, []byte("context")) {
			t.Errorf("%s: %s", variant, data)
		}
	}
	s := Start(t, &Scenario{Steps: []Step{{Fault: &Fault{Kind: HTML}}}}, Options{})
	if resp, data := mustPost(t, s, "chat", streamed); resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || len(data) == 0 {
		t.Errorf("%d %s", resp.StatusCode, data)
	}
}

func TestRetryAfter(t *testing.T) {
	step := func(v string) Step { return Step{Fault: &Fault{Kind: RateLimit, RetryAfter: v}} }
	s := Start(t, &Scenario{Steps: []Step{step("2"), step("ms:1500"), step("date:90s"), step("reset:7s"), {Fault: &Fault{Kind: RateLimit, NoRetry: true}}}}, Options{})
	resp, _ := mustPost(t, s, "chat", streamed)
	if got := resp.Header.Get("Retry-After"); got != "2" {
		t.Error(got)
	}
	resp, _ = mustPost(t, s, "chat", streamed)
	if got := resp.Header.Get("Retry-After-Ms"); got != "1500" {
		t.Error(got)
	}
	before := time.Now()
	resp, _ = mustPost(t, s, "chat", streamed)
	when, err := http.ParseTime(resp.Header.Get("Retry-After"))
	if err != nil || when.Before(before.Add(90*time.Second-time.Millisecond)) {
		t.Errorf("%v, %v", when, err)
	}
	resp, _ = mustPost(t, s, "chat", streamed)
	if h := resp.Header; h.Get("X-Ratelimit-Remaining-Tokens") != "0" || h.Get("X-Ratelimit-Reset-Tokens") != "7s" || h.Get("X-Should-Retry") != "" {
		t.Error(h)
	}
	resp, _ = mustPost(t, s, "chat", streamed)
	if got := resp.Header.Get("X-Should-Retry"); got != "false" {
		t.Error(got)
	}
}

func TestStreamFaults(t *testing.T) {
	text := strings.Repeat("word ", 40)
	run := func(t *testing.T, format string, f Fault) (string, error) {
		s := Start(t, &Scenario{Steps: []Step{{Text: text, Fault: &f}}}, Options{})
		resp, err := post(t.Context(), t, s, format, streamed)
		if err != nil {
			return "", err
		}
		data, err := io.ReadAll(resp.Body)
		return string(data), err
	}
	for format := range paths {
		t.Run(format, func(t *testing.T) {
			for _, kind := range []string{Cut, Reset} {
				if got, err := run(t, format, Fault{Kind: kind}); err == nil || got != "" {
					t.Errorf("%s before anything: %q, %v", kind, got, err)
				}
			}
			got, err := run(t, format, Fault{Kind: Cut, After: 4})
			if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Count(got, "data: ") != 4 {
				t.Errorf("cut: %q, %v", got, err)
			}
			if got, err = run(t, format, Fault{Kind: Reset, After: 4}); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("reset: %q, %v", got, err)
			}
			if got, err = run(t, format, Fault{Kind: EndEarly, After: 4}); err != nil || strings.Count(got, "data: ") != 4 {
				t.Errorf("end early: %q, %v", got, err)
			}
			got, err = run(t, format, Fault{Kind: BadJSON, After: 3})
			bad := 0
			for _, e := range sse(t, []byte(got)) {
				if e != "[DONE]" && !json.Valid([]byte(e)) {
					bad++
				}
			}
			if err != nil || bad != 1 || strings.Count(got, "data: ") < 6 {
				t.Errorf("bad JSON: %d, %v", bad, err)
			}
			if got, err = run(t, format, Fault{Kind: ErrorEvent, After: 3}); err != nil || strings.Count(got, "data: ") != 4 || !strings.Contains(got, "verloaded") {
				t.Errorf("error event: %q, %v", got, err)
			}
			if got, err = run(t, format, Fault{Kind: ErrorEvent, Variant: RateLimit}); err != nil || !strings.Contains(got, "ate limit") && !strings.Contains(got, "RESOURCE_EXHAUSTED") {
				t.Errorf("error event: %q, %v", got, err)
			}
		})
	}
}

func TestStallAndRelease(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{{Text: "t", Fault: &Fault{Kind: Stall, After: 2}}}}, Options{})
	resp, err := post(t.Context(), t, s, "anthropic", streamed)
	if err != nil {
		t.Fatal(err)
	}
	first, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || first != "event: message_start\n" {
		t.Fatalf("%q, %v", first, err)
	}
	if err := s.WaitStalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Release()
	s.Release()
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(rest), "message_stop") && len(rest) == 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

// A client that gives up while the server stalls is recorded as gone.
func TestStallAndLeave(t *testing.T) {
	done := make(chan *Request, 1)
	s := Start(t, &Scenario{Steps: []Step{{Text: "t", Fault: &Fault{Kind: Stall}}}}, Options{Recorded: func(q *Request) { done <- q }})
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := post(ctx, t, s, "chat", streamed)
		gone <- err
	}()
	if err := s.WaitStalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if q := <-done; !q.ClientGone || q.Fault != Stall || q.Step != 0 {
		t.Errorf("%+v", q)
	}
}

// Close ends answers that stall, and their clients were not the ones to leave.
func TestCloseWhileStalled(t *testing.T) {
	done := make(chan *Request, 1)
	s, err := New(&Scenario{Steps: []Step{{Text: "t", Fault: &Fault{Kind: Stall}}}}, Options{Recorded: func(q *Request) { done <- q }})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		_, err := post(t.Context(), t, s, "chat", streamed)
		gone <- err
	}()
	if err := s.WaitStalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := <-gone; err == nil {
		t.Error("the client got an answer")
	}
	if q := <-done; q.ClientGone {
		t.Error("the client is blamed")
	}
}

func TestRecords(t *testing.T) {
	s := Start(t, &Scenario{Steps: []Step{{Text: "a", Require: []string{`"model"`}}, {Text: "b", Require: []string{"no such text"}}}}, Options{})
	mustPost(t, s, "chat", streamed)
	mustPost(t, s, "responses", streamed)
	mustPost(t, s, "anthropic", streamed)
	mustPost(t, s, "anthropic", "{")
	type row struct {
		Step, Status int
		Format       string
		Stream       bool
	}
	var got []row
	for _, q := range s.Requests() {
		got = append(got, row{q.Step, q.Status, q.Format, q.Stream})
		if q.Arrived.After(q.Read) || q.Read.After(q.Responded) || q.Header.Get("Content-Length") == "" && q.Bytes == 0 {
			t.Errorf("%+v", q)
		}
	}
	want := []row{{0, 200, "chat", true}, {1, 400, "responses", false}, {-1, 400, "anthropic", false}, {-1, 400, "anthropic", false}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if gaps := s.Gaps(); len(gaps) != 3 || Median(gaps) <= 0 {
		t.Errorf("%v", gaps)
	}
}

func TestModels(t *testing.T) {
	s := Start(t, &Scenario{Models: []string{"a", "b"}}, Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if v := decode(t, data); err != nil || at(v, "data", 1, "id") != "b" {
		t.Errorf("%s", data)
	}
	if len(s.Requests()) != 0 {
		t.Error("a question for models is no model request")
	}
}
