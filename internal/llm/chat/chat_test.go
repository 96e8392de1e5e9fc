package chat

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dialect = llmtest.Dialect{
	Format: Format, New: New, Base: "/v1", Path: "/v1/chat/completions",
	KeyHeader: "Authorization", KeyPrefix: "Bearer ",
	Frames: frames, Spare: 2,
	ErrorFrame: llmtest.Data(`{"error":{"code":503,"message":"Provider is overloaded"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`),
	Refusals:   refusals,
	Stops: map[string]core.StopReason{
		"stop": core.StopEndTurn, "length": core.StopMaxTokens, "content_filter": core.StopRefusal, "something_new": core.StopOther,
		"tool_calls": core.StopEndTurn, // a lie: there is none
	},
	List: "messages",
}

func TestConformance(t *testing.T) { llmtest.Run(t, dialect) }

// TestConformanceWithQuirks runs the suite where every message is written in
// another way than the plain one.
func TestConformanceWithQuirks(t *testing.T) {
	d := dialect
	d.CacheMark = cacheMark
	d.New = func(c llm.ClientConfig) (llm.Model, error) {
		c.Quirks.CacheControl, c.Quirks.Alternate, c.Quirks.PlaybackAlways = true, true, true
		c.Quirks.CallIDs, c.Quirks.SystemRole, c.Quirks.ParallelCalls = shortIDs, "user", "on"
		return New(c)
	}
	llmtest.Run(t, d)
}

// piece is one event with the delta's members.
func piece(format string, args ...any) string {
	return llmtest.Data(`{"id":"cmpl-1","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{` + fmt.Sprintf(format, args...) + `},"finish_reason":null}]}`)
}

func finish(reason string) string {
	return llmtest.Data(`{"id":"cmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
}

const done = "data: [DONE]\n\n"

func frames(r llmtest.Reply) []string {
	q := llmtest.Quote
	out := []string{piece(`"role":"assistant","content":""`)}
	for _, s := range r.Thinking {
		out = append(out, piece(`"reasoning_content":%s`, q(s)))
	}
	for _, s := range r.Text {
		out = append(out, piece(`"content":%s`, q(s)))
	}
	for i, c := range r.Calls {
		out = append(out, piece(`"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]`, i, q(c.ID), q(c.Name)))
		for _, s := range c.Args {
			out = append(out, piece(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, i, q(s)))
		}
	}
	stop := r.RawStop
	if stop == "" {
		stop = "stop"
		if len(r.Calls) > 0 {
			stop = "tool_calls"
		}
	}
	return append(out, finish(stop),
		llmtest.Data(fmt.Sprintf(`{"id":"cmpl-1","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}}`,
			r.Usage.Input+r.Usage.CacheRead, r.Usage.Output, r.Usage.CacheRead, r.Usage.Thinking)), done)
}

