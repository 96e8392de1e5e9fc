package chat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/responses"
)

var image = core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("x")}

func assistant(blocks ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleAssistant, Blocks: blocks}
}

func results(blocks ...core.Block) *core.Message {
	return &core.Message{Role: core.RoleUser, Blocks: blocks}
}

func thought(text, opaque string) core.Block {
	return core.Block{Type: core.BlockThinking, Provider: Format, Text: text, Opaque: opaque}
}

// sentMessages is the list of messages that a client sends for the conversation.
func sentMessages(t *testing.T, quirks llm.Quirks, msgs ...*core.Message) string {
	t.Helper()
	s := server(t, quirks, piece(`"content":"ok"`), finish("stop"), done)
	req := llmtest.Request(msgs...)
	req.System = ""
	llmtest.MustAsk(t, s.Model, req)
	_, list, _ := strings.Cut(s.Body(0), `"messages":`)
	if list = strings.TrimSuffix(list, "}"); !json.Valid([]byte(list)) {
		t.Fatalf("not JSON: %s", list)
	}
	return list
}

func TestHeadFields(t *testing.T) {
	type quirks = llm.Quirks
	for name, tt := range map[string]struct {
		quirks  quirks
		efforts string
		level   llm.ThinkingLevel
		has, no string
	}{
		"plain":          {quirks{}, "", "", `"stream_options":{"include_usage":true},"max_tokens":16384,"tools":`, "prompt_cache_key"},
		"field":          {quirks{MaxTokensField: "n_predict"}, "", "", `"n_predict":16384`, "max_tokens"},
		"no usage":       {quirks{NoStreamUsage: true}, "", "", `"stream":true`, "stream_options"},
		"cache key":      {quirks{CacheKey: true}, "", "", `,"prompt_cache_key":"20260102-030405-abcd",`, ""},
		"parallel":       {quirks{ParallelCalls: "on"}, "", "", `,"parallel_tool_calls":true,"tools":[`, ""},
		"serial":         {quirks{ParallelCalls: "off"}, "", "", `,"parallel_tool_calls":false,"tools":[`, ""},
		"developer":      {quirks{SystemRole: "developer"}, "", "", `"messages":[{"role":"developer","content":"You`, `"system"`},
		"no system":      {quirks{SystemRole: "user", Alternate: true}, "", "", `\u2028"},{"role":"assistant","content":"Understood."},{"role":"user","content":"hello"}]`, `"system"`},
		"level":          {quirks{}, "", llm.ThinkMax, `,"reasoning_effort":"high"`, ""},
		"words":          {quirks{Efforts: "low,max"}, "", llm.ThinkXHigh, `,"reasoning_effort":"max"`, ""},
		"known":          {quirks{Efforts: "low"}, "low,xhigh", llm.ThinkMax, `,"reasoning_effort":"xhigh"`, ""},
		"off untold":     {quirks{}, "", llm.ThinkOff, `"stream":true`, "reasoning"},
		"off by word":    {quirks{ThinkOffWord: "none"}, "", llm.ThinkOff, `,"reasoning_effort":"none"`, ""},
		"off known":      {quirks{}, "none,low", llm.ThinkOff, `,"reasoning_effort":"none"`, ""},
		"off as little":  {quirks{}, "minimal,low", llm.ThinkOff, `,"reasoning_effort":"minimal"`, ""},
		"off is not":     {quirks{ThinksAlways: true}, "", llm.ThinkOff, `,"reasoning_effort":"low"`, ""},
		"reasoning":      {quirks{ThinkingField: llm.ThinkByReasoning}, "", llm.ThinkHigh, `,"reasoning":{"effort":"high"}`, ""},
		"reasoning off":  {quirks{ThinkingField: llm.ThinkByReasoning}, "", llm.ThinkOff, `,"reasoning":{"enabled":false}`, ""},
		"reasoning none": {quirks{ThinkingField: llm.ThinkByReasoning}, "none,low", llm.ThinkOff, `,"reasoning":{"effort":"none"}`, ""},
		"type":           {quirks{ThinkingField: llm.ThinkByType}, "", llm.ThinkHigh, `,"thinking":{"type":"enabled"}`, "effort"},
		"type and word":  {quirks{ThinkingField: llm.ThinkByType}, "low,max", llm.ThinkMax, `,"thinking":{"type":"enabled"},"reasoning_effort":"max"`, ""},
		"type off":       {quirks{ThinkingField: llm.ThinkByType}, "low,max", llm.ThinkOff, `,"thinking":{"type":"disabled"}`, "effort"},
		"enable":         {quirks{ThinkingField: llm.ThinkByEnable}, "", llm.ThinkLow, `,"enable_thinking":true`, "effort"},
		"enable off":     {quirks{ThinkingField: llm.ThinkByEnable}, "", llm.ThinkOff, `,"enable_thinking":false`, "effort"},
		"template":       {quirks{ThinkingField: llm.ThinkByTemplate}, "", llm.ThinkLow, `,"reasoning_effort":"low","chat_template_kwargs":{"enable_thinking":true,"thinking":true,"reasoning_effort":"low"}`, ""},
		"template off":   {quirks{ThinkingField: llm.ThinkByTemplate}, "", llm.ThinkOff, `,"chat_template_kwargs":{"enable_thinking":false,"thinking":false}`, "effort"},
		"untold":         {quirks{ThinkingField: llm.ThinkUntold}, "", llm.ThinkHigh, `"stream":true`, "effort"},
		"no thinker":     {quirks{}, "thinks not", llm.ThinkHigh, `"stream":true`, "effort"},
	} {
		s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) {
			c.Quirks = tt.quirks
			if c.Info.Thinks = tt.efforts != "thinks not"; tt.efforts != "" {
				c.Info.Efforts = strings.Split(tt.efforts, ",")
			}
		}, llmtest.Stream(frames(llmtest.Reply{Text: []string{"ok"}})...))
		req := hello()
		req.Thinking = tt.level
		llmtest.MustAsk(t, s.Model, req)
		if body := s.Body(0); !strings.Contains(body, tt.has) || tt.no != "" && strings.Contains(body, tt.no) || !json.Valid([]byte(body)) || strings.Contains(body, "temperature") {
			t.Errorf("%s: %s", name, body)
		}
	}
	s := server(t, llm.Quirks{ParallelCalls: "on"}, piece(`"content":"ok"`), finish("stop"), done)
	req := hello()
	req.Tools = nil
	if llmtest.MustAsk(t, s.Model, req); strings.Contains(s.Body(0), "parallel") {
		t.Errorf("without tools: %s", s.Body(0))
	}
}

