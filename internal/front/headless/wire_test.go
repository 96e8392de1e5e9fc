package headless

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/engine"
	"garuda/internal/llm"
)

// asJSON is a value as a script reads it.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestRetryLine(t *testing.T) {
	for _, tc := range []struct {
		err  *llm.Error
		want string
	}{
		{&llm.Error{Kind: llm.ErrRateLimit, Model: "p/m", Status: 429, Message: "slow down"},
			`{"attempt":1,"error":"rate_limit","error_status":429,"max_retries":3,"message":"p/m: HTTP 429: slow down","retry_delay_ms":1500,"subtype":"api_retry","type":"system"}`},
		{&llm.Error{Kind: llm.ErrOverloaded, Model: "p/m", Status: 529, Message: "x"},
			`{"attempt":1,"error":"server_error","error_status":529,"max_retries":3,"message":"p/m: HTTP 529: x","retry_delay_ms":1500,"subtype":"api_retry","type":"system"}`},
		{&llm.Error{Kind: llm.ErrNetwork, Model: "p/m", Message: "reset"},
			`{"attempt":1,"error":"unknown","error_status":null,"max_retries":3,"message":"p/m: reset","retry_delay_ms":1500,"subtype":"api_retry","type":"system"}`},
	} {
		got := asJSON(t, retryLine(engine.Retrying{Attempt: 1, Max: 3, Wait: 1500 * time.Millisecond, Err: tc.err}))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestUsageByModel(t *testing.T) {
	info := &llm.Info{Spec: "p/m", ContextWindow: 1000, MaxOutput: 100, Price: core.Price{Known: true}}
	u := core.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Thinking: 1, Searches: 5}
	models := core.ByModel{
		{Spec: "p/m", Usage: u, Cost: core.Cost{USD: 0.5, Known: true}, Requests: 2},
		{Spec: "q/n", Usage: core.Usage{Output: 9}, Requests: 1, ContextWindow: 2000, MaxOutput: 200},
	}
	line := resultLine(&engine.TurnResult{End: core.EndDone, Usage: u, Models: models}, info)
	if diff := cmp.Diff(`{"cache_creation_input_tokens":4,"cache_read_input_tokens":3,"input_tokens":1,"output_tokens":2,`+
		`"server_tool_use":{"web_fetch_requests":0,"web_search_requests":5},"thinking_tokens":1}`, asJSON(t, line["usage"])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(`{"p/m":{"cacheCreationInputTokens":4,"cacheReadInputTokens":3,"contextWindow":1000,"costUSD":0.5,"inputTokens":1,`+
		`"maxOutputTokens":100,"outputTokens":2,"webSearchRequests":5},`+
		`"q/n":{"cacheCreationInputTokens":0,"cacheReadInputTokens":0,"contextWindow":2000,"costUSD":0,"inputTokens":0,"maxOutputTokens":200,"outputTokens":9,"webSearchRequests":0}}`,
		asJSON(t, line["modelUsage"])); diff != "" {
		t.Error(diff)
	}
}

// A cost that is not all of it is never told as if it were.
func TestCostKnown(t *testing.T) {
	known := core.Cost{USD: 1, Known: true}
	used := core.ByModel{{Spec: "p/m"}}
	for _, tc := range []struct {
		name   string
		totals engine.Totals
		want   bool
	}{
		{"all of it", engine.Totals{Steps: 1, Cost: known, Models: used}, true},
		{"nothing sent", engine.Totals{Cost: core.Cost{Known: true}}, true},
		{"no price", engine.Totals{Steps: 1, Models: used}, false},
		{"not reported", engine.Totals{Steps: 1, Cost: known, Models: used, Usage: core.Usage{Unreported: 1}}, false},
	} {
		if got := costKnown(tc.totals); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// What a provider of the Messages API sent is told in that API's shape.
func TestContentBlocks(t *testing.T) {
	own := func(kind core.BlockType, text, opaque string) core.Block {
		return core.Block{Type: kind, Text: text, Provider: "anthropic", Opaque: opaque}
	}
	got := asJSON(t, contentBlocks([]core.Block{
		own(core.BlockText, "Go 1.26.", `{"type":"text","text":"Go 1.26.","citations":[]}`),
		own(core.BlockThinking, "", `{"type":"redacted_thinking","data":"x"}`),
		own(core.BlockOpaque, "", `{"type":"server_tool_use","id":"s"}`),
		own(core.BlockText, "broken", `{`),
		{Type: core.BlockOpaque, Provider: "openai", Opaque: `{"type":"reasoning"}`},
		{Type: core.BlockThinking, Text: "hm", Provider: "openai"},
	}))
	if diff := cmp.Diff(`[{"type":"text","text":"Go 1.26.","citations":[]},{"type":"redacted_thinking","data":"x"},`+
		`{"type":"server_tool_use","id":"s"},{"text":"broken","type":"text"},`+
		`{"block":{"type":"reasoning"},"provider":"openai","type":"opaque"},{"signature":"","thinking":"hm","type":"thinking"}]`, got); diff != "" {
		t.Error(diff)
	}
}

func TestCompaction(t *testing.T) {
	var out bytes.Buffer
	s := newSession(t, (&model{}).says("x"))
	r := &run{s: s, o: Options{Format: StreamJSON, Stdout: &out, Stderr: io.Discard}}
	r.show(engine.Compacted{Stage: 1, Before: 900, After: 100})
	if want := `"compact_metadata":{"post_tokens":100,"pre_tokens":900,"trigger":"auto"}`; !strings.Contains(out.String(), want) {
		t.Errorf("%s, want %s", out.String(), want)
	}
}