var refusals = []llmtest.Refusal{
	{Name: "OpenAI key", Status: 401, Body: `{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Kind: llm.ErrAuth},
	{Name: "OpenAI quota", Status: 429, Body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, Kind: llm.ErrQuota},
	{Name: "OpenAI block", Status: 400, Body: `{"error":{"message":"Invalid image.","type":"invalid_request_error","param":"messages.[3].content.[1].image_url","code":null}}`, Kind: llm.ErrBadRequest, Block: "messages.3.content.1"},
	{Name: "OpenAI window", Status: 400, Body: `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Kind: llm.ErrContextOverflow},
	{Name: "OpenRouter credits", Status: 402, Body: `{"error":{"code":402,"message":"This request requires more credits, or fewer max_tokens."}}`, Kind: llm.ErrQuota},
	{Name: "OpenRouter provider", Status: 429, Body: `{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"m is temporarily rate-limited upstream\"}}","provider_name":"X"}}}`, Kind: llm.ErrRateLimit},
	{Name: "OpenRouter window", Status: 400, Body: `{"error":{"code":400,"message":"This endpoint's maximum context length is 131072 tokens."}}`, Kind: llm.ErrContextOverflow},
	{Name: "DeepSeek balance", Status: 402, Body: `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, Kind: llm.ErrQuota},
	{Name: "DeepSeek busy", Status: 503, Body: `{"error":{"message":"Service is too busy","type":"service_unavailable_error"}}`, Kind: llm.ErrOverloaded},
	{Name: "Groq rate", Status: 429, Body: `{"error":{"message":"Rate limit reached for model","type":"tokens","code":"rate_limit_exceeded"}}`, Kind: llm.ErrRateLimit},
	{Name: "Groq large", Status: 413, Body: `{"error":{"message":"Request too large for model on tokens per minute","type":"tokens","code":"rate_limit_exceeded"}}`, Kind: llm.ErrTooLarge},
	{Name: "Groq window", Status: 400, Body: `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Kind: llm.ErrContextOverflow},
	{Name: "Ollama model", Status: 404, Body: `{"error":{"message":"model \"m\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, Kind: llm.ErrBadRequest, Hint: "model's name"},
	{Name: "Ollama window", Status: 500, Body: `{"error":"the input length exceeds the context length"}`, Kind: llm.ErrContextOverflow, Local: true, Hint: "num_ctx"},
	{Name: "llama.cpp window", Status: 400, Body: `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}`, Kind: llm.ErrContextOverflow, Local: true, Hint: `set contextWindow of "ollama/model" in models.json to 256`},
	{Name: "llama.cpp loading", Status: 503, Body: `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, Kind: llm.ErrOverloaded},
	{Name: "vLLM window", Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`, Kind: llm.ErrContextOverflow},
	{Name: "vLLM tools", Status: 400, Body: `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice","type":"BadRequestError","param":null,"code":400}`, Kind: llm.ErrBadRequest},
	{Name: "LM Studio window", Status: 400, Body: `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, Kind: llm.ErrContextOverflow, Local: true, Hint: "contextWindow"},
	{Name: "FastAPI", Status: 422, Body: `{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra inputs are not permitted"}]}`, Kind: llm.ErrBadRequest},
	{Name: "proxy", Status: 502, Body: `<html><head><title>502 Bad Gateway</title></head></html>`, Kind: llm.ErrServer},
	{Name: "nothing", Status: 500, Body: ``, Kind: llm.ErrServer},
	{Name: "timeout", Status: 408, Body: `{}`, Kind: llm.ErrNetwork},
}

func hello() *llm.Request { return llmtest.Request(core.UserText("hello")) }

func server(t *testing.T, quirks llm.Quirks, frames ...string) *llmtest.Server {
	t.Helper()
	return llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) { c.Quirks = quirks }, llmtest.Stream(frames...))
}

func use(id, name, input string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: name, Input: input}
}

