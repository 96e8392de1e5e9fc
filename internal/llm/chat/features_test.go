package chat

import (
	"testing"

	"garuda/internal/llm/llmtest"
)

func TestFeatures(t *testing.T) {
	llmtest.RunFeatures(t, dialect, llmtest.Features{Without: map[llmtest.Feature]string{
		llmtest.ImageOutput:  "no server that is known answers a coding agent's request with an image in this format",
		llmtest.ServerSearch: "the format has no tools of the provider's own",
		llmtest.BoundText:    "nothing binds bytes to a text here",
	}})
}
