package provider

import (
	"garuda/internal/llm/anthropic"
	"garuda/internal/llm/chat"
	"garuda/internal/llm/gemini"
	"garuda/internal/llm/responses"
)

// Clients returns the constructors of the wire formats that Garuda speaks, by
// llm.Info.Format.
func Clients() map[string]Constructor {
	return map[string]Constructor{"anthropic": anthropic.New, "chat": chat.New, "responses": responses.New, "gemini": gemini.New}
}