func TestCallFragments(t *testing.T) {
	for name, tt := range map[string]struct {
		frames []string
		want   []core.Block
	}{
		"name in every piece": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\""}}]`), piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"a pause at a valid prefix": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{}"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"name in pieces": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"read"}}]`), piece(`"tool_calls":[{"index":0,"function":{"name":"_file","arguments":"{}"}}]`)},
			[]core.Block{use("a", "read_file", `{}`)},
		},
		"interleaved": {
			[]string{
				piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\""}},{"index":1,"id":"b","function":{"name":"bash","arguments":"{\"y\""}}]`),
				piece(`"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`),
			},
			[]core.Block{use("a", "bash", `{"x":1}`), use("b", "bash", `{"y":2}`)},
		},
		"one index for all": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":1}"}}]`), piece(`"tool_calls":[{"index":0,"id":"b","function":{"name":"bash","arguments":"{\"y\":2}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`), use("b", "bash", `{"y":2}`)},
		},
		"no index": {
			[]string{piece(`"tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"x\""}}]`), piece(`"tool_calls":[{"function":{"arguments":":1}"}}]`), piece(`"tool_calls":[{"id":"b","function":{"name":"bash","arguments":"{}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`), use("b", "bash", `{}`)},
		},
		"a new id in every piece": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\""}}]`), piece(`"tool_calls":[{"index":0,"id":"b","function":{"name":"bash","arguments":":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"arguments as an object": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":{"x": 1}}}]`)},
			[]core.Block{use("a", "bash", `{"x": 1}`)},
		},
		"a placeholder, then the real ones in pieces": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{}"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"all of them once more": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]`), piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\": 1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x": 1}`)},
		},
		"all so far in each piece": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"two objects that differ": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":1}{\"x\":2}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}{"x":2}`)},
		},
		"a valid beginning is not the end": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":{\"y\":1}"}}]`), piece(`"tool_calls":[{"index":0,"function":{"arguments":"}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":{"y":1}}`)},
		},
		"name last": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"x\""}}]`), piece(`"tool_calls":[{"index":0,"function":{"name":"bash","arguments":":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"one index, no arguments": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":""}}]`), piece(`"tool_calls":[{"index":0,"id":"b","function":{"name":"read_file","arguments":"{\"y\":2}"}}]`)},
			[]core.Block{use("a", "bash", `{}`), use("b", "read_file", `{"y":2}`)},
		},
		"id in every piece": {
			[]string{piece(`"tool_calls":[{"id":"a","function":{"name":"bash","arguments":"{\"x\""}}]`), piece(`"tool_calls":[{"id":"a","function":{"arguments":":1}"}}]`)},
			[]core.Block{use("a", "bash", `{"x":1}`)},
		},
		"function_call": {
			[]string{piece(`"function_call":{"name":"bash","arguments":"{\"x\""}`), piece(`"function_call":{"arguments":":1}"}`)},
			[]core.Block{use("", "bash", `{"x":1}`)},
		},
		"null arguments": {
			[]string{piece(`"tool_calls":[{"index":0,"id":"a","function":{"name":"bash","arguments":null}}]`)},
			[]core.Block{use("a", "bash", `{}`)},
		},
		"an empty piece": {
			[]string{piece(`"tool_calls":[{"index":0}]`), piece(`"tool_calls":null`)},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, llm.Quirks{}, append(tt.frames, finish("stop"), done)...)
			r := llmtest.MustAsk(t, s.Model, hello())
			for i, b := range tt.want {
				if b.ID == "" && len(r.Started()) > i { // made up, but announced
					tt.want[i].ID = r.Started()[i].ID
				}
			}
			if d := cmp.Diff(tt.want, r.Resp.Message.Blocks); d != "" {
				t.Error(d)
			}
			if len(r.Started()) != len(tt.want) || len(tt.want) > 0 && r.Resp.Stop != core.StopToolUse {
				t.Errorf("announced %v, stop %s", r.Started(), r.Resp.Stop)
			}
		})
	}
}

func TestCallIDs(t *testing.T) {
	s := server(t, llm.Quirks{}, piece(`"tool_calls":[{"index":0,"function":{"name":"bash","arguments":"{}"}},{"index":1,"function":{"name":"bash","arguments":"{}"}},{"index":2,"id":"call_0","function":{"name":"bash","arguments":"{}"}}]`), finish("tool_calls"), done)
	req := hello()
	seen := map[string]bool{}
	for range 3 { // the server begins with call_0 in every answer
		r := llmtest.MustAsk(t, s.Model, req)
		results := &core.Message{Role: core.RoleUser}
		for i, c := range r.Resp.Message.ToolUses() {
			if c.ID == "" || seen[c.ID] || r.Started()[i].ID != c.ID {
				t.Errorf("id %q of %v, announced %v", c.ID, seen, r.Started())
			}
			seen[c.ID] = true
			results.Blocks = append(results.Blocks, core.ToolResult(c.ID, false, core.Text("x")))
		}
		req.Messages = append(req.Messages, r.Resp.Message, results)
	}
	if len(seen) != 9 {
		t.Errorf("%d ids", len(seen))
	}
}

func TestThinkTags(t *testing.T) {
	whole := "\n<think>\nI <b> think</think>\n\n<think>more</think>\nThe <think> tag. </think>"
	var pieces []string
	for i := range len(whole) {
		pieces = append(pieces, piece(`"content":%s`, llmtest.Quote(whole[i:i+1])))
	}
	for name, frames := range map[string][]string{"whole": {piece(`"content":%s`, llmtest.Quote(whole))}, "bytewise": pieces} {
		s := server(t, llm.Quirks{}, append(frames, finish("stop"), done)...)
		req := hello()
		r := llmtest.MustAsk(t, s.Model, req)
		want := []core.Block{{Type: core.BlockThinking, Provider: Format, Text: "I <b> thinkmore"}, core.Text("The <think> tag. </think>")}
		if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if r.Text() != "The <think> tag. </think>" || strings.Contains(r.Thinking(), "think>") {
			t.Errorf("%s: shown %q, %q", name, r.Thinking(), r.Text())
		}
		req.Messages = append(req.Messages, r.Resp.Message, core.UserText("go on"))
		llmtest.MustAsk(t, s.Model, req)
		if strings.Contains(s.Body(1), "<b>") && strings.Contains(s.Body(1), "thinkmore") {
			t.Errorf("tagged thinking went back: %s", s.Body(1))
		}
	}
	s := server(t, llm.Quirks{}, piece(`"content":"<think>never ends </thi"`), finish("length"), done)
	if r := llmtest.MustAsk(t, s.Model, hello()); r.Text() != "" || r.Resp.Message.Blocks[0].Text != "never ends </thi" {
		t.Errorf("%+v", r)
	}
}

