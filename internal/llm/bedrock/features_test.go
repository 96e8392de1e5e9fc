package bedrock

import (
	"slices"
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

func TestFeatures(t *testing.T) {
	d := dialect
	d.Refusals = slices.Concat(refusals, []llmtest.Refusal{
		{Name: "gateway", Status: 413, Body: `{"message":"Request Entity Too Large"}`, Kind: llm.ErrTooLarge},
	})
	llmtest.RunFeatures(t, d, llmtest.Features{Without: map[llmtest.Feature]string{
		llmtest.ImageOutput:   "the Messages API answers in text alone",
		llmtest.ServerSearch:  "Bedrock runs no tools of its own",
		llmtest.BoundText:     "package anthropic encodes the blocks and tests this",
		llmtest.ThinkingUsage: "the Messages API does not say how much of its output was thinking",
	}})
}
