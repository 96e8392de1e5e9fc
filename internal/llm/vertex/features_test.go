package vertex

import (
	"slices"
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
)

func TestFeatures(t *testing.T) {
	d := dialect
	d.Refusals = slices.Concat(refusals, []llmtest.Refusal{
		{Name: "gateway", Status: 413, Body: "<html><title>413 Request Entity Too Large</title></html>", Kind: llm.ErrTooLarge},
		{Name: "day", Status: 429, Body: refused("429", "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."), Kind: llm.ErrQuota},
		{Name: "internal", Status: 500, Body: refused("500", "INTERNAL", "Internal error encountered."), Kind: llm.ErrServer},
	})
	llmtest.RunFeatures(t, d, llmtest.Features{Without: map[llmtest.Feature]string{
		llmtest.ImageOutput:   "the Messages API answers in text alone",
		llmtest.ServerSearch:  "package anthropic decodes the answers and tests this",
		llmtest.BoundText:     "package anthropic encodes the blocks and tests this",
		llmtest.ThinkingUsage: "the Messages API does not say how much of its output was thinking",
	}})
}
