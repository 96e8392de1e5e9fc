package anthropic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/anthropic/anthropictest"
	"garuda/internal/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dialect = llmtest.Dialect{
	Format: Format, New: New, Path: "/v1/messages",
	KeyHeader: "X-Api-Key",
	Frames:    frames, Spare: 1,
	ErrorFrame: llmtest.Event("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	Refusals:   refusals,
	Stops: map[string]core.StopReason{
		"end_turn": core.StopEndTurn, "max_tokens": core.StopMaxTokens, "refusal": core.StopRefusal, "pause_turn": core.StopPause,
		"stop_sequence": core.StopSequence, "model_context_window_exceeded": core.StopMaxTokens, "something_new": core.StopOther,
		"tool_use": core.StopEndTurn, // without a call
	},
	System: "system", List: "messages", CacheMark: cacheMark,
}

func TestConformance(t *testing.T) { llmtest.Run(t, dialect) }

var (
	frame  = anthropictest.Frame
	frames = anthropictest.Frames
)

func refused(typ, message string) string {
	return `{"type":"error","error":{"type":"` + typ + `","message":` + llmtest.Quote(message) + `},"request_id":"req_1"}`
}

var refusals = []llmtest.Refusal{
	{Name: "key", Status: 401, Body: refused("authentication_error", "invalid x-api-key"), Kind: llm.ErrAuth},
	{Name: "permission", Status: 403, Body: refused("permission_error", "not allowed"), Kind: llm.ErrAuth},
	{Name: "credit", Status: 400, Body: refused("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), Kind: llm.ErrQuota},
	{Name: "billing", Status: 402, Body: refused("billing_error", "no card"), Kind: llm.ErrQuota},
	{Name: "rate", Status: 429, Body: refused("rate_limit_error", "This request would exceed your organization's rate limit"), Kind: llm.ErrRateLimit},
	{Name: "overloaded", Status: 529, Body: refused("overloaded_error", "Overloaded"), Kind: llm.ErrOverloaded},
	{Name: "prompt", Status: 400, Body: refused("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), Kind: llm.ErrContextOverflow},
	{Name: "prompt and output", Status: 400, Body: refused("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"), Kind: llm.ErrContextOverflow},
	{Name: "large", Status: 413, Body: refused("request_too_large", "Request exceeds the maximum size"), Kind: llm.ErrTooLarge},
	{Name: "image", Status: 400, Body: refused("invalid_request_error", "messages.3.content.0.image.source.base64: image exceeds 5 MB maximum"), Kind: llm.ErrBadRequest, Block: "messages.3.content.0"},
	{Name: "schema", Status: 400, Body: refused("invalid_request_error", "tools.12.custom.input_schema: JSON schema is invalid"), Kind: llm.ErrBadRequest, Block: "tools.12"},
	{Name: "model", Status: 404, Body: refused("not_found_error", "model: claude-x"), Kind: llm.ErrBadRequest, Hint: "model's name"},
	{Name: "server", Status: 500, Body: refused("api_error", "Internal server error"), Kind: llm.ErrServer},
}

func ask(t *testing.T, info *llm.Info, req *llm.Request, frames ...string) (llmtest.Result, string) {
	t.Helper()
	s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) {
		if info != nil {
			c.Info = info
		}
	}, llmtest.Stream(frames...))
	return llmtest.MustAsk(t, s.Model, req), s.Body(0)
}

func hello() *llm.Request { return llmtest.Request(core.UserText("hello")) }

func plain() []string { return frames(llmtest.Reply{Text: []string{"ok"}}) }

func TestVersionHeader(t *testing.T) {
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(plain()...))
	llmtest.MustAsk(t, s.Model, hello())
	if got := s.Header(0).Get("Anthropic-Version"); got != "2023-06-01" {
		t.Error(got)
	}
}

// TestKeepsWhatItDoesNotKnow has blocks of every other kind come and go back.
func TestKeepsWhatItDoesNotKnow(t *testing.T) {
	all := []string{
		frame(`{"type":"message_start","message":{"id":"m","model":"x","usage":{}}}`),
		frame(`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"QUJD+/="}}`),
		frame(`{"type":"content_block_stop","index":0}`),
		frame(`{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}}`),
		frame(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"query\": "}}`),
		frame(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"x\"}"}}`),
		frame(`{"type":"content_block_stop","index":1}`),
		frame(`{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"encrypted_content":"zzz","n":1.50}]}}`),
		frame(`{"type":"content_block_stop","index":2}`),
		frame(`{"type":"content_block_start","index":3,"content_block":{"type":"of_next_year","a":"","n":null,"list":[ 1 ]}}`),
		frame(`{"type":"content_block_delta","index":3,"delta":{"type":"a_delta","a":"x"}}`),
		frame(`{"type":"content_block_delta","index":3,"delta":{"type":"a_delta","a":"y","n":{"k":1}}}`),
		frame(`{"type":"content_block_stop","index":3}`),
		frame(`{"type":"unknown_event"}`),
		frame(`{"type":"content_block_start","index":4,"content_block":{"type":"text","text":"Hi","citations":[]}}`),
		frame(`{"type":"content_block_delta","index":4,"delta":{"type":"citations_delta","citation":{"type":"x"}}}`),
		frame(`{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":" you"}}`),
		frame(`{"type":"content_block_stop","index":4}`),
		frame(`{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"t1","name":"bash","input":{"command":"whole"}}}`),
		frame(`{"type":"content_block_stop","index":5}`),
		frame(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":7,"output_tokens":9,"cache_creation_input_tokens":5,"cache_read_input_tokens":null}}`),
		frame(`{"type":"message_stop"}`),
	}
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(all...), llmtest.Stream(plain()...))
	req := hello()
	r := llmtest.MustAsk(t, s.Model, req)
	opaque := []string{
		`{"type":"redacted_thinking","data":"QUJD+/="}`,
		`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query": "x"}}`,
		`{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"encrypted_content":"zzz","n":1.50}]}`,
		`{"type":"of_next_year","a":"xy","n":{"k":1},"list":[ 1 ]}`,
	}
	want := []core.Block{
		{Type: core.BlockThinking, Provider: Format, Opaque: opaque[0]},
		{Type: core.BlockOpaque, Provider: Format, Opaque: opaque[1]},
		{Type: core.BlockOpaque, Provider: Format, Opaque: opaque[2]},
		{Type: core.BlockOpaque, Provider: Format, Opaque: opaque[3]},
		{Type: core.BlockText, Text: "Hi you", Provider: Format, Opaque: `{"type":"text","text":"Hi you","citations":[{"type":"x"}]}`},
		{Type: core.BlockToolUse, ID: "t1", Name: "bash", Input: `{"command":"whole"}`},
	}
	if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" {
		t.Error(d)
	}
	if (r.Resp.Usage != core.Usage{Input: 7, Output: 9, CacheWrite: 5}) || r.Text() != "Hi you" {
		t.Errorf("%+v, %q", r.Resp.Usage, r.Text())
	}
	req.Messages = append(req.Messages, r.Resp.Message, &core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("t1", false, core.Text("x"))}})
	llmtest.MustAsk(t, s.Model, req)
	if !strings.Contains(s.Body(1), strings.Join(opaque, ",")) {
		t.Errorf("sent %s", s.Body(1))
	}
}

