// Package llm is the border between Garuda and language models: what a request
// is, what arrives while it is answered, what a whole answer is, and how a
// failure is typed. The wire formats live in its subpackages.
//
// It never decides whether to send, retry or give up: that is engine's. It
// never reads files or the environment: keys and addresses are handed to it.
package llm

import (
	"context"
	"encoding/json"

	"garuda/internal/core"
)

// Model is one model behind one provider.
type Model interface {
	// Info describes the model; it never changes.
	Info() *Info
	// Stream sends one request and calls emit, from the calling goroutine, for
	// each event as it arrives. It ends in one complete response or one error:
	// an *Error, or ctx's own error when the caller gave up. Nothing
	// half-received is ever returned as a response. It makes exactly one
	// attempt; retries are the engine's.
	//
	// A Model remembers the encoding of the messages it has sent, so that a
	// request which continues the last one costs only its new messages. One
	// call at a time.
	Stream(ctx context.Context, req *Request, emit func(Event)) (*Response, error)
}

// Info is what is known of a model.
type Info struct {
	// Spec is provider/model as the user names it; ID is the provider's own name.
	Spec     string `json:"spec,omitzero"`
	Provider string `json:"provider,omitzero"`
	ID       string `json:"id,omitzero"`
	// Format is the wire format: anthropic, chat, responses, gemini, script.
	Format string `json:"format,omitzero"`
	// ContextWindow and MaxOutput are in tokens. Known is false when the window
	// is Garuda's assumption (32,768), and the user is told.
	ContextWindow int        `json:"contextWindow,omitzero"`
	MaxOutput     int        `json:"maxOutput,omitzero"`
	Known         bool       `json:"known,omitzero"`
	Price         core.Price `json:"price,omitzero"`
	// Thinks is true for a model that can think before it answers; that it is false
	// says something only where ThinksKnown is true.
	Thinks      bool `json:"thinks,omitzero"`
	ThinksKnown bool `json:"thinksKnown,omitzero"`
	// Efforts are the levels of thinking that the provider takes for this model,
	// lowest first, in its own words; empty when it has none or nobody knows.
	Efforts []string `json:"efforts,omitzero"`
	// Vision is true for a model that sees images; it says something only where
	// VisionKnown is true.
	Vision      bool `json:"vision,omitzero"`
	VisionKnown bool `json:"visionKnown,omitzero"`
	// Local is true for a server on this machine: its first byte may take long.
	Local bool `json:"local,omitzero"`
	// WindowSetting says in words how a local server's context is made larger, such
	// as "start llama-server with a larger --ctx-size"; empty where nobody knows.
	WindowSetting string `json:"windowSetting,omitzero"`
	// KeySource says where the key came from: an environment variable's name,
	// "credentials", "keychain", or "none".
	KeySource string `json:"-"`
	// Quirks are how its server differs from the plain protocol; a client was told
	// of them when it was made.
	Quirks Quirks `json:"quirks,omitzero"`
}

// Request is one model request. System and Tools are built once a session and
// stay byte-identical; Messages only grows, and its elements never change.
type Request struct {
	System   string
	Tools    []ToolSpec
	Messages []*core.Message
	// MaxTokens is the output limit in tokens.
	MaxTokens int
	Thinking  ThinkingLevel
	// SessionID serves as the prompt cache key where the provider has one.
	SessionID string
	// ServerTools are tools that the provider itself runs, by Garuda's names
	// ("web_search"); a format leaves out those its provider does not have.
	ServerTools []string
}

// ToolSpec is what a model is told about a tool.
type ToolSpec struct {
	Name, Description string
	// Schema is the input's JSON Schema: a compact object, byte-stable.
	Schema json.RawMessage
	// FreeText, where it is set, lets a format that has such tools (Responses)
	// take the input as plain text; everywhere else Schema counts.
	FreeText *FreeText
}

// FreeText says that a tool's input is one text. In the conversation the input
// is the same in every format: a JSON object with this one field.
type FreeText struct {
	Field string
	// Syntax is "lark" or "regex", and Definition its grammar; both empty for any text.
	Syntax, Definition string
}

// ThinkingLevel is how much a model should think; empty leaves it to the model.
type ThinkingLevel string

const (
	ThinkDefault ThinkingLevel = ""
	ThinkOff     ThinkingLevel = "off"
	ThinkLow     ThinkingLevel = "low"
	ThinkMedium  ThinkingLevel = "medium"
	ThinkHigh    ThinkingLevel = "high"
	ThinkXHigh   ThinkingLevel = "xhigh"
	ThinkMax     ThinkingLevel = "max"
)

// Event is something that happened while a response arrived: one of the types below.
type Event interface{ llmEvent() }

// TextDelta is a piece of visible text, cut at rune borders.
type TextDelta struct{ Text string }

// ThinkingDelta is a piece of thinking, cut at rune borders.
type ThinkingDelta struct{ Text string }

// ToolCallStarted names a call before its arguments are complete.
type ToolCallStarted struct{ ID, Name string }

// ServerTool is a tool that the provider runs: begun, and Done with its result in
// a few words.
type ServerTool struct {
	ID, Name, Input string
	Done            bool
	Result          string
	IsError         bool
}

// Notice is something the user should know about how the request went, such as
// an endpoint that was switched.
type Notice struct{ Text string }

func (TextDelta) llmEvent()       {}
func (ThinkingDelta) llmEvent()   {}
func (ToolCallStarted) llmEvent() {}
func (ServerTool) llmEvent()      {}
func (Notice) llmEvent()          {}

// Response is one complete answer.
type Response struct {
	// ID and Model are as the provider gave them; either may be empty.
	ID, Model string
	Message   *core.Message
	Stop      core.StopReason
	// RawStop is the provider's own word for Stop.
	RawStop string
	Usage   core.Usage
	// UsageReported is false when the provider reported none; Usage is then zero.
	UsageReported bool
	// BilledUSD is what the provider says this answer cost, in US dollars; 0 where
	// it does not say. OpenRouter does, whose prices vary by route.
	BilledUSD float64
	// PriceFactor is what every token's price is multiplied by for this answer,
	// such as 0.5 for one of a batch; 0 means 1.
	PriceFactor float64
	// RequestHash is the hex SHA-256 of what was sent, cache marks aside.
	RequestHash string
	// RequestBytes is the size of the body that was sent.
	RequestBytes int
}

// Cost is what the answer costs: what the provider says, or else its usage at
// this price.
func (r *Response) Cost(p core.Price) core.Cost {
	if r.BilledUSD > 0 {
		return core.Cost{Known: true, USD: r.BilledUSD}
	}
	if f := r.PriceFactor; f > 0 {
		p.Input, p.Output, p.CacheRead, p.CacheWrite = f*p.Input, f*p.Output, f*p.CacheRead, f*p.CacheWrite
	}
	return p.Cost(r.Usage)
}
