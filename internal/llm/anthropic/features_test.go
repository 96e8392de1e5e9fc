package anthropic

import (
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

func TestFeatures(t *testing.T) { llmtest.RunFeatures(t, dialect, features()) }

func features() llmtest.Features {
	const (
		cited  = `{"type":"text","text":"It was found.","citations":[{"type":"web_search_result_location","url":"https://a.example","title":null,"encrypted_index":"Zz==","cited_text":"one"}]}`
		call   = `{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query": "garuda bird"}}`
		result = `{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"type":"web_search_result","url":"https://a.example","title":"A","encrypted_content":"Eqgf=="}]}`
	)
	return llmtest.Features{
		Without: map[llmtest.Feature]string{
			llmtest.ImageOutput:   "the Messages API answers in text alone",
			llmtest.ThinkingUsage: "the Messages API counts thinking as output and does not say how much it was",
		},
		Change: func(c *llm.ClientConfig) { c.Quirks.WebSearch = true },
		SearchFrames: []string{
			frame(`{"type":"message_start","message":{"id":"m","model":"x","usage":{"input_tokens":1}}}`),
			frame(`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}}}`),
			frame(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\": \"garuda bird\"}"}}`),
			frame(`{"type":"content_block_stop","index":0}`),
			frame(`{"type":"content_block_start","index":1,"content_block":%s}`, result),
			frame(`{"type":"content_block_stop","index":1}`),
			frame(`{"type":"content_block_start","index":2,"content_block":%s}`, cited),
			frame(`{"type":"content_block_stop","index":2}`),
			frame(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2,"server_tool_use":{"web_search_requests":1}}}`),
			frame(`{"type":"message_stop"}`),
		},
		SearchBack:  []string{call, result, cited},
		SearchAsked: `"name":"web_search"`,
		BoundText:   core.Block{Type: core.BlockText, Text: llmtest.Found, Provider: Format, Opaque: cited},
		BoundBack:   cited,
	}
}