func TestCacheMarks(t *testing.T) {
	var bodies []string
	llmtest.Conversation(t, dialect, 4, func(step int, s *llmtest.Server, _ llmtest.Result) { bodies = append(bodies, s.Body(step)) })
	for step, body := range bodies {
		want := 4
		if step == 0 {
			want = 3 // there is no message before the first
		}
		if got := strings.Count(body, cacheMark); got != want {
			t.Errorf("step %d: %d marks, want %d", step, got, want)
		}
		for _, at := range []string{
			`"text":"You are a test. <b>&\"ü\u2028"` + cacheMark + `}],"tools":`, // system prompt
			cacheMark + `}],"messages":`,                                         // last tool
			cacheMark + `}]}]}`,                                                  // last block of all
		} {
			if !strings.Contains(body, at) {
				t.Errorf("step %d: no mark at %s in %s", step, at, body)
			}
		}
		// The last block of the message that the previous request ended in.
		if prev := fmt.Sprintf(`result %d\n\t<ü>"}]`+cacheMark+`}]},{"role":"assistant"`, step-2); step > 1 && !strings.Contains(body, prev) {
			t.Errorf("step %d: no mark at %s in %s", step, prev, body)
		}
	}
}

func TestThinkingIsNeverMarked(t *testing.T) {
	thinking := core.Block{Type: core.BlockThinking, Provider: Format, Opaque: `{"type":"thinking","thinking":"t","signature":"s"}`}
	_, body := ask(t, nil, llmtest.Request(core.UserText("a"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text("b"), thinking}}), plain()...)
	if !strings.HasSuffix(body, `{"type":"text","text":"b"`+cacheMark+`}]}]}`) {
		t.Errorf("thinking at the end must not be sent: %s", body)
	}
	_, body = ask(t, nil, llmtest.Request(core.UserText("a"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{thinking, core.Text("b")}}), plain()...)
	if !strings.HasSuffix(body, thinking.Opaque+`,{"type":"text","text":"b"`+cacheMark+`}]}]}`) {
		t.Error(body)
	}
}

