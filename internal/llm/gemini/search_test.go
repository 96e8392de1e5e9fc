package gemini

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

// TestSearchTool is offered where the model can have it, and its calls are asked
// for where functions stand beside it.
func TestSearchTool(t *testing.T) {
	const tool, flag = `{"googleSearch":{}}`, `"toolConfig":{"includeServerSideToolInvocations":true}`
	for _, tc := range []struct {
		id         string
		functions  bool
		tool, flag bool
	}{
		{"gemini-3-pro", true, true, true}, {"gemini-3-pro", false, true, false},
		{"gemini-2.5-pro", true, false, false}, {"gemini-2.5-pro", false, true, false},
		{"gemma-4", true, false, false}, {"gemma-4", false, false, false},
	} {
		s := server(t, tc.id, plain()...)
		req := hello()
		if !tc.functions {
			req.Tools = nil
		}
		llmtest.MustAsk(t, s.Model, req)
		req.ServerTools = []string{"other", webSearch}
		llmtest.MustAsk(t, s.Model, req)
		if body := s.Body(0); strings.Contains(body, tool) || strings.Contains(body, flag) {
			t.Errorf("nobody asked for it: %s", body)
		}
		if body := s.Body(1); strings.Contains(body, tool) != tc.tool || strings.Contains(body, flag) != tc.flag {
			t.Errorf("%s, functions %v: %s", tc.id, tc.functions, body)
		}
	}
}

func serverTools(r llmtest.Result) []llm.ServerTool {
	var out []llm.ServerTool
	for _, e := range r.Events {
		if e, ok := e.(llm.ServerTool); ok {
			out = append(out, e)
		}
	}
	return out
}

// TestSearchCalls: calls of the provider's tools and what they gave go back as they
// came; the grounding is kept and never sent.
func TestSearchCalls(t *testing.T) {
	const (
		call      = `{"toolCall":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["go 1.26", "release"]}},"thoughtSignature":"cw=="}`
		reply     = `{"toolResponse":{"id":"s1","toolType":"GOOGLE_SEARCH_WEB","response":{"search_suggestions":"<div>"}},"thoughtSignature":"ew=="}`
		grounding = `{"webSearchQueries":["release", "third"],"groundingChunks":[{"web":{"uri":"u","title":"go.dev"}}]}`
	)
	s := server(t, "gemini-3-pro", event("", call), event("", reply), event(`,"groundingMetadata":`+grounding, `{"text":"It is out."}`), last("STOP", core.Usage{Input: 5, Output: 2}))
	r := llmtest.MustAsk(t, s.Model, hello())
	want := []llm.ServerTool{
		{ID: "s1", Name: "web_search", Input: "go 1.26; release"},
		{ID: "s1", Name: "web_search", Done: true, Result: "the model has its results"},
	}
	if d := cmp.Diff(want, serverTools(r)); d != "" {
		t.Error(d)
	}
	if r.Resp.Usage.Searches != 3 || r.Resp.Message.PlainText() != "It is out." {
		t.Errorf("%+v", r.Resp)
	}
	if b := r.Resp.Message.Blocks[3]; b.Opaque != `{"groundingMetadata":`+grounding+`}` || b.Provider != Format || b.Type != core.BlockOpaque {
		t.Errorf("%+v", b)
	}
	if sent := again(t, s, r); !strings.HasPrefix(sent, `{"role":"model","parts":[`+call+","+reply+`,{"text":"It is out."}]},`) {
		t.Errorf("sent %s", sent)
	}
}

// TestGroundingAlone is all that a model before the third generation tells.
func TestGroundingAlone(t *testing.T) {
	frames := []string{
		event(`,"groundingMetadata":{}`, `{"text":"It is "}`),
		llmtest.Data(`{"candidates":[{"content":{"parts":[{"text":"out."}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["a","b"],"groundingChunks":[{"web":{"title":"go.dev"}},{"web":{"title":"go.dev"}},{"web":{"title":"x.org"}}]}}],"usageMetadata":{"promptTokenCount":1}}`),
	}
	for id, searches := range map[string]int{"gemini-2.5-flash": 1, "gemini-3-flash-preview": 2} {
		r := llmtest.MustAsk(t, server(t, id, frames...).Model, hello())
		tools := serverTools(r)
		if len(tools) != 2 || tools[0].ID == "" || tools[0].ID != tools[1].ID || tools[0].Input != "a; b" || !tools[1].Done || tools[1].Result != "3 sources: go.dev, x.org" {
			t.Errorf("%+v", tools)
		}
		if r.Resp.Usage.Searches != searches || len(r.Resp.Message.Blocks) != 2 {
			t.Errorf("%s: %+v", id, r.Resp)
		}
	}
	r := llmtest.MustAsk(t, server(t, "gemini-2.5-flash", event(`,"groundingMetadata":{}`, `{"text":"no search"}`), last("STOP", core.Usage{})).Model, hello())
	if len(serverTools(r)) != 0 || r.Resp.Usage.Searches != 0 || len(r.Resp.Message.Blocks) != 1 {
		t.Errorf("%+v", r.Resp)
	}
}
