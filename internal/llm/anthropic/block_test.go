package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// answerOf is a stream of these blocks: each a start and its deltas.
func answerOf(stop string, blocks ...[]string) []string {
	out := []string{frame(`{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1}}}`)}
	for i, b := range blocks {
		out = append(out, frame(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, b[0]))
		for _, d := range b[1:] {
			out = append(out, frame(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
		}
		out = append(out, frame(`{"type":"content_block_stop","index":%d}`, i))
	}
	return append(out,
		frame(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":9}}`, stop),
		frame(`{"type":"message_stop"}`))
}

// thereAndBack has an answer come, sends it back and returns the answer and the
// second request's body.
func thereAndBack(t *testing.T, frames []string, next ...core.Block) (llmtest.Result, string) {
	t.Helper()
	s := llmtest.NewServer(t, dialect, nil, llmtest.Stream(frames...), llmtest.Stream(plain()...))
	req := hello()
	r := llmtest.MustAsk(t, s.Model, req)
	req.Messages = append(req.Messages, r.Resp.Message)
	if len(next) > 0 {
		req.Messages = append(req.Messages, &core.Message{Role: core.RoleUser, Blocks: next})
	}
	llmtest.MustAsk(t, s.Model, req)
	return r, s.Body(1)
}

// TestInterleavedThinking: several thinking blocks in one answer, between texts
// and calls, one without text, one redacted, signatures in pieces; each goes back
// at its place with its bytes.
func TestInterleavedThinking(t *testing.T) {
	delta := func(kind, key, s string) string {
		return `{"type":"` + kind + `","` + key + `":` + llmtest.Quote(s) + `}`
	}
	frames := answerOf("tool_use",
		[]string{`{"type":"thinking","thinking":"","signature":""}`,
			delta("thinking_delta", "thinking", "first \"ü"), delta("thinking_delta", "thinking", "\u2028 <&>"),
			delta("signature_delta", "signature", "EqQB"), delta("signature_delta", "signature", "+/="), delta("signature_delta", "signature", "Zz9")},
		[]string{`{"type":"text","text":""}`, delta("text_delta", "text", "so")},
		[]string{`{"type":"redacted_thinking","data":"abc+/=="}`},
		[]string{`{"type":"thinking","thinking":"","signature":""}`, delta("signature_delta", "signature", "only+signature=")},
		[]string{`{"type":"tool_use","id":"t1","name":"bash","input":{}}`, delta("input_json_delta", "partial_json", `{}`)},
		[]string{`{"type":"thinking","thinking":"whole","signature":"whole=","new_field":{"a":[1.0]}}`},
		[]string{`{"type":"tool_use","id":"t2","name":"bash","input":{}}`},
	)
	r, body := thereAndBack(t, frames, core.ToolResult("t1", false, core.Text("x")), core.ToolResult("t2", false, core.Text("y")))
	want := `"content":[` + strings.Join([]string{
		`{"type":"thinking","thinking":"first \"ü\u2028 <&>","signature":"EqQB+/=Zz9"}`,
		`{"type":"text","text":"so"}`,
		`{"type":"redacted_thinking","data":"abc+/=="}`,
		`{"type":"thinking","thinking":"","signature":"only+signature="}`,
		`{"type":"tool_use","id":"t1","name":"bash","input":{}}`,
		`{"type":"thinking","thinking":"whole","signature":"whole=","new_field":{"a":[1.0]}}`,
		`{"type":"tool_use","id":"t2","name":"bash","input":{}}`,
	}, ",") + `]`
	if !strings.Contains(body, want) {
		t.Errorf("sent %s\nwant %s", body, want)
	}
	if r.Thinking() != "first \"ü\u2028 <&>whole" {
		t.Errorf("shown %q", r.Thinking())
	}
}

// TestThinkingInAnyPieces: however thinking and signature are cut, the block that
// goes back is the one that the API has.
func TestThinkingInAnyPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		thinking := rapid.String().Draw(t, "thinking")
		signature := rapid.StringMatching(`[A-Za-z0-9+/=]{0,40}`).Draw(t, "signature")
		b, err := newBlock(json.RawMessage(`{"type":"thinking","thinking":"","signature":""}`))
		if err != nil {
			t.Fatal(err)
		}
		feed := func(kind, key, s string) {
			for s != "" {
				n := rapid.IntRange(1, len(s)).Draw(t, "cut")
				if err := b.add(json.RawMessage(`{"type":"`+kind+`","`+key+`":`+llmtest.Quote(s[:n])+`}`), func(llm.Event) {}); err != nil {
					t.Fatal(err)
				}
				s = s[n:]
			}
		}
		feed("thinking_delta", "thinking", thinking)
		feed("signature_delta", "signature", signature)
		b.close(func(llm.Event) {})
		got, _ := b.core()
		var back struct{ Type, Thinking, Signature string }
		if err := json.Unmarshal([]byte(got.Opaque), &back); err != nil {
			t.Fatal(err)
		}
		if back.Type != "thinking" || back.Thinking != thinking || back.Signature != signature || got.Text != thinking {
			t.Fatalf("%q and %q came back as %+v, %q", thinking, signature, back, got.Text)
		}
	})
}

