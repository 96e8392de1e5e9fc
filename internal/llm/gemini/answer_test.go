package gemini

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// again sends the answer back with results for its calls, or a word, and returns
// the contents of that request behind the first.
func again(t *testing.T, s *llmtest.Server, r llmtest.Result) string {
	t.Helper()
	req := hello()
	follow := core.UserText("go on")
	if calls := r.Resp.Message.ToolUses(); len(calls) > 0 {
		follow = &core.Message{Role: core.RoleUser}
		for _, c := range calls {
			follow.Blocks = append(follow.Blocks, core.ToolResult(c.ID, false, core.Text("done")))
		}
	}
	req.Messages = append(req.Messages, r.Resp.Message, follow)
	llmtest.MustAsk(t, s.Model, req)
	_, contents, _ := strings.Cut(s.Body(s.Requests()-1), `"contents":[{"role":"user","parts":[{"text":"hello"}]},`)
	return strings.TrimSuffix(contents, tail)
}

func server(t *testing.T, id string, frames ...string) *llmtest.Server {
	t.Helper()
	return llmtest.NewServer(t, dialect, as(id), llmtest.Stream(frames...), llmtest.Stream(plain()...))
}

// TestParts has parts of every kind come, and go back where they stood.
func TestParts(t *testing.T) {
	opaque := func(raw string) core.Block {
		return core.Block{Type: core.BlockOpaque, Provider: Format, Opaque: raw}
	}
	thinking := func(text, raw string) core.Block {
		return core.Block{Type: core.BlockThinking, Text: text, Provider: Format, Opaque: raw}
	}
	call := core.Block{Type: core.BlockToolUse, Name: "bash", Input: "{}"}
	for name, tc := range map[string]struct {
		frames [][]string // the parts of each chunk
		want   []core.Block
		sent   string // the model's parts, as they go back
	}{
		"text in pieces": {
			[][]string{{`{"text":"a"}`, `{"text":"b"}`}, {`{"text":"c"}`}, {`{"text":""}`}},
			[]core.Block{core.Text("abc")}, `{"text":"abc"}`,
		},
		"thoughts, and a signature in a part of its own": {
			[][]string{{`{"text":"hm ","thought":true}`}, {`{"text":"so","thought":true}`}, {`{"text":"Hi"}`}, {`{"text":"","thoughtSignature":"cw\u003d="}`}},
			[]core.Block{
				thinking("hm so", `{"text":"hm so","thought":true}`),
				{Type: core.BlockText, Text: "Hi", Provider: Format, Opaque: `{"from":2,"thoughtSignature":"cw\u003d="}`},
			},
			`{"text":"hm so","thought":true},{"text":"Hi"},{"text":"","thoughtSignature":"cw\u003d="}`,
		},
		"a signed text after an unsigned one": {
			[][]string{{`{"text":"Hi, "}`}, {`{"text":"you","thoughtSignature":"cw=="}`}, {`{"text":" there"}`}},
			[]core.Block{
				{Type: core.BlockText, Text: "Hi, you", Provider: Format, Opaque: `{"from":4,"thoughtSignature":"cw=="}`},
				core.Text(" there"),
			},
			`{"text":"Hi, "},{"text":"you","thoughtSignature":"cw=="},{"text":" there"}`,
		},
		"a text that is signed whole": {
			[][]string{{`{"text":"you","thoughtSignature":"cw=="}`}},
			[]core.Block{{Type: core.BlockText, Text: "you", Provider: Format, Opaque: `{"thoughtSignature":"cw=="}`}},
			`{"text":"you","thoughtSignature":"cw=="}`,
		},
		"a signed thought": {
			[][]string{{`{"text":"a","thought":true}`, `{"text":"b","thought":true,"thoughtSignature":"cw=="}`, `{"text":"c","thought":true}`, `{"text":"Hi"}`}},
			[]core.Block{
				thinking("a", `{"text":"a","thought":true}`), thinking("b", `{"text":"b","thought":true,"thoughtSignature":"cw=="}`),
				thinking("c", `{"text":"c","thought":true}`), core.Text("Hi"),
			},
			`{"text":"a","thought":true},{"text":"b","thought":true,"thoughtSignature":"cw=="},{"text":"c","thought":true},{"text":"Hi"}`,
		},
		"calls without ids": {
			[][]string{{`{"functionCall":{"name":"bash","args":{ "a" : 1 }},"thoughtSignature":"cw=="}`, `{"functionCall":{"name":"bash"}}`}, {`{"functionCall":{"name":"bash","args":null}}`}},
			[]core.Block{
				{Type: core.BlockToolUse, Name: "bash", Input: `{ "a" : 1 }`, Provider: Format, Opaque: `{"thoughtSignature":"cw=="}`}, call, call,
			},
			`{"functionCall":{"name":"bash","args":{ "a" : 1 }},"thoughtSignature":"cw=="},{"functionCall":{"name":"bash","args":{}}},{"functionCall":{"name":"bash","args":{}}}`,
		},
		"a signature before a call": {
			[][]string{{`{"thoughtSignature":"cw=="}`}, {`{"functionCall":{"id":"x","name":"bash","args":{}}}`}},
			[]core.Block{
				opaque(`{"text":"","thoughtSignature":"cw=="}`),
				{Type: core.BlockToolUse, Name: "bash", Input: `{}`, Provider: Format, Opaque: `{"id":"x"}`},
			},
			`{"text":"","thoughtSignature":"cw=="},{"functionCall":{"id":"x","name":"bash","args":{}}}`,
		},
		"an image": {
			[][]string{{`{"inlineData":{"mimeType":"image/png","data":"aQ=="},"thoughtSignature":"cw=="}`, `{"inlineData":{"mimeType":"image/jpeg","data":"ag=="}}`}},
			[]core.Block{
				{Type: core.BlockImage, MediaType: "image/png", Data: []byte("i"), Provider: Format, Opaque: `{"thoughtSignature":"cw=="}`},
				{Type: core.BlockImage, MediaType: "image/jpeg", Data: []byte("j"), Provider: Format, Opaque: `{}`},
			},
			`{"inlineData":{"mimeType":"image/png","data":"aQ=="},"thoughtSignature":"cw=="},{"inlineData":{"mimeType":"image/jpeg","data":"ag=="}}`,
		},
		"what is not known": {
			[][]string{{`{"inlineData":{"mimeType":"image/png","data":"aQ=="},"thought":true}`, `{"executableCode":{"code":"1"},"n": 1.50}`, `{"inlineData":{"mimeType":"audio/wav","data":"aQ=="}}`, `{}`, `{"thought":true}`}},
			[]core.Block{
				thinking("", `{"inlineData":{"mimeType":"image/png","data":"aQ=="},"thought":true}`),
				opaque(`{"executableCode":{"code":"1"},"n": 1.50}`), opaque(`{"inlineData":{"mimeType":"audio/wav","data":"aQ=="}}`),
			},
			`{"inlineData":{"mimeType":"image/png","data":"aQ=="},"thought":true},{"executableCode":{"code":"1"},"n": 1.50},{"inlineData":{"mimeType":"audio/wav","data":"aQ=="}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			for _, parts := range tc.frames {
				all = append(all, event("", parts...))
			}
			s := server(t, "gemini-2.5-flash", append(all, last("STOP", core.Usage{}))...)
			r := llmtest.MustAsk(t, s.Model, hello())
			anyID := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ID" }, cmp.Ignore())
			if d := cmp.Diff(tc.want, r.Resp.Message.Blocks, anyID); d != "" {
				t.Error(d)
			}
			if got := again(t, s, r); !strings.HasPrefix(got, `{"role":"model","parts":[`+tc.sent+`]},`) {
				t.Errorf("sent\n%s\nwant\n%s", got, tc.sent)
			}
			if fixed, mends := core.Validate([]*core.Message{core.UserText("?"), r.Resp.Message}); len(fixed[1].Blocks) != len(tc.want) {
				t.Errorf("the conversation cannot hold it: %q", mends)
			}
			if shown := r.Text(); shown != r.Resp.Message.PlainText() && !strings.Contains(name, "unsigned") {
				t.Errorf("shown %q, kept %q", shown, r.Resp.Message.PlainText())
			}
		})
	}
}

// TestParallel: results stand in the order of their calls, each with its call's
// name, whatever order they were given in.
func TestParallel(t *testing.T) {
	s := server(t, "gemini-3-pro", event("", `{"functionCall":{"name":"a","args":{}},"thoughtSignature":"cw=="}`, `{"functionCall":{"id":"given","name":"b","args":{}}}`, `{"functionCall":{"name":"a","args":{}}}`), last("STOP", core.Usage{}))
	req := hello()
	r := llmtest.MustAsk(t, s.Model, req)
	calls := r.Resp.Message.ToolUses()
	if r.Resp.Stop != core.StopToolUse || r.Resp.RawStop != "STOP" || len(r.Started()) != 3 || r.Started()[2].ID != calls[2].ID || calls[0].ID == calls[2].ID {
		t.Fatalf("%+v", r)
	}
	results := &core.Message{Role: core.RoleUser, Blocks: []core.Block{
		core.Text("and more"), core.ToolResult(calls[2].ID, true, core.Text("3")), core.ToolResult(calls[0].ID, false, core.Text("1")),
		core.ToolResult("nobody's", false, core.Text("lost")), core.ToolResult(calls[1].ID, false),
	}}
	req.Messages = append(req.Messages, r.Resp.Message, results)
	llmtest.MustAsk(t, s.Model, req)
	want := `{"role":"user","parts":[{"functionResponse":{"name":"a","response":{"output":"1"}}},{"functionResponse":{"id":"given","name":"b","response":{"output":"(no output)"}}},` +
		`{"functionResponse":{"name":"a","response":{"error":"3"}}}]},{"role":"user","parts":[{"text":"and more"},{"text":"lost"}]}]}`
	if !strings.HasSuffix(s.Body(1), want) {
		t.Errorf("sent %s", s.Body(1))
	}
}

func TestUsage(t *testing.T) {
	chunk := func(usage string) string {
		return llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}],"usageMetadata":` + usage + `}`)
	}
	for name, tc := range map[string]struct {
		frames []string
		want   core.Usage
	}{
		"cached, thoughts, tools": {[]string{chunk(`{"promptTokenCount":1000,"cachedContentTokenCount":900,"candidatesTokenCount":20,"thoughtsTokenCount":30,"toolUsePromptTokenCount":7,"totalTokenCount":1057}`)},
			core.Usage{Input: 107, CacheRead: 900, Output: 50, Thinking: 30}},
		"in pieces": {[]string{chunk(`{"promptTokenCount":10,"candidatesTokenCount":1}`), chunk(`{"candidatesTokenCount":5}`), chunk(`{"thoughtsTokenCount":2}`)},
			core.Usage{Input: 10, Output: 7, Thinking: 2}},
		"nonsense":   {[]string{chunk(`{"promptTokenCount":10,"cachedContentTokenCount":90,"candidatesTokenCount":5}`)}, core.Usage{CacheRead: 10, Output: 5}},
		"unreadable": {[]string{chunk(`{"promptTokenCount":10,"candidatesTokenCount":-5}`)}, core.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			r := llmtest.MustAsk(t, server(t, "gemini-3-pro", tc.frames...).Model, hello())
			if r.Resp.Usage != tc.want || r.Resp.UsageReported != (tc.want != core.Usage{}) {
				t.Errorf("%+v", r.Resp.Usage)
			}
		})
	}
	r := llmtest.MustAsk(t, server(t, "gemini-3-pro", llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`)).Model, hello())
	if r.Resp.UsageReported || r.Resp.Usage != (core.Usage{}) {
		t.Errorf("%+v", r.Resp)
	}
}

func TestEndings(t *testing.T) {
	reason := func(name string, parts ...string) []string { return []string{last(name, core.Usage{}, parts...)} }
	const call = `{"functionCall":{"name":"bash","args":{}}}`
	for name, tc := range map[string]struct {
		frames []string
		stop   core.StopReason
		raw    string
	}{
		"the prompt is refused":      {[]string{llmtest.Data(`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":7}}`)}, core.StopRefusal, "PROHIBITED_CONTENT"},
		"refused for another reason": {[]string{llmtest.Data(`{"promptFeedback":{"blockReason":"OTHER"}}`)}, core.StopRefusal, "OTHER"},
		"no reason yet":              {append(reason("FINISH_REASON_UNSPECIFIED", `{"text":"a"}`), reason("STOP")...), core.StopEndTurn, "STOP"},
		"a reason with every chunk":  {append(reason("STOP", `{"text":"a"}`), reason("MAX_TOKENS", `{"text":"b"}`)...), core.StopMaxTokens, "MAX_TOKENS"},
		"other candidates":           {append([]string{llmtest.Data(`{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"}]}`)}, reason("STOP")...), core.StopEndTurn, "STOP"},
		"a mark at the end":          {append(reason("STOP"), llmtest.Data("[DONE]")), core.StopEndTurn, "STOP"},
		"cut with a call":            {reason("MAX_TOKENS", call), core.StopMaxTokens, "MAX_TOKENS"},
		"a call that can be read":    {reason("MALFORMED_FUNCTION_CALL", call), core.StopToolUse, "MALFORMED_FUNCTION_CALL"},
		"nothing at all":             {reason("STOP"), core.StopEndTurn, "STOP"},
	} {
		t.Run(name, func(t *testing.T) {
			r := llmtest.MustAsk(t, server(t, "gemini-3-pro", tc.frames...).Model, hello())
			if r.Resp.Stop != tc.stop || r.Resp.RawStop != tc.raw || strings.Contains(r.Text(), "no") {
				t.Errorf("%+v", r.Resp)
			}
		})
	}
}

