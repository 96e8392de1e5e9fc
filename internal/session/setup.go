package session

import (
	"garuda/internal/core"
	"garuda/internal/llm"
)

// Setup is what requests are made of besides the conversation, as it was when a
// session was begun or taken up again. A replay makes the same requests of it.
type Setup struct {
	// System is the system prompt. It stands in no line: where it is given it is
	// kept as a blob, and Prompt is that blob's SHA-256 in hex.
	System string `json:"-"`
	Prompt string `json:"prompt,omitempty"`
	// Tools are the names of those in every request, in their order, Deferred of
	// those that could be loaded.
	Tools    []string `json:"tools,omitempty"`
	Deferred []string `json:"deferred,omitempty"`
	// Answer is the schema, as JSON, of the answer that the user asked for; empty for none.
	Answer string `json:"answer,omitempty"`
	// Thinking is how much the model thinks: a level, or empty for its own default.
	Thinking string `json:"thinking,omitempty"`
	// DropThinking is true where thinking of earlier turns is not sent again.
	DropThinking bool `json:"dropThinking,omitempty"`
	// MaxOutput is the output limit in tokens that was set by hand; 0 for none.
	MaxOutput int `json:"maxOutput,omitempty"`
	// Model is what was known of the model.
	Model *ModelSetup `json:"model,omitempty"`
}

// ModelSetup is what was known of a model.
type ModelSetup struct {
	llm.Info
	PriceKnown bool `json:"priceKnown,omitempty"`
}

// SetupOf is what is known of a model, as the journal has it.
func SetupOf(info *llm.Info) *ModelSetup {
	return &ModelSetup{Info: *info, PriceKnown: info.Price.Known}
}

// Known is the model's description as it was.
func (m *ModelSetup) Known() *llm.Info {
	info := m.Info
	info.Price.Known = m.PriceKnown
	return &info
}

// Failure is the error of a request as the loop acts on it. What the provider said
// stands beside it, in Unreported.Reason.
type Failure struct {
	Kind   string `json:"kind"`
	Status int    `json:"status,omitempty"`
	// RetryAfterMs is what the server asked to wait, in milliseconds.
	RetryAfterMs int64 `json:"retryAfterMs,omitempty"`
	NoRetry      bool  `json:"noRetry,omitempty"`
	Streaming    bool  `json:"streaming,omitempty"`
	// Window and MaxOutput are what the error said of the model's limits, in tokens.
	Window    int `json:"window,omitempty"`
	MaxOutput int `json:"maxOutput,omitempty"`
	// OutputLimit is true for an error about the output limit, Image for one about
	// an image. Block is the part of the request that it names.
	OutputLimit bool   `json:"outputLimit,omitempty"`
	Image       bool   `json:"image,omitempty"`
	Block       string `json:"block,omitempty"`
}

// State is what a compaction by summary keeps of the records before it, so that who
// opens the journal reads no further back. The journal fills it in.
type State struct {
	Start    *Start                  `json:"start,omitempty"`
	Totals   Totals                  `json:"totals"`
	Debits   map[string]core.ByModel `json:"debits,omitempty"`
	Told     string                  `json:"told,omitempty"`
	Thinking *string                 `json:"thinking,omitempty"`
	Tools    []string                `json:"tools,omitempty"`
	Mode     string                  `json:"mode,omitempty"`
	Prompt   string                  `json:"prompt,omitempty"`
	Denials  []DenialRecord          `json:"denials,omitempty"`
	Grants   []GrantRecord           `json:"grants,omitempty"`
	Outline  Outline                 `json:"outline"`
	Context  int                     `json:"context,omitempty"`
	Asking   bool                    `json:"asking,omitempty"`
	LastEnd  core.TurnEnd            `json:"lastEnd,omitempty"`
	// Points are the names of the undo points, the oldest first.
	Points []string `json:"points,omitempty"`
}