const (
	citation1 = `{"type":"web_search_result_location","url":"https://a.example/?q=1&r","title":"A \u00fc","encrypted_index":"Eo8BCi==","cited_text":"one"}`
	citation2 = `{"type":"web_search_result_location","url":"https://b.example","title":null,"encrypted_index":"Zz","cited_text":"two"}`
	results   = `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://a.example","title":"A","encrypted_content":"EqgfCioI","page_age":null},{"type":"web_search_result","url":"https://b.example","title":"B","encrypted_content":"x"}]}`
)

func search() [][]string {
	return [][]string{
		{`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}`,
			`{"type":"input_json_delta","partial_json":"{\"query\": \"garuda"}`, `{"type":"input_json_delta","partial_json":" go\"}"}`},
		{results},
	}
}

// TestServerTools: the search that the API runs is announced, and goes back as it came.
func TestServerTools(t *testing.T) {
	cited := []string{`{"type":"text","text":"","citations":[]}`,
		`{"type":"citations_delta","citation":` + citation1 + `}`, `{"type":"text_delta","text":"One ü"}`,
		`{"type":"citations_delta","citation":` + citation2 + `}`, `{"type":"text_delta","text":" and two."}`}
	r, body := thereAndBack(t, answerOf("end_turn", append(search(), cited, []string{`{"type":"text","text":"Plain.","citations":null}`})...), core.Text("thanks"))
	var got []llm.ServerTool
	for _, e := range r.Events {
		if e, ok := e.(llm.ServerTool); ok {
			got = append(got, e)
		}
	}
	wantEvents := []llm.ServerTool{
		{ID: "srv_1", Name: "web_search", Input: `{"query": "garuda go"}`},
		{ID: "srv_1", Name: "web_search", Done: true, Result: "2 results"},
	}
	if d := cmp.Diff(wantEvents, got); d != "" {
		t.Error(d)
	}
	kept := `{"type":"text","text":"One ü and two.","citations":[` + citation1 + `,` + citation2 + `]}`
	wantBlocks := []core.Block{
		{Type: core.BlockOpaque, Provider: Format, Opaque: `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query": "garuda go"}}`},
		{Type: core.BlockOpaque, Provider: Format, Opaque: results},
		{Type: core.BlockText, Text: "One ü and two.", Provider: Format, Opaque: kept},
		core.Text("Plain."),
	}
	if d := cmp.Diff(wantBlocks, r.Resp.Message.Blocks); d != "" {
		t.Error(d)
	}
	if want := wantBlocks[0].Opaque + "," + results + "," + kept + `,{"type":"text","text":"Plain."}`; !strings.Contains(body, want) {
		t.Errorf("sent %s", body)
	}
}