func TestReasoningFields(t *testing.T) {
	for name, tt := range map[string]struct{ delta, text, sent string }{
		"reasoning_content":       {`"reasoning_content":"why <"`, "why <", `"reasoning_content":"why <"`},
		"empty reasoning_content": {`"reasoning_content":""`, "", `"reasoning_content":""`},
		"reasoning":               {`"reasoning":"why"`, "why", ""},
		"both":                    {`"reasoning":"why","reasoning_content":"why"`, "why", `"reasoning_content":"why"`},
		"details":                 {`"reasoning":"why","reasoning_details":[{"type":"reasoning.encrypted","data":"x", "index":0}]`, "why", `"reasoning_details":[{"type":"reasoning.encrypted","data":"x", "index":0}]`},
		"parts":                   {`"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]},{"type":"text","text":"!"}]`, "why", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, llm.Quirks{}, piece("%s", tt.delta), piece(`"content":"ok","reasoning_content":null`), finish("stop"), done)
			req := hello()
			r := llmtest.MustAsk(t, s.Model, req)
			if r.Thinking() != tt.text || !strings.HasSuffix(r.Resp.Message.PlainText(), "ok") {
				t.Errorf("%q, %+v", r.Thinking(), r.Resp.Message)
			}
			req.Messages = append(req.Messages, r.Resp.Message, core.UserText("go on"))
			llmtest.MustAsk(t, s.Model, req)
			if tt.sent == "" && strings.Contains(s.Body(1), "reasoning") || !strings.Contains(s.Body(1), tt.sent) {
				t.Errorf("sent %s", s.Body(1))
			}
		})
	}
}

func TestUnstreamed(t *testing.T) {
	body := `{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<think>hm</think>hi","tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6,"prompt_cache_hit_tokens":2}}`
	s := llmtest.NewServer(t, dialect, nil, llmtest.Answer(http.StatusOK, "application/json", body))
	r := llmtest.MustAsk(t, s.Model, hello())
	want := []core.Block{{Type: core.BlockThinking, Provider: Format, Text: "hm"}, core.Text("hi"), use("a", "bash", "{}")}
	if d := cmp.Diff(want, r.Resp.Message.Blocks); d != "" {
		t.Error(d)
	}
	if r.Resp.Usage != (core.Usage{Input: 3, Output: 6, CacheRead: 2}) || r.Resp.Stop != core.StopToolUse {
		t.Errorf("%+v", r.Resp)
	}
}

func TestEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		frames []string
		kind   llm.ErrorKind // empty: an answer
	}{
		"no [DONE]":         {[]string{piece(`"content":"ok"`), finish("stop")}, ""},
		"no finish reason":  {[]string{piece(`"content":"ok"`), done}, ""},
		"empty reason":      {[]string{piece(`"content":"ok"`), finish(""), done}, ""},
		"neither":           {[]string{piece(`"content":"ok"`), finish("")}, llm.ErrNetwork},
		"no choices":        {[]string{llmtest.Data(`{"choices":[]}`), done}, llm.ErrProtocol},
		"nothing":           {[]string{done}, llm.ErrProtocol},
		"finish is error":   {[]string{piece(`"content":"ok"`), finish("error"), done}, llm.ErrServer},
		"error object":      {[]string{llmtest.Data(`{"object":"error","message":"oops","code":500}`)}, llm.ErrServer},
		"error in a choice": {[]string{llmtest.Data(`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":429,"message":"slow"}}]}`)}, llm.ErrRateLimit},
		"error text":        {[]string{llmtest.Event("error", `{"error":"context size has been exceeded"}`)}, llm.ErrContextOverflow},
		"other choices":     {[]string{piece(`"content":"ok"`), llmtest.Data(`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}`), finish("stop"), done}, ""},
		"empty data":        {[]string{"data:\n\n", piece(`"content":"ok"`), finish("stop"), done}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, llm.Quirks{}, tt.frames...)
			r := llmtest.Ask(t.Context(), s.Model, hello())
			if tt.kind != "" {
				llmtest.WantError(t, r.Err, tt.kind)
			} else if r.Err != nil || r.Text() != "ok" || r.Resp.Stop != core.StopEndTurn {
				t.Errorf("%+v, %v", r.Resp, r.Err)
			}
		})
	}
}

