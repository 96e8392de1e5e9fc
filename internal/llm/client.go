package llm

import (
	"time"

	"garuda/internal/core"
)

// ClientConfig is what every wire format's New takes.
type ClientConfig struct {
	Info *Info
	// BaseURL ends before /chat/completions, /responses, /v1/messages.
	BaseURL string
	// Key is the API key, or empty for a server that wants none.
	Key string
	// Headers are added to each request; they never replace the key's header.
	Headers map[string]string
	Limits  TimeLimits
	// Quirks of this provider and model; the zero value is the plain protocol.
	Quirks Quirks
	Clock  core.Clock
}

// TimeLimits bound one attempt. Zero fields mean the defaults of page 01:
// connect 10 s; first byte 2 minutes (20 for local and thinking models); idle 2
// minutes without a byte, 20 when the model thinks.
type TimeLimits struct {
	Connect, FirstByte, Idle time.Duration
}

// Quirks is where a server that speaks a known protocol differs from it.
type Quirks struct {
	// MaxTokensField is the request field for the output limit; empty means the
	// format's own (max_tokens for compatible servers, max_completion_tokens for OpenAI).
	MaxTokensField string
	// TextToolCalls says how text that is a tool call is read: "" or "whole"
	// (the whole reply is calls), "lines", "off".
	TextToolCalls string
	// NoStreamUsage leaves stream_options out for servers that refuse it.
	NoStreamUsage bool
	// ResponsesFallback allows the switch from /chat/completions to /responses
	// when the endpoint refuses the former for this model.
	ResponsesFallback bool
}