func TestServerToolFails(t *testing.T) {
	for _, tt := range []struct {
		content, words string
		failed         bool
	}{
		{`{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}`, "max_uses_exceeded", true},
		{`[]`, "0 results", false},
		{`[{}]`, "1 result", false},
		{`{"type":"code_execution_result","stdout":"x"}`, "", false},
		{`null`, "0 results", false},
		{`"x"`, "", false},
	} {
		words, failed := outcome(json.RawMessage(tt.content))
		if words != tt.words || failed != tt.failed {
			t.Errorf("%s: %q, %v", tt.content, words, failed)
		}
	}
}

// TestPause: the API pauses a long turn of its own tools; the same conversation
// with the answer at its end is sent to go on.
func TestPause(t *testing.T) {
	r, body := thereAndBack(t, answerOf("pause_turn", search()[:1]...))
	if r.Resp.Stop != core.StopPause {
		t.Errorf("stop %s", r.Resp.Stop)
	}
	if want := `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query": "garuda go"}}]}]}`; !strings.HasSuffix(body, want) {
		t.Errorf("sent %s", body)
	}
	if got := strings.Count(body, cacheMark); got != 3 {
		t.Errorf("%d cache marks: %s", got, body)
	}
}

// TestServerToolsInRequest: only what the host has is offered, behind the client's
// own tools, and the cache mark is at the very last.
func TestServerToolsInRequest(t *testing.T) {
	for _, tt := range []struct {
		name   string
		search bool
		change func(*llm.Request)
		want   string
	}{
		{"offered", true, nil, `,{"type":"web_search_20250305","name":"web_search"` + cacheMark + `}],"messages":`},
		{"alone", true, func(r *llm.Request) { r.Tools = nil }, `"tools":[{"type":"web_search_20250305","name":"web_search"` + cacheMark + `}],"messages":`},
		{"unknown", true, func(r *llm.Request) { r.ServerTools = []string{"x"} }, `}}` + cacheMark + `}],"messages":`},
		{"not here", false, nil, `}}` + cacheMark + `}],"messages":`},
		{"none at all", false, func(r *llm.Request) { r.Tools = nil }, cacheMark + `}],"messages":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) { c.Quirks.WebSearch = tt.search }, llmtest.Stream(plain()...))
			req := hello()
			req.ServerTools = []string{"web_search"}
			if tt.change != nil {
				tt.change(req)
			}
			llmtest.MustAsk(t, s.Model, req)
			if body := s.Body(0); !strings.Contains(body, tt.want) || !json.Valid([]byte(body)) {
				t.Errorf("sent %s\nwant %s", body, tt.want)
			}
		})
	}
}

func TestUsageInDetail(t *testing.T) {
	for name, tt := range map[string]struct {
		start, end string
		want       core.Usage
	}{
		"all": {
			`{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":0},"output_tokens":1}`,
			`{"output_tokens":40,"output_tokens_details":{"thinking_tokens":25},"server_tool_use":{"web_search_requests":3,"web_fetch_requests":9}}`,
			core.Usage{Input: 10, Output: 40, CacheRead: 20, CacheWrite: 30, Thinking: 25, Searches: 3},
		},
		"split only": {
			`{"input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":7,"ephemeral_1h_input_tokens":5}}`, `{"output_tokens":2}`,
			core.Usage{Input: 1, Output: 2, CacheWrite: 12},
		},
		"nulls": {
			`{"input_tokens":1,"cache_creation":null,"server_tool_use":null,"output_tokens_details":null}`,
			`{"output_tokens":2,"server_tool_use":{"web_search_requests":null}}`,
			core.Usage{Input: 1, Output: 2},
		},
		"negative": {`{"input_tokens":-1}`, `{"output_tokens":-5}`, core.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := ask(t, nil, hello(),
				frame(`{"type":"message_start","message":{"id":"m","usage":%s}}`, tt.start),
				frame(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":%s}`, tt.end),
				frame(`{"type":"message_stop"}`))
			if r.Resp.Usage != tt.want || r.Resp.UsageReported != (tt.want != core.Usage{}) {
				t.Errorf("%+v, want %+v", r.Resp.Usage, tt.want)
			}
		})
	}
}

// TestResultsWithData is a tool result that holds text, an image and documents.
func TestResultsWithData(t *testing.T) {
	_, body := ask(t, nil, llmtest.Request(
		core.UserText("look"),
		&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: "c1", Name: "read_file", Input: `{}`}}},
		&core.Message{Role: core.RoleUser, Blocks: []core.Block{
			core.Text("and?"),
			core.ToolResult("c1", true, core.Text("three"),
				core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("i")},
				core.Block{Type: core.BlockDocument, MediaType: "application/pdf", Name: "a.pdf", Data: []byte("d")},
				core.Block{Type: core.BlockDocument, MediaType: "text/markdown", Data: []byte("# t")}),
		}},
	), plain()...)
	want := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"three"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aQ=="}},` +
		`{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"ZA=="}},` +
		`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"# t"}}],"is_error":true},` +
		`{"type":"text","text":"and?"` + cacheMark + `}]}]}`
	if !strings.HasSuffix(body, want) {
		t.Errorf("sent %s\nwant %s", body, want)
	}
}