// TestStaysOpen is a server that sends the answer and then never ends the stream.
func TestStaysOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		frames string
		wait   time.Duration
	}{
		"without usage": {piece(`"content":"ok"`) + finish("stop"), afterFinish},
		"with usage":    {piece(`"content":"ok"`) + finish("stop") + llmtest.Data(`{"choices":[],"usage":{"prompt_tokens":1}}`), afterUsage},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &limitClock{limit: tt.wait, set: make(chan struct{})}
			s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) { clock.Clock, c.Clock = c.Clock, clock },
				func(w http.ResponseWriter, r *http.Request, _ []byte) {
					llmtest.Stream(tt.frames)(w, r, nil)
					<-r.Context().Done()
				})
			go func() {
				select {
				case <-clock.set:
					s.Clock.Advance(tt.wait)
				case <-t.Context().Done():
				}
			}()
			resp, err := s.Model.Stream(t.Context(), hello(), func(llm.Event) {})
			if err != nil || resp.Message.PlainText() != "ok" {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
}

// limitClock says when a limit of that length is first set.
type limitClock struct {
	core.Clock
	limit time.Duration
	once  sync.Once
	set   chan struct{}
}

func (c *limitClock) AfterFunc(d time.Duration, f func()) func() bool {
	stop := c.Clock.AfterFunc(d, f)
	if d == c.limit {
		c.once.Do(func() { close(c.set) })
	}
	return stop
}

func TestRefusalDelta(t *testing.T) {
	s := server(t, llm.Quirks{}, piece(`"content":null,"refusal":"I cannot."`), finish("stop"), done)
	if r := llmtest.MustAsk(t, s.Model, hello()); r.Resp.Stop != core.StopRefusal || r.Text() != "I cannot." {
		t.Errorf("%+v", r.Resp)
	}
}

// TestMessages pins the shape of what goes out.
func TestMessages(t *testing.T) {
	e := newEncoder(&llm.Info{ID: "m"}, llm.Quirks{})
	image := core.Block{Type: core.BlockImage, MediaType: "image/png", Data: []byte("x")}
	for name, tt := range map[string]struct {
		msg  *core.Message
		want string
	}{
		"texts are one string": {&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.Text("a"), core.Text(" "), core.Text("b")}}, `{"role":"user","content":"a\n\nb"}`},
		"results first": {&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.Text("note"), core.ToolResult("a", false, core.Text("1")), core.ToolResult("b", true)}},
			`{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"(no output)"},{"role":"user","content":"note"}`},
		"images of results": {&core.Message{Role: core.RoleUser, Blocks: []core.Block{core.ToolResult("a", false, image), core.ToolResult("b", false, core.Text("2"))}},
			`{"role":"tool","tool_call_id":"a","content":"(an image, in the next message)"},{"role":"tool","tool_call_id":"b","content":"2"},{"role":"user","content":[{"type":"text","text":"Returned by the call a:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]}`},
		"call": {&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{use("a", "bash", `{"x": "<"}`)}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"x\": \"<\"}"}}]}`},
		"bound call": {&core.Message{Role: core.RoleAssistant, Blocks: []core.Block{{Type: core.BlockToolUse, ID: "a", Name: "bash", Input: "no", Provider: Format, Opaque: `{ "extra_content":{"g":1} }`}}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"},"extra_content":{"g":1}}]}`},
		"nothing said": {&core.Message{Role: core.RoleAssistant}, `{"role":"assistant","content":"(no text)"}`},
		"nothing":      {&core.Message{Role: core.RoleUser}, ``},
	} {
		if got, _ := e.AppendMessage(nil, tt.msg); string(got) != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		} else if !json.Valid([]byte("[" + string(got) + "]")) {
			t.Errorf("%s: not JSON", name)
		}
	}
}

