package anthropic

import (
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

func BenchmarkDeltas(b *testing.B) { llmtest.BenchmarkDeltas(b, dialect, decode) }

func BenchmarkBuild(b *testing.B) {
	llmtest.BenchmarkBuild(b, Format, func() *wire.Transcript {
		return wire.NewTranscript(&encoder{info: &llm.Info{ID: "m"}}, tail, cacheMark)
	})
}