func TestThinkingLevels(t *testing.T) {
	adaptive := `"thinking":{"type":"adaptive","display":"summarized"}`
	for _, tt := range []struct {
		id    string
		level llm.ThinkingLevel
		want  string
	}{
		{"claude-opus-5", llm.ThinkDefault, adaptive},
		{"claude-opus-5", llm.ThinkHigh, adaptive + `,"output_config":{"effort":"high"}`},
		{"claude-opus-5", llm.ThinkMax, adaptive + `,"output_config":{"effort":"max"}`},
		{"claude-opus-5", llm.ThinkOff, `"thinking":{"type":"disabled"}`},
		{"claude-opus-5-5", llm.ThinkOff, adaptive + `,"output_config":{"effort":"low"}`},
		{"claude-sonnet-5-5", llm.ThinkOff, `"thinking":{"type":"between_tools"}`},
		{"claude-fable-5-1", llm.ThinkOff, adaptive + `,"output_config":{"effort":"low"}`},
		{"claude-opus-4-8", llm.ThinkDefault, ``},
		{"claude-opus-4-8", llm.ThinkOff, ``},
		{"claude-opus-4-7", llm.ThinkXHigh, adaptive + `,"output_config":{"effort":"xhigh"}`},
		{"anthropic/claude-opus-4.6", llm.ThinkXHigh, `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}`},
		{"anthropic.claude-sonnet-4-5-20250929-v1:0", llm.ThinkHigh, `"thinking":{"type":"enabled","budget_tokens":12288}`},
		{"us.anthropic.claude-opus-4-8", llm.ThinkDefault, ``},
		{"claude-haiku-5-5", llm.ThinkOff, `"thinking":{"type":"disabled"}`},
		{"claude-mythos-5", llm.ThinkOff, adaptive + `,"output_config":{"effort":"low"}`},
		{"claude-sonnet-4-5@20250929", llm.ThinkMedium, `"thinking":{"type":"enabled","budget_tokens":8192}`},
		{"claude-opus-4-20250514", llm.ThinkLow, `"thinking":{"type":"enabled","budget_tokens":4096}`},
		{"claude-3-7-sonnet-latest", llm.ThinkDefault, ``},
		{"deepseek-chat", llm.ThinkMedium, `"thinking":{"type":"enabled","budget_tokens":8192}`},
		{"deepseek-chat", llm.ThinkOff, `"thinking":{"type":"disabled"}`},
	} {
		info := &llm.Info{Spec: "x/" + tt.id, ID: tt.id, Thinks: true}
		if got := string(appendThinking(nil, info, tt.level, 16_384)); strings.TrimPrefix(got, ",") != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.id, tt.level, got, tt.want)
		}
		info.Thinks = false
		if got := appendThinking(nil, info, tt.level, 16_384); len(got) > 0 {
			t.Errorf("%s does not think: %s", tt.id, got)
		}
	}
	known := &llm.Info{ID: "claude-opus-6", Thinks: true, Efforts: []string{"low", "medium", "high", "max"}}
	if got := string(appendThinking(nil, known, llm.ThinkXHigh, 16_384)); !strings.HasSuffix(got, `{"effort":"high"}`) {
		t.Errorf("an effort that the model does not have: %s", got)
	}
	if got := appendBudget(nil, llm.ThinkHigh, 1024); len(got) > 0 {
		t.Errorf("a budget must be below the limit: %s", got)
	}
}

func TestProtocolBreaks(t *testing.T) {
	start := plain()[0]
	for name, all := range map[string][]string{
		"delta without block": {start, frame(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`)},
		"block twice":         append(plain()[:3:3], plain()[2]),
		"huge index":          {start, frame(`{"type":"content_block_start","index":1000000000,"content_block":{"type":"text","text":""}}`)},
		"negative index":      {start, frame(`{"type":"content_block_start","index":-1,"content_block":{"type":"text","text":""}}`)},
		"no type":             {start, frame(`{"type":"content_block_start","index":0,"content_block":{"text":""}}`)},
		"no stop reason":      {start, frame(`{"type":"message_stop"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(all...))
			llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, llm.ErrProtocol)
		})
	}
}

// TestAbortAfterStop: an abort counts even when only the end of the stream is
// missing, and an answer could be given back.
func TestAbortAfterStop(t *testing.T) {
	all := plain()
	stop := len(all) - 2
	stopped := make(chan struct{})
	var s *llmtest.Server
	s = llmtest.NewServer(t, dialect, nil, func(w http.ResponseWriter, r *http.Request, _ []byte) {
		noted := s.Clock.Looked(1)
		llmtest.Stream(strings.Join(all[:stop], ""))(w, r, nil)
		<-noted
		noted = s.Clock.Looked(2) // the bytes, and the patience that the stop reason begins
		llmtest.Stream(all[stop])(w, r, nil)
		<-noted
		close(stopped)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-stopped
		cancel()
	}()
	if r := llmtest.Ask(ctx, s.Model, hello()); !errors.Is(r.Err, context.Canceled) || r.Resp != nil {
		t.Errorf("%+v, %v", r.Resp, r.Err)
	}
}

// TestEmptyAnswer is an answer without content, which the API gives when there is
// nothing to add.
func TestEmptyAnswer(t *testing.T) {
	r, _ := ask(t, nil, hello(), frames(llmtest.Reply{})...)
	if len(r.Resp.Message.Blocks) != 0 || r.Resp.Stop != core.StopEndTurn {
		t.Errorf("%+v", r.Resp)
	}
}

func FuzzAnswer(f *testing.F) { llmtest.FuzzStream(f, dialect, decode) }

func BenchmarkStep(b *testing.B) { llmtest.BenchmarkStep(b, dialect) }
