package provider

import (
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/chat"
	"garuda/internal/llm/gemini"
	"garuda/internal/llm/responses"
)

// batchSuffix is behind a format's name where its client sends batches.
const batchSuffix = "-batch"

// Clients returns the constructors of the wire formats that Garuda speaks, by
// llm.Info.Format; behind the name with "-batch" that of a client which answers
// later and for less. Clouds have constructors of their own.
func Clients() map[string]Constructor {
	return map[string]Constructor{"anthropic": anthropic.New, "anthropic" + batchSuffix: anthropic.NewBatch, "chat": chat.New, "responses": responses.New, "gemini": gemini.New}
}
