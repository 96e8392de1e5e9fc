package llm

import (
	"errors"
	"time"

	"garuda/internal/core"
)

// ClientConfig is what every wire format's New takes.
type ClientConfig struct {
	Info *Info
	// BaseURL ends before /chat/completions, /responses, /v1/messages, /v1beta/models.
	BaseURL string
	// Key is the API key, or empty for a server that wants none.
	Key string
	// Headers are added to each request; they never replace the key's header.
	Headers map[string]string
	Limits  TimeLimits
	// Quirks of this provider and model; the zero value is the plain protocol.
	Quirks Quirks
	Clock  core.Clock
	// Unsent, when set, is told the hash of each request in place of a server, to
	// which nothing is ever sent; Stream's error is then ErrUnsent.
	Unsent func(requestHash string)
}

// ErrUnsent is the error of a client that only says what it would have sent.
var ErrUnsent = errors.New("the request was made and not sent")

// TimeLimits bound one attempt. Zero fields mean the defaults of page 01:
// connect 10 s; first byte 2 minutes (20 for local and thinking models); idle 2
// minutes without a byte, 20 when the model thinks.
type TimeLimits struct {
	Connect, FirstByte, Idle time.Duration
}

// Quirks is where a server that speaks a known protocol differs from it. The
// zero value is the plain protocol, as compatible servers mostly speak it. The
// table of who has which is package provider's.
type Quirks struct {
	// MaxTokensField is the request field for the output limit; empty means the
	// format's own (max_tokens for compatible servers, max_completion_tokens for OpenAI).
	MaxTokensField string `json:"maxTokensField,omitzero"`
	// TextToolCalls says how text that is a tool call is read: "" or "whole"
	// (the whole reply is calls), "lines", "off".
	TextToolCalls string `json:"textToolCalls,omitzero"`
	// NoStreamUsage leaves stream_options out for servers that refuse it.
	NoStreamUsage bool `json:"noStreamUsage,omitzero"`
	// ResponsesFallback allows the switch from /chat/completions to /responses
	// when the endpoint refuses the former for this model.
	ResponsesFallback bool `json:"responsesFallback,omitzero"`

	// ThinkingField says how the provider is told how much to think.
	ThinkingField ThinkingField `json:"thinkingField,omitzero"`
	// Efforts are the words that stand in for [Info].Efforts where nobody knows
	// the model's own: lowest first, joined by commas. Empty means low,medium,high.
	Efforts string `json:"efforts,omitzero"`
	// ThinkOffWord is the effort that turns thinking off where Efforts has none
	// for it; ThinksAlways says that nothing does, and the lowest level is sent.
	ThinkOffWord string `json:"thinkOffWord,omitzero"`
	ThinksAlways bool   `json:"thinksAlways,omitzero"`
	// Playback says how thinking goes back to the server.
	Playback Playback `json:"playback,omitzero"`
	// PlaybackAlways sends reasoning_content, if only an empty one, with every
	// message of the assistant's: the server refuses a conversation without it.
	PlaybackAlways bool `json:"playbackAlways,omitzero"`
	// ImpliedThink is for templates that open <think> themselves, so that an
	// answer begins inside it.
	ImpliedThink bool `json:"impliedThink,omitzero"`

	// SystemRole is the role of the system prompt; empty means "system". "user"
	// is for templates without one.
	SystemRole string `json:"systemRole,omitzero"`
	// Alternate is for servers that want user and assistant by turns, and the
	// assistant between a tool's result and the user: a short message is put in.
	Alternate bool `json:"alternate,omitzero"`
	// EmptyContent is what stands for the content of a message that only calls
	// tools: "" or "null", "string" (""), "absent".
	EmptyContent string `json:"emptyContent,omitzero"`
	// CallIDs are the ids that the server takes: "" for what all others take,
	// "short" for nine letters and digits, "own" for its own unchanged.
	CallIDs string `json:"callIDs,omitzero"`
	// ParallelCalls is sent as parallel_tool_calls: "on", "off", or "" for not at all.
	ParallelCalls string `json:"parallelCalls,omitzero"`

	// CacheKey sends the session's id as prompt_cache_key.
	CacheKey bool `json:"cacheKey,omitzero"`
	// CacheControl marks the ends of what should be cached, as Anthropic does.
	CacheControl bool `json:"cacheControl,omitzero"`
	// CustomTools says that tools may take free text as input.
	CustomTools bool `json:"customTools,omitzero"`
	// WebSearch says that the provider itself can search the web.
	WebSearch bool `json:"webSearch,omitzero"`
}

// ThinkingField is how a request says how much to think.
type ThinkingField string

// The ways in use; see Quirks.
const (
	ThinkByEffort    ThinkingField = ""                     // "reasoning_effort": word
	ThinkByReasoning ThinkingField = "reasoning"            // "reasoning": {"effort": word}
	ThinkByType      ThinkingField = "thinking"             // "thinking": {"type": enabled or disabled}, and reasoning_effort where words are known
	ThinkByTemplate  ThinkingField = "chat_template_kwargs" // {"enable_thinking": …, "reasoning_effort": word}
	ThinkByEnable    ThinkingField = "enable_thinking"      // true or false
	ThinkUntold      ThinkingField = "none"                 // the server refuses all of them
)

// Playback is how thinking goes back.
type Playback string

// The ways in use; see Quirks.
const (
	// PlaybackAsCame returns reasoning_content and reasoning_details to a server
	// that sent them; what came as reasoning or between tags stays out.
	PlaybackAsCame  Playback = ""
	PlaybackField   Playback = "field"   // in the field in which it came, "reasoning" too
	PlaybackContent Playback = "content" // Mistral: a part of the content
	PlaybackTags    Playback = "tags"    // <think> at the content's start
	PlaybackNever   Playback = "never"   // the server refuses it
)