// TestUnreadableCall: the model meant to call and could not write it, so the answer
// is asked for again instead of ending the turn.
func TestUnreadableCall(t *testing.T) {
	for _, reason := range []string{"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"} {
		frame := llmtest.Data(`{"candidates":[{"content":{},"finishReason":"` + reason + `","finishMessage":"print(default_api.bash())"}]}`)
		e := llmtest.WantError(t, llmtest.Ask(t.Context(), server(t, "gemini-3-pro", event("", `{"text":"I run it."}`), frame).Model, hello()).Err, llm.ErrServer)
		if !strings.Contains(e.Message, reason) || !strings.Contains(e.Message, "default_api.bash()") || !e.Streaming {
			t.Errorf("%+v", e)
		}
	}
}

func TestUnstreamed(t *testing.T) {
	const one = `{"candidates":[{"content":{"parts":[{"text":"hi"}]}}]}`
	const two = `{"candidates":[{"content":{"parts":[{"text":" you"}]},"finishReason":"STOP"}],"responseId":"r7","modelVersion":"m"}`
	for name, tc := range map[string]struct{ body, want string }{
		"a document": {two, " you"}, "a list": {"\n [" + one + ",\n" + two + "]", "hi you"},
	} {
		s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(200, "application/json", tc.body))
		if r := llmtest.MustAsk(t, s.Model, hello()); r.Text() != tc.want || r.Resp.Message.PlainText() != tc.want || r.Resp.ID != "r7" || r.Resp.Model != "m" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for body, kind := range map[string]llm.ErrorKind{
		one: llm.ErrProtocol, "[" + one + "]": llm.ErrProtocol, "[1]": llm.ErrProtocol, `[{"candidates":`: llm.ErrProtocol,
		`[{"error":{"code":503,"status":"UNAVAILABLE","message":"x"}}]`: llm.ErrOverloaded,
	} {
		s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(200, "application/json", body))
		llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, kind)
	}
}

