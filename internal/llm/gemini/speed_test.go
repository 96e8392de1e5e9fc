package gemini

import (
	"testing"

	"garuda/internal/llm"
	"garuda/internal/llm/llmtest"
	"garuda/internal/llm/wire"
)

func BenchmarkDeltas(b *testing.B) {
	llmtest.BenchmarkDeltas(b, dialect, func(r *wire.Reply, emit func(llm.Event)) (*llm.Response, error) {
		return decode(r, familyOf("gemini-3-pro"), emit)
	})
}

func BenchmarkBuild(b *testing.B) {
	llmtest.BenchmarkBuild(b, Format, func() *wire.Transcript {
		return wire.NewTranscript(&encoder{info: &llm.Info{ID: "m"}, family: familyOf("gemini-3-pro")}, tail, "")
	})
}
