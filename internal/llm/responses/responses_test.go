package responses

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dialect = llmtest.Dialect{
	Format: Format, New: New, Base: "/v1", Path: "/v1/responses",
	KeyHeader: "Authorization", KeyPrefix: "Bearer ",
	Frames:     frames,
	ErrorFrame: llmtest.Event("response.failed", `{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_is_overloaded","message":"Our servers are currently overloaded."}}}`),
	Refusals:   refusals,
	Stops: map[string]core.StopReason{
		"completed": core.StopEndTurn, "max_output_tokens": core.StopMaxTokens, "content_filter": core.StopRefusal, "something_new": core.StopOther,
	},
	System: "instructions", List: "input",
}

func TestConformance(t *testing.T) { llmtest.Run(t, dialect) }

func frame(format string, args ...any) string {
	data := fmt.Sprintf(format, args...)
	name, _, _ := strings.Cut(strings.TrimPrefix(data, `{"type":"`), `"`)
	return llmtest.Event(name, data)
}

func frames(r llmtest.Reply) []string {
	q := llmtest.Quote
	out := []string{frame(`{"type":"response.created","response":{"id":"resp_1","model":"gpt-x","status":"in_progress","output":[],"error":null}}`)}
	index := 0
	var items []string
	item := func(added, done string, deltas ...string) {
		out = append(out, frame(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, added))
		out = append(out, deltas...)
		out = append(out, frame(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, done))
		items = append(items, done)
		index++
	}
	delta := func(kind, s string) string {
		return frame(`{"type":"response.%s.delta","output_index":%d,"item_id":"i","delta":%s}`, kind, index, q(s))
	}
	if len(r.Thinking) > 0 {
		var deltas []string
		for _, s := range r.Thinking {
			deltas = append(deltas, delta("reasoning_summary_text", s))
		}
		item(`{"type":"reasoning","id":"rs_1","summary":[]}`, fmt.Sprintf(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":%s}],"encrypted_content":%s}`, q(strings.Join(r.Thinking, "")), q(r.Signature)), deltas...)
	}
	if len(r.Text) > 0 {
		var deltas []string
		for _, s := range r.Text {
			deltas = append(deltas, delta("output_text", s))
		}
		item(`{"type":"message","id":"msg_1","role":"assistant","content":[]}`, `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":`+q(strings.Join(r.Text, ""))+`,"annotations":[]}]}`, deltas...)
	}
	for _, c := range r.Calls {
		var deltas []string
		for _, s := range c.Args {
			deltas = append(deltas, delta("function_call_arguments", s))
		}
		call := `{"type":"function_call","id":"fc_` + c.ID + `","call_id":` + q(c.ID) + `,"name":` + q(c.Name) + `,"arguments":%s,"status":"completed"}`
		item(fmt.Sprintf(call, `""`), fmt.Sprintf(call, q(strings.Join(c.Args, ""))), deltas...)
	}
	typ, details := "completed", "null"
	if r.RawStop != "" && r.RawStop != "completed" {
		typ, details = "incomplete", `{"reason":`+q(r.RawStop)+`}`
	}
	return append(out, frame(`{"type":"response.%s","response":{"id":"resp_1","model":"gpt-x","status":"%s","error":null,"incomplete_details":%s,"output":[%s],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d}}}}`,
		typ, typ, details, strings.Join(items, ","), r.Usage.Input+r.Usage.CacheRead, r.Usage.CacheRead, r.Usage.Output, r.Usage.Thinking))
}

func refused(typ, code, param, message string) string {
	return fmt.Sprintf(`{"error":{"message":%s,"type":%q,"param":%s,"code":%q}}`, llmtest.Quote(message), typ, param, code)
}

var refusals = []llmtest.Refusal{
	{Name: "key", Status: 401, Body: refused("invalid_request_error", "invalid_api_key", "null", "Incorrect API key provided: sk-ab***yz"), Kind: llm.ErrAuth},
	{Name: "quota", Status: 429, Body: refused("insufficient_quota", "insufficient_quota", "null", "You exceeded your current quota, please check your plan and billing details."), Kind: llm.ErrQuota},
	{Name: "rate", Status: 429, Body: refused("tokens", "rate_limit_exceeded", "null", "Rate limit reached for gpt-x on tokens per min (TPM)"), Kind: llm.ErrRateLimit},
	{Name: "too large for the rate", Status: 429, Body: refused("tokens", "rate_limit_exceeded", "null", "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000."), Kind: llm.ErrTooLarge},
	{Name: "window", Status: 400, Body: refused("invalid_request_error", "context_length_exceeded", `"input"`, "Your input exceeds the context window of this model."), Kind: llm.ErrContextOverflow},
	{Name: "image", Status: 400, Body: refused("invalid_request_error", "invalid_image", `"input[3].content[1].image_url"`, "The image data you provided does not represent a valid image."), Kind: llm.ErrBadRequest, Block: "input.3.content.1"},
	{Name: "server", Status: 500, Body: refused("server_error", "server_error", "null", "The server had an error"), Kind: llm.ErrServer},
	{Name: "overloaded", Status: 503, Body: refused("server_error", "server_is_overloaded", "null", "The engine is currently overloaded"), Kind: llm.ErrOverloaded},
}

func hello() *llm.Request { return llmtest.Request(core.UserText("hello")) }

func TestRequestFields(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	req := hello()
	req.Thinking = llm.ThinkMax
	llmtest.MustAsk(t, s.Model, req)
	for _, want := range []string{
		`"stream":true,"store":false,"max_output_tokens":16384,"prompt_cache_key":"20260102-030405-abcd"`,
		`"include":["reasoning.encrypted_content"],"reasoning":{"effort":"xhigh","summary":"auto"}`,
		`"parameters":` + string(req.Tools[0].Schema) + `,"strict":false}`,
	} {
		if !strings.Contains(s.Body(0), want) {
			t.Errorf("%s is not in %s", want, s.Body(0))
		}
	}
}

func TestSummaryRefused(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil,
		llmtest.Answer(400, "application/json", refused("invalid_request_error", "unsupported_value", `"reasoning.summary"`, "Your organization must be verified to generate reasoning summaries.")),
		llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	r := llmtest.MustAsk(t, s.Model, hello())
	if _, ok := r.Events[0].(llm.Notice); !ok || r.Text() != "ok" || strings.Contains(s.Body(1), "summary") {
		t.Errorf("%v, sent %s", r.Events, s.Body(1))
	}
	if r := llmtest.MustAsk(t, s.Model, hello()); len(r.Events) != 1 || s.Requests() != 3 {
		t.Errorf("%v after %d requests", r.Events, s.Requests())
	}
}

func TestItems(t *testing.T) {
	search := `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"query":"x"}}`
	lost := `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}]}`
	kept := `{"type":"reasoning","id":"rs_2", "summary":[],"encrypted_content":"AAA="}`
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(
		frame(`{"type":"response.created","response":{"id":"r"}}`),
		frame(`{"type":"response.output_item.done","output_index":0,"item":%s}`, lost),
		frame(`{"type":"response.output_item.done","output_index":2,"item":%s}`, search),
		frame(`{"type":"response.output_item.done","output_index":1,"item":%s}`, kept),
		frame(`{"type":"response.output_item.added","output_index":3,"item":{"type":"message","content":[]}}`),
		frame(`{"type":"response.output_text.delta","output_index":3,"delta":"draft"}`),
		frame(`{"type":"response.output_item.done","output_index":3,"item":{"type":"message","content":[{"type":"output_text","text":"final"}]}}`),
		frame(`{"type":"response.output_item.added","output_index":4,"item":{"type":"message","content":[]}}`), // never done
		frame(`{"type":"response.custom.delta","output_index":9,"delta":{"not":"text"}}`),
		frame(`{"type":"response.completed","response":{"id":"r2","status":"completed","output":[]}}`),
	), llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	req := hello()
	r := llmtest.MustAsk(t, s.Model, req)
	want := []core.Block{
		{Type: core.BlockThinking, Provider: Format, Text: "one\n\ntwo"},
		{Type: core.BlockThinking, Provider: Format, Opaque: kept},
		{Type: core.BlockOpaque, Provider: Format, Opaque: search},
		core.Text("final"),
	}
	if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" {
		t.Error(d)
	}
	if r.Resp.UsageReported || r.Resp.ID != "r2" || r.Thinking() != "one\n\ntwo" {
		t.Errorf("%+v", r.Resp)
	}
	req.Messages = append(req.Messages, r.Resp.Message, core.UserText("go on"))
	llmtest.MustAsk(t, s.Model, req)
	if !strings.Contains(s.Body(1), kept+","+search+`,{"type":"message","role":"assistant"`) || strings.Contains(s.Body(1), "rs_1") {
		t.Errorf("sent %s", s.Body(1))
	}
}

// TestReasoningAlone: reasoning without what it led to is refused by the API.
func TestReasoningAlone(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
	thinking := core.Block{Type: core.BlockThinking, Provider: Format, Opaque: `{"type":"reasoning","id":"rs_1","encrypted_content":"x"}`}
	llmtest.MustAsk(t, s.Model, llmtest.Request(core.UserText("a"), &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{thinking}}, core.UserText("b")))
	if strings.Contains(s.Body(0), "rs_1") {
		t.Errorf("sent %s", s.Body(0))
	}
}

