package responses

import (
	"testing"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

func TestFeatures(t *testing.T) {
	const (
		call    = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"garuda bird", "sources":[{"url":"a"}]}}`
		content = `"phase":"final_answer","content":[{"type":"output_text","text":"It was found.","annotations":[{"type":"url_citation","start_index":0, "end_index":2,"url":"a"}]}]`
		message = `{"type":"message","id":"msg_1","role":"assistant",` + content + `}`
	)
	llmtest.RunFeatures(t, dialect, llmtest.Features{
		Without: map[llmtest.Feature]string{
			llmtest.ImageOutput: "images are made by a tool of the provider's own, which is not offered",
		},
		Change: func(c *llm.ClientConfig) { c.Quirks.WebSearch = true },
		SearchFrames: []string{
			frame(`{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws_1","status":"in_progress"}}`),
			doneFrame("0", call), doneFrame("1", message), frame(completed),
		},
		SearchBack:  []string{call, content},
		SearchAsked: `{"type":"web_search"`,
		BoundText:   core.Block{Type: core.BlockText, Text: llmtest.Found, Provider: Format, Opaque: `{"phase":"final_answer"}`},
		BoundBack:   `"phase":"final_answer"`,
	})
}