func TestMistralIDs(t *testing.T) {
	e := newEncoder(&llm.Info{ID: "m"}, llm.Quirks{CallIDs: shortIDs})
	own, other := e.callID("a1B2c3D4e"), e.callID("call_0123")
	if own != "a1B2c3D4e" || len(other) != 9 || other != e.callID("call_0123") || other == e.callID("call_0124") {
		t.Error(own, other)
	}
}

func TestResponsesFallback(t *testing.T) {
	refuse := `{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions.","type":"invalid_request_error"}}`
	answer := llmtest.Stream(
		llmtest.Data(`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"ok"}]}}`),
		llmtest.Data(`{"type":"response.completed","response":{"id":"r","status":"completed"}}`))
	for _, status := range []int{400, 404, 405, 415, 422, 501} {
		var paths []string
		s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) { c.Quirks.ResponsesFallback = true }, func(w http.ResponseWriter, r *http.Request, b []byte) {
			paths = append(paths, r.URL.Path)
			if r.URL.Path == dialect.Path {
				llmtest.Answer(status, "application/json", refuse)(w, r, b)
			} else {
				answer(w, r, b)
			}
		})
		r := llmtest.MustAsk(t, s.Model, hello())
		if n, ok := r.Events[0].(llm.Notice); !ok || !strings.Contains(n.Text, "/responses") || r.Text() != "ok" {
			t.Errorf("%d: %v", status, r.Events)
		}
		if r := llmtest.MustAsk(t, s.Model, hello()); len(r.Events) != 1 || r.Text() != "ok" {
			t.Errorf("%d: %v", status, r.Events)
		}
		if d := cmp.Diff([]string{"/v1/chat/completions", "/v1/responses", "/v1/responses"}, paths); d != "" {
			t.Error(d)
		}
	}
	// Never on another status, without the words, or without the quirk.
	for _, tt := range []struct {
		status int
		body   string
		allow  bool
	}{{401, refuse, true}, {429, refuse, true}, {500, refuse, true}, {404, `{"error":"no such page"}`, true}, {404, refuse, false}} {
		s := llmtest.NewServer(t, dialect, func(c *llm.ClientConfig) { c.Quirks.ResponsesFallback = tt.allow }, llmtest.Answer(tt.status, "application/json", tt.body))
		if r := llmtest.Ask(t.Context(), s.Model, hello()); r.Err == nil || s.Requests() != 1 {
			t.Errorf("%+v: %v after %d requests", tt, r.Err, s.Requests())
		}
	}
}

func decodeRecorded(reply *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
	return newAnswer(reply, emit, hello(), newEncoder(&llm.Info{ID: "m"}, llm.Quirks{TextToolCalls: textCallsLines, ImpliedThink: true})).decode()
}

func FuzzAnswer(f *testing.F) {
	for _, delta := range []string{
		`"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]`, `"reasoning":"hm"`,
		`"content":"hm</think>ok"`, `"content":"<function=bash><parameter=command>ls</parameter></function>"`,
		`"content":"[TOOL_CALLS]bash[ARGS]{}"`, `"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]`,
		`"tool_calls":[{"index":0,"function":{"name":"bash","arguments":"{}{\"a\":1}"}}]`, `"function_call":{"name":"bash","arguments":{"a":1}}`,
	} {
		f.Add(piece("%s", delta) + piece("%s", delta) + finish("stop") + done)
	}
	llmtest.FuzzStream(f, dialect, decodeRecorded)
}

func BenchmarkStep(b *testing.B) { llmtest.BenchmarkStep(b, dialect) }

func BenchmarkDeltas(b *testing.B) { llmtest.BenchmarkDeltas(b, dialect, decodeRecorded) }

func BenchmarkBuild(b *testing.B) {
	llmtest.BenchmarkBuild(b, Format, func() *wire.Transcript {
		return wire.NewTranscript(newEncoder(&llm.Info{ID: "m"}, llm.Quirks{Alternate: true, CallIDs: shortIDs}), tail, "")
	})
}