// TestErrorsInStream have the status of their own, since the answer's was 200.
func TestErrorsInStream(t *testing.T) {
	for name, tc := range map[string]struct {
		frame string
		kind  llm.ErrorKind
		wait  time.Duration
	}{
		"rate":   {refused(429, "RESOURCE_EXHAUSTED", overQuota, perMinute), llm.ErrRateLimit, 37 * time.Second},
		"quota":  {refused(429, "RESOURCE_EXHAUSTED", overQuota, perDay), llm.ErrQuota, 37 * time.Second},
		"a list": {"[" + refused(500, "INTERNAL", "An internal error has occurred.", "") + "]", llm.ErrServer, 0},
		"key":    {refused(400, "INVALID_ARGUMENT", "API key expired.", keyInvalid), llm.ErrAuth, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, "gemini-3-pro", event("", `{"text":"a"}`), llmtest.Data(tc.frame))
			e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, tc.kind)
			if !e.Streaming || e.RetryAfter != tc.wait && tc.kind == llm.ErrRateLimit {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestRetryDelay(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(429, "application/json", refused(429, "RESOURCE_EXHAUSTED", overQuota, perMinute)))
	if e := llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, llm.ErrRateLimit); e.RetryAfter != 37*time.Second {
		t.Errorf("%+v", e)
	}
}

// TestEndIsAwaited: behind the finish reason nothing is needed, but the stream is
// read to its end, and not for long.
func TestEndIsAwaited(t *testing.T) {
	var s *llmtest.Server
	s = llmtest.NewServer(t, dialect, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		noted := s.Clock.Looked(2)
		llmtest.Stream(strings.Join(plain(), ""))(w, r, nil)
		<-noted
		go s.Clock.Advance(afterStop)
		<-r.Context().Done()
	})
	if r := llmtest.MustAsk(t, s.Model, hello()); r.Text() != "ok" {
		t.Errorf("%+v", r)
	}
}

func TestAbortAtTheEnd(t *testing.T) {
	s := server(t, "gemini-3-pro", last("STOP", core.Usage{}, `{"text":"hi"}`))
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := s.Model.Stream(ctx, hello(), func(llm.Event) { cancel() })
	if !errors.Is(err, context.Canceled) || resp != nil {
		t.Errorf("%v, %v", resp, err)
	}
}