// TestWholeDocument is an answer of a proxy that does not stream.
func TestWholeDocument(t *testing.T) {
	const doc = `{"id":"m1","type":"message","role":"assistant","model":"x","content":[{"type":"thinking","thinking":"hm","signature":"s="},` +
		`{"type":"text","text":"Hi"},{"type":"tool_use","id":"t1","name":"bash","input":{"command": "ls"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":2}}`
	s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(200, "application/json", doc))
	r := llmtest.MustAsk(t, s.Model, hello())
	want := []core.Block{
		{Type: core.BlockThinking, Text: "hm", Provider: Format, Opaque: `{"type":"thinking","thinking":"hm","signature":"s="}`},
		core.Text("Hi"),
		{Type: core.BlockToolUse, ID: "t1", Name: "bash", Input: `{"command": "ls"}`},
	}
	if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" {
		t.Error(d)
	}
	if r.Text() != "Hi" || r.Thinking() != "hm" || len(r.Started()) != 1 || r.Resp.Stop != core.StopToolUse || r.Resp.Usage.Output != 2 {
		t.Errorf("%+v, %+v", r.Events, r.Resp)
	}
	for _, bad := range []string{`{"type":"message","content":[]}`, `{"type":"message","stop_reason":"end_turn","content":[{}]}`, `{"type":"other"}`} {
		s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(200, "application/json", bad))
		_ = llmtest.WantError(t, llmtest.Ask(t.Context(), s.Model, hello()).Err, llm.ErrProtocol)
	}
}

// TestBetas: a beta is asked for only where the model needs it; others refuse it.
func TestBetas(t *testing.T) {
	for id, want := range map[string]string{
		"claude-opus-4-1-20250805": "interleaved-thinking-2025-05-14",
		"claude-sonnet-4-5":        "interleaved-thinking-2025-05-14",
		"claude-haiku-4-5":         "",
		"claude-opus-4-6":          "",
		"claude-opus-4-8":          "",
		"claude-sonnet-5":          "",
		"deepseek-chat":            "",
	} {
		for _, thinks := range []bool{true, false} {
			s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) {
				c.Info = &llm.Info{Spec: "x/" + id, ID: id, Thinks: thinks}
			}, llmtest.Stream(plain()...))
			llmtest.MustAsk(t, s.Model, hello())
			expected := want
			if !thinks {
				expected = ""
			}
			if got := s.Header(0).Get("Anthropic-Beta"); got != expected {
				t.Errorf("%s, thinks %v: %q", id, thinks, got)
			}
		}
	}
}