func TestTurns(t *testing.T) {
	const u, a, ok, go1 = `{"role":"user","content":"u"}`, `{"role":"assistant","content":"a"}`, bridgeAssistant, bridgeUser
	calls := `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]}`
	call, tool := assistant(use("c", "bash", `{}`)), `{"role":"tool","tool_call_id":"c","content":"r"}`
	user, said := core.UserText("u"), assistant(core.Text("a"))
	result := core.ToolResult("c", false, core.Text("r"))
	picture := `{"role":"user","content":[{"type":"text","text":"Returned by the call c:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]}`
	for name, tt := range map[string]struct {
		msgs []*core.Message
		want []string
	}{
		"by turns":             {[]*core.Message{user, said, user}, []string{u, a, u}},
		"two of the user's":    {[]*core.Message{user, user}, []string{u, ok, u}},
		"two of the model's":   {[]*core.Message{user, said, said, user}, []string{u, a, go1, a, u}},
		"the model first":      {[]*core.Message{said, user}, []string{go1, a, u}},
		"calls":                {[]*core.Message{user, call, results(result), said}, []string{u, calls, tool, a}},
		"calls again":          {[]*core.Message{user, call, results(result), call}, []string{u, calls, tool, calls}},
		"the user behind":      {[]*core.Message{user, call, results(result), user}, []string{u, calls, tool, ok, u}},
		"a note with a result": {[]*core.Message{user, call, results(result, core.Text("u"))}, []string{u, calls, tool, ok, u}},
		"a picture":            {[]*core.Message{user, call, results(core.ToolResult("c", false, core.Text("r"), image)), said}, []string{u, calls, tool, ok, picture, a}},
		"nothing between":      {[]*core.Message{user, core.UserText(" "), user}, []string{u, ok, u}},
	} {
		if got := sentMessages(t, llm.Quirks{Alternate: true}, tt.msgs...); got != "["+strings.Join(tt.want, ",")+"]" {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
	if got := sentMessages(t, llm.Quirks{}, user, user); got != "["+u+","+u+"]" {
		t.Errorf("without the quirk: %s", got)
	}
}

func TestContents(t *testing.T) {
	const calls = `,"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{}"}}]}]`
	call := use("c", "bash", `{}`)
	came := thought("why <", `{"reasoning_content":"why <"}`)
	short := thought("why", `{"reasoning":"why"}`)
	tagged := thought("why", "")
	for name, tt := range map[string]struct {
		quirks llm.Quirks
		blocks []core.Block
		want   string
	}{
		"null":             {llm.Quirks{}, []core.Block{call}, `[{"role":"assistant","content":null` + calls},
		"string":           {llm.Quirks{EmptyContent: "string"}, []core.Block{call}, `[{"role":"assistant","content":""` + calls},
		"absent":           {llm.Quirks{EmptyContent: "absent"}, []core.Block{call}, `[{"role":"assistant"` + calls},
		"nothing at all":   {llm.Quirks{EmptyContent: "absent"}, nil, `[{"role":"assistant","content":"(no text)"}]`},
		"as it came":       {llm.Quirks{}, []core.Block{came, call}, `[{"role":"assistant","content":null,"reasoning_content":"why <"` + calls},
		"tags stay out":    {llm.Quirks{}, []core.Block{tagged, call}, `[{"role":"assistant","content":null` + calls},
		"field":            {llm.Quirks{Playback: llm.PlaybackField}, []core.Block{short, call}, `[{"role":"assistant","content":null,"reasoning":"why"` + calls},
		"never":            {llm.Quirks{Playback: llm.PlaybackNever}, []core.Block{came, call}, `[{"role":"assistant","content":null` + calls},
		"always":           {llm.Quirks{PlaybackAlways: true}, []core.Block{came, call}, `[{"role":"assistant","content":null,"reasoning_content":"why <"` + calls},
		"always, if empty": {llm.Quirks{PlaybackAlways: true}, []core.Block{call}, `[{"role":"assistant","content":null,"reasoning_content":""` + calls},
		"always, as named": {llm.Quirks{PlaybackAlways: true}, []core.Block{tagged, call}, `[{"role":"assistant","content":null,"reasoning_content":"why"` + calls},
		"always, details":  {llm.Quirks{PlaybackAlways: true}, []core.Block{thought("why", `{"reasoning_details":[{"a":1}]}`), call}, `[{"role":"assistant","content":null,"reasoning_details":[{"a":1}]` + calls},
		"tags":             {llm.Quirks{Playback: llm.PlaybackTags}, []core.Block{tagged, core.Text("a")}, `[{"role":"assistant","content":"<think>\nwhy\n</think>\n\na"}]`},
		"tags and calls":   {llm.Quirks{Playback: llm.PlaybackTags}, []core.Block{tagged, call}, `[{"role":"assistant","content":"<think>\nwhy\n</think>\n\n"` + calls},
		"tags alone":       {llm.Quirks{Playback: llm.PlaybackTags}, []core.Block{tagged}, `[{"role":"assistant","content":"(no text)"}]`},
		"content":          {llm.Quirks{Playback: llm.PlaybackContent}, []core.Block{tagged, core.Text("a")}, `[{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]},{"type":"text","text":"a"}]}]`},
		"content, calls":   {llm.Quirks{Playback: llm.PlaybackContent}, []core.Block{tagged, call}, `[{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]}]` + calls},
		"content, text":    {llm.Quirks{Playback: llm.PlaybackContent}, []core.Block{core.Text("a")}, `[{"role":"assistant","content":"a"}]`},
		"another's":        {llm.Quirks{Playback: llm.PlaybackTags}, []core.Block{{Type: core.BlockThinking, Provider: "anthropic", Text: "why"}, core.Text("a")}, `[{"role":"assistant","content":"a"}]`},
	} {
		if got := sentMessages(t, tt.quirks, assistant(tt.blocks...)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestCacheMarks(t *testing.T) {
	s := server(t, llm.Quirks{CacheControl: true}, piece(`"content":"ok"`), finish("stop"), done)
	msgs := []*core.Message{core.UserText("one"), assistant(use("c", "bash", `{}`)), results(core.ToolResult("c", false, core.Text("r"), image))}
	llmtest.MustAsk(t, s.Model, llmtest.Request(msgs...))
	body := s.Body(0)
	for _, want := range []string{
		`\u2028"` + cacheMark + `}]},`,
		`{"role":"user","content":[{"type":"text","text":"one"` + cacheMark + `}]},`,
		`"content":[{"type":"text","text":"r"}]},{"role":"user","content":[{"type":"text","text":"Returned by the call c:"` + cacheMark + `},{"type":"image_url"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if n := strings.Count(body, cacheMark); n != 3 || !json.Valid([]byte(body)) {
		t.Errorf("%d marks in %s", n, body)
	}
}

// TestStablePrefixes holds the bar of page 01 with each way to send a message.
func TestStablePrefixes(t *testing.T) {
	for name, q := range map[string]llm.Quirks{
		"OpenRouter": {ThinkingField: llm.ThinkByReasoning, CacheControl: true, PlaybackAlways: true},
		"Mistral":    {CallIDs: shortIDs, Alternate: true, Playback: llm.PlaybackContent},
		"MiniMax":    {Playback: llm.PlaybackTags, EmptyContent: "absent"},
		"Kimi":       {CallIDs: ownIDs, PlaybackAlways: true, SystemRole: "user", Alternate: true},
	} {
		d := dialect
		d.New = func(c llm.ClientConfig) (llm.Model, error) {
			c.Quirks = q
			return New(c)
		}
		last := ""
		llmtest.Conversation(t, d, 6, func(step int, s *llmtest.Server, _ llmtest.Result) {
			body := strings.ReplaceAll(s.Body(step), cacheMark, "")
			if !strings.HasPrefix(body, strings.TrimSuffix(last, tail)) || !json.Valid([]byte(body)) {
				t.Errorf("%s, step %d does not begin with the step before:\n%s\n%s", name, step, last, body)
			}
			last = body
		})
	}
}

func TestOwnIDs(t *testing.T) {
	call := piece(`"tool_calls":[{"index":0,"id":"functions.bash:0","function":{"name":"bash","arguments":"{}"}}]`)
	s := server(t, llm.Quirks{CallIDs: ownIDs}, call, finish("tool_calls"), done)
	req := hello()
	for range 3 { // a server that counts from nought in every answer
		r := llmtest.MustAsk(t, s.Model, req)
		req.Messages = append(req.Messages, r.Resp.Message, results(core.ToolResult(r.Resp.Message.Blocks[0].ID, false, core.Text("x"))))
	}
	for _, id := range []string{"functions.bash:0", "functions.bash:1"} {
		if !strings.Contains(s.Body(2), `"id":"`+id+`"`) || !strings.Contains(s.Body(2), `"tool_call_id":"`+id+`"`) {
			t.Errorf("%s is not in %s", id, s.Body(2))
		}
	}
	e := newEncoder(&llm.Info{ID: "m"}, llm.Quirks{CallIDs: ownIDs})
	for _, id := range []string{"", "a b", "a\nb", "ü", strings.Repeat("x", 200)} {
		if got := e.callID(id); !strings.HasPrefix(got, "call_") {
			t.Errorf("%q became %q", id, got)
		}
	}
}

// TestCustomCallOfResponses reads a call that was made in another format.
func TestCustomCallOfResponses(t *testing.T) {
	b := core.Block{Type: core.BlockToolUse, ID: "c", Name: "apply_patch", Input: `{"patch":"x"}`, Provider: responses.Format, Opaque: `{"type":"custom_tool_call"}`}
	want := `[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"apply_patch","arguments":"{\"patch\":\"x\"}"}}]}]`
	if got := sentMessages(t, llm.Quirks{}, assistant(b)); got != want {
		t.Errorf("%s", got)
	}
}

func TestReasoningDetails(t *testing.T) {
	const end = `,"signature":"c2ln+/=","format":"anthropic-claude-v1", "index":0}`
	for name, tt := range map[string]struct {
		pieces []string
		want   string
		shown  string
	}{
		"one":       {[]string{`{"type":"reasoning.encrypted","data":"x", "index":0}`}, `{"type":"reasoning.encrypted","data":"x", "index":0}`, ""},
		"pieces":    {[]string{`{"type":"reasoning.text","text":"Let","index":0}`, `{"type":"reasoning.text","text":" me \u00fc","index":0}`, `{"type":"reasoning.text"` + end}, `{"type":"reasoning.text","text":"Let me ü","index":0,"signature":"c2ln+/=","format":"anthropic-claude-v1"}`, "Let me ü"},
		"summary":   {[]string{`{"type":"reasoning.summary","summary":"a","id":null,"index":0}`, `{"type":"reasoning.summary","summary":"b","id":"r1","index":0}`}, `{"type":"reasoning.summary","summary":"ab","id":"r1","index":0}`, "ab"},
		"text late": {[]string{`{"type":"reasoning.text","index":0}`, `{"type":"reasoning.text","text":"a","index":0}`}, `{"type":"reasoning.text","index":0,"text":"a"}`, "a"},
		"signed":    {[]string{`{"type":"reasoning.text","text":"a","index":0,"signature":"s"}`, `{"type":"reasoning.text","text":"b","index":0}`}, `{"type":"reasoning.text","text":"a","index":0,"signature":"s"},{"type":"reasoning.text","text":"b","index":0}`, "ab"},
		"indexes":   {[]string{`{"type":"reasoning.text","text":"a","index":0}`, `{"type":"reasoning.text","text":"b","index":1}`}, `{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.text","text":"b","index":1}`, "ab"},
		"no index":  {[]string{`{"type":"reasoning.text","text":"a"}`, `{"type":"reasoning.text","text":"b"}`}, `{"type":"reasoning.text","text":"a"},{"type":"reasoning.text","text":"b"}`, "ab"},
		"secrets":   {[]string{`{"type":"reasoning.encrypted","data":"a","index":0}`, `{"type":"reasoning.encrypted","data":"b","index":0}`}, `{"type":"reasoning.encrypted","data":"a","index":0},{"type":"reasoning.encrypted","data":"b","index":0}`, ""},
		"unknown":   {[]string{`{"type":"new","index":"x"}`, `{"type":"new","index":"x"}`}, `{"type":"new","index":"x"},{"type":"new","index":"x"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var frames []string
			for _, p := range tt.pieces {
				frames = append(frames, piece(`"reasoning_details":[%s]`, p))
			}
			s := server(t, llm.Quirks{}, append(frames, piece(`"content":"ok"`), finish("stop"), done)...)
			req := hello()
			r := llmtest.MustAsk(t, s.Model, req)
			if r.Thinking() != tt.shown || r.Resp.Message.Blocks[0].Text != tt.shown {
				t.Errorf("shown %q, %+v", r.Thinking(), r.Resp.Message.Blocks[0])
			}
			req.Messages = append(req.Messages, r.Resp.Message, core.UserText("go on"))
			llmtest.MustAsk(t, s.Model, req)
			if !strings.Contains(s.Body(1), `"reasoning_details":[`+tt.want+`]`) {
				t.Errorf("sent %s", s.Body(1))
			}
		})
	}
}

func TestUsages(t *testing.T) {
	chunk := func(usage string) string { return llmtest.Data(`{"choices":[],"usage":` + usage + `}`) }
	for name, tt := range map[string]struct {
		frames []string
		want   core.Usage
		billed float64
	}{
		"OpenAI":     {[]string{finish("stop"), chunk(`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":15}}`)}, core.Usage{Input: 40, Output: 20, CacheRead: 60, Thinking: 15}, 0},
		"xAI":        {[]string{finish("stop"), chunk(`{"prompt_tokens":100,"completion_tokens":20,"total_tokens":135,"completion_tokens_details":{"reasoning_tokens":15}}`)}, core.Usage{Input: 100, Output: 35, Thinking: 15}, 0},
		"OpenRouter": {[]string{finish("stop"), chunk(`{"prompt_tokens":100,"completion_tokens":20,"cost":0.0125,"prompt_tokens_details":{"cached_tokens":50,"cache_write_tokens":30}}`)}, core.Usage{Input: 20, Output: 20, CacheRead: 50, CacheWrite: 30}, 0.0125},
		"DeepSeek":   {[]string{finish("stop"), chunk(`{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":70,"prompt_cache_miss_tokens":30}`)}, core.Usage{Input: 30, Output: 20, CacheRead: 70}, 0},
		"Moonshot":   {[]string{llmtest.Data(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":100,"completion_tokens":20,"cached_tokens":70}}]}`)}, core.Usage{Input: 30, Output: 20, CacheRead: 70}, 0},
		"Groq":       {[]string{llmtest.Data(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":2}}}`)}, core.Usage{Input: 9, Output: 2}, 0},
		"each chunk": {[]string{chunk(`{"prompt_tokens":9,"completion_tokens":1}`), chunk(`{"prompt_tokens":9,"completion_tokens":2}`), finish("stop"), chunk(`{"prompt_tokens":0,"completion_tokens":0}`)}, core.Usage{Input: 9, Output: 2}, 0},
		"null":       {[]string{chunk(`null`), finish("stop"), chunk(`{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":null,"completion_tokens_details":null}`)}, core.Usage{Input: 9, Output: 2}, 0},
		"nonsense":   {[]string{finish("stop"), chunk(`{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":60}}`)}, core.Usage{CacheRead: 10, Output: 2}, 0},
		"unreadable": {[]string{chunk(`{"prompt_tokens":9,"completion_tokens":2}`), finish("stop"), chunk(`{"prompt_tokens":10,"completion_tokens":-2,"cost":0.5}`)}, core.Usage{}, 0.5},
	} {
		s := server(t, llm.Quirks{}, append(append([]string{piece(`"content":"ok"`)}, tt.frames...), done)...)
		r := llmtest.MustAsk(t, s.Model, hello())
		if d := cmp.Diff(tt.want, r.Resp.Usage); d != "" || r.Resp.UsageReported != (tt.want != core.Usage{}) || r.Resp.BilledUSD != tt.billed {
			t.Errorf("%s: %s, billed %v", name, d, r.Resp.BilledUSD)
		}
	}
}

func TestFinishReasons(t *testing.T) {
	call := func(args string) string {
		return piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":%s}}]`, llmtest.Quote(args))
	}
	used := func(n int) string {
		return llmtest.Data(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":%d}}`, n))
	}
	for name, tt := range map[string]struct {
		frames []string
		stop   core.StopReason
		kind   llm.ErrorKind
	}{
		"stop with a call":             {[]string{call(`{}`), finish("stop")}, core.StopToolUse, ""},
		"calls without one":            {[]string{piece(`"content":"ok"`), finish("tool_calls")}, core.StopEndTurn, ""},
		"eos":                          {[]string{piece(`"content":"ok"`), finish("eos")}, core.StopEndTurn, ""},
		"filter":                       {[]string{piece(`"content":"ok"`), finish("content_filter")}, core.StopRefusal, ""},
		"sensitive":                    {[]string{piece(`"content":"ok"`), finish("sensitive")}, core.StopRefusal, ""},
		"length":                       {[]string{piece(`"content":"ok"`), finish("length"), used(16_384)}, core.StopMaxTokens, ""},
		"length with half a call":      {[]string{call(`{"a"`), finish("length"), used(20)}, core.StopMaxTokens, ""},
		"length with a whole call":     {[]string{call(`{"a":1}`), finish("length"), used(16_384)}, core.StopMaxTokens, ""},
		"length, nobody counts":        {[]string{call(`{"a":1}`), finish("length")}, core.StopMaxTokens, ""},
		"length, and far from it":      {[]string{call(`{"a":1}`), finish("length"), used(20)}, core.StopToolUse, ""},
		"calls, and cut at the limit":  {[]string{call(`{"a":`), finish("tool_calls"), used(16_384)}, core.StopMaxTokens, ""},
		"stop, and cut at the limit":   {[]string{call(`{"a":`), finish("stop"), used(16_384)}, core.StopMaxTokens, ""},
		"calls, broken by the model":   {[]string{call(`{"a":`), finish("tool_calls"), used(20)}, core.StopToolUse, ""},
		"no reason":                    {[]string{call(`{"a":1}`)}, core.StopToolUse, ""},
		"aborted":                      {[]string{piece(`"content":"ok"`), finish("abort")}, "", llm.ErrServer},
		"out of resources":             {[]string{piece(`"content":"ok"`), finish("insufficient_system_resource")}, "", llm.ErrOverloaded},
		"connection behind the server": {[]string{piece(`"content":"ok"`), finish("network_error")}, "", llm.ErrServer},
		"window":                       {[]string{piece(`"content":"ok"`), finish("model_context_window_exceeded")}, "", llm.ErrContextOverflow},
	} {
		s := server(t, llm.Quirks{}, append(tt.frames, done)...)
		r := llmtest.Ask(t.Context(), s.Model, hello())
		switch {
		case tt.kind != "":
			llmtest.WantError(t, r.Err, tt.kind)
		case r.Err != nil:
			t.Errorf("%s: %v", name, r.Err)
		case r.Resp.Stop != tt.stop:
			t.Errorf("%s: %s", name, r.Resp.Stop)
		}
	}
}

func TestImpliedThink(t *testing.T) {
	for name, tt := range map[string]struct {
		frames         []string
		quirks         llm.Quirks
		thinking, text string
		shown          string
	}{
		"closed":              {[]string{piece(`"content":"hm "`), piece(`"content":"m</th"`), piece(`"content":"ink>\n\nok"`)}, llm.Quirks{ImpliedThink: true}, "hm m", "ok", "ok"},
		"opened all the same": {[]string{piece(`"content":"<think>hm</think>ok"`)}, llm.Quirks{ImpliedThink: true}, "hm", "ok", "ok"},
		"never closed":        {[]string{piece(`"content":"o"`), piece(`"content":"k"`)}, llm.Quirks{ImpliedThink: true}, "", "ok", "ok"},
		"by a field":          {[]string{piece(`"reasoning_content":"hm"`), piece(`"content":"ok"`)}, llm.Quirks{ImpliedThink: true}, "hm", "ok", "ok"},
		"unknown":             {[]string{piece(`"content":"hm\n"`), piece(`"content":"</think>\n\nok"`)}, llm.Quirks{}, "hm", "ok", "hm\n</think>\n\nok"},
		"inside a line":       {[]string{piece(`"content":"The </think> tag\n"`)}, llm.Quirks{}, "", "The </think> tag\n", "The </think> tag\n"},
		"about both":          {[]string{piece(`"content":"Write\n<think>\n</think>\n"`)}, llm.Quirks{}, "", "Write\n<think>\n</think>\n", "Write\n<think>\n</think>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, tt.quirks, append(tt.frames, finish("stop"), done)...)
			r := llmtest.MustAsk(t, s.Model, hello())
			if got := thoughtOf(r.Resp.Message); got != tt.thinking || r.Resp.Message.PlainText() != tt.text || r.Text() != tt.shown {
				t.Errorf("thinking %q, text %q, shown %q", got, r.Resp.Message.PlainText(), r.Text())
			}
		})
	}
	call := piece(`"content":%s`, llmtest.Quote("hm\n</think>\n"+`{"name":"bash","arguments":{"command":"ls"}}`))
	s := server(t, llm.Quirks{}, call, finish("stop"), done)
	if r := llmtest.MustAsk(t, s.Model, hello()); len(r.Resp.Message.ToolUses()) != 1 {
		t.Errorf("%+v", r.Resp.Message)
	}
}