func TestRefusal(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(
		frame(`{"type":"response.refusal.delta","output_index":0,"delta":"I can"}`),
		frame(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}}`),
		frame(`{"type":"response.completed","response":{"status":"completed"}}`)))
	r := llmtest.MustAsk(t, s.Model, hello())
	if r.Resp.Stop != core.StopRefusal || r.Resp.Message.PlainText() != "I cannot." {
		t.Errorf("%+v", r.Resp)
	}
}

func TestUnstreamed(t *testing.T) {
	body := `{"id":"r","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}],"usage":{"input_tokens":3,"output_tokens":4}}`
	s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(200, "application/json", body))
	r := llmtest.MustAsk(t, s.Model, hello())
	if r.Text() != "hi" || r.Resp.Message.PlainText() != "hi" || (r.Resp.Usage != core.Usage{Input: 3, Output: 4}) {
		t.Errorf("%+v", r)
	}
}

// TestAbortAtTheEnd aborts while the last event is being shown.
func TestAbortAtTheEnd(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(
		frame(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}}`)))
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := s.Model.Stream(ctx, hello(), func(llm.Event) { cancel() })
	if !errors.Is(err, context.Canceled) || resp != nil {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestErrorEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		frame string
		kind  llm.ErrorKind
	}{
		"event":          {frame(`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`), llm.ErrRateLimit},
		"nested":         {llmtest.Data(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"too long"}}`), llm.ErrContextOverflow},
		"failed":         {frame(`{"type":"response.failed","response":{"error":{"code":"server_error","message":"oops"}}}`), llm.ErrServer},
		"bare":           {llmtest.Data(`{"error":{"code":"invalid_prompt","message":"no"}}`), llm.ErrBadRequest},
		"failed, unsaid": {frame(`{"type":"response.failed","response":{"status":"failed","error":null}}`), llm.ErrServer},
		"cancelled":      {frame(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), llm.ErrServer},
		"ends failed":    {frame(`{"type":"response.completed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}`), llm.ErrRateLimit},
		"another name":   {frame(`{"type":"response.error","error":{"code":"server_is_overloaded","message":"later"}}`), llm.ErrOverloaded},
		"named event":    {llmtest.Event("error", `{"error":{"code":"invalid_prompt","message":"no"}}`), llm.ErrBadRequest},
		"filter":         {frame(`{"type":"response.failed","response":{"error":{"code":"vector_store_timeout","message":"oops"}}}`), llm.ErrServer},
		"no output":      {frame(`{"type":"response.completed"}`), llm.ErrProtocol},
		"twice":          {strings.Repeat(frame(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message"}}`), 2), llm.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(tt.frame))
			llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, tt.kind)
		})
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range shapes() {
		f.Add(strings.Join(s.frames, ""))
	}
	llmtest.FuzzStream(f, dialect, decodeRecorded)
}

func decodeRecorded(reply *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
	return decode(reply, hello(), emit)
}

func BenchmarkStep(b *testing.B) { llmtest.BenchmarkStep(b, dialect) }

func BenchmarkDeltas(b *testing.B) { llmtest.BenchmarkDeltas(b, dialect, decodeRecorded) }

func BenchmarkBuild(b *testing.B) {
	llmtest.BenchmarkBuild(b, Format, func() *wire.Transcript {
		return wire.NewTranscript(newEncoder(&llm.Info{ID: "m"}, llm.Quirks{}), tail, "")
	})
}
