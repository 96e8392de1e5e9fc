// Package session keeps conversations on disk: the journal and its records,
// redaction, the list of sessions, resume and export.
//
// It never talks to a model, runs a tool or prints; nothing is written that has
// not passed the redactor.
package session

import (
	"garuda/internal/core"
)

// Record is one line of a journal: one of the types below. On disk the
// envelope {v, seq, t, type, crc} and the record's own fields share one object.
type Record interface{ RecordType() string }

// Limits a session ran with.
type Limits struct {
	MaxSteps      int     `json:"maxSteps"`
	TokenBudget   int     `json:"tokenBudget"`
	SpendUSD      float64 `json:"spendUsd,omitempty"`
	ContextWindow int     `json:"contextWindow"`
}

// Start opens a journal.
type Start struct {
	SessionID string `json:"session"`
	Root      string `json:"root"`
	Version   string `json:"version"`
	Model     string `json:"model"`
	Executor  string `json:"executor"`
	Isolation string `json:"isolation"`
	Limits    Limits `json:"limits"`
	Setup     *Setup `json:"setup,omitempty"`
}

// Resume is written each time a session is opened again; fields as Start's. A copy
// of a session has its own id from here on.
type Resume struct {
	SessionID string `json:"session,omitempty"`
	Version   string `json:"version"`
	Model     string `json:"model"`
	Executor  string `json:"executor"`
	Isolation string `json:"isolation"`
	Limits    Limits `json:"limits"`
	Setup     *Setup `json:"setup,omitempty"`
}

// Model is a switch of model. ContextWindow and MaxOutput are as those of Limits
// and Setup, for the new one.
type Model struct {
	Model         string `json:"model"`
	ContextWindow int    `json:"contextWindow,omitempty"`
	MaxOutput     int    `json:"maxOutput,omitempty"`
	// Known is what was known of it.
	Known *ModelSetup `json:"known,omitempty"`
}

// User is a message of the user, with its notes and attachments.
type User struct {
	Message *core.Message `json:"message"`
}

// Assistant is one complete response.
type Assistant struct {
	Step          int             `json:"step"`
	Message       *core.Message   `json:"message"`
	Stop          core.StopReason `json:"stop"`
	RawStop       string          `json:"rawStop,omitempty"`
	ResponseID    string          `json:"responseId,omitempty"`
	Model         string          `json:"model,omitempty"`
	Usage         core.Usage      `json:"usage"`
	UsageReported bool            `json:"usageReported"`
	Cost          core.Cost       `json:"cost"`
	APIMs         int64           `json:"apiMs"`
	RequestHash   string          `json:"requestHash,omitempty"`
}

// CallInfo says how one call of a ToolResults record ran.
type CallInfo struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Ms        int64  `json:"ms"`
	Denied    bool   `json:"denied,omitempty"`
	Executor  string `json:"executor,omitempty"`
	Isolation string `json:"isolation,omitempty"`
	// Files are what the call changed by way of a file tool, root-relative slash
	// paths where they lie in the root.
	Files []string `json:"files,omitempty"`
	// Todos is the whole list of steps, where the call has set it; an empty one ends it.
	Todos []core.Todo `json:"todos,omitzero"`
	// Subagent is what the agent that the call started has used, and those that it
	// started itself: it takes the place of the ChildSpend records of this call.
	Subagent *Subagent `json:"subagent,omitempty"`
}

// Subagent is the report of a call that started an agent.
type Subagent struct {
	Models core.ByModel `json:"models"`
}

// ToolResults is the user message that answers an assistant's calls; behind the
// results may stand notes of what happened meanwhile. Synthetic
// ones were made by Garuda to close calls that never ran.
type ToolResults struct {
	Message   *core.Message `json:"message"`
	Calls     []CallInfo    `json:"calls"`
	Synthetic bool          `json:"synthetic,omitempty"`
}

// Intent is written and flushed before a call that changes something runs.
type Intent struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Target string `json:"target"`
}

// Continue records that a response cut at the output limit was asked to go on.
type Continue struct {
	Message   *core.Message `json:"message"`
	MaxTokens int           `json:"maxTokens"`
}

// Unreported counts tokens reserved for a request whose usage never came, and
// what they would cost at most. Model is the spec of the model that was asked;
// empty means the session's at that time. PriceUnknown says that USD is not what
// it costs, as nobody knows the model's price.
type Unreported struct {
	Tokens int     `json:"tokens"`
	USD    float64 `json:"usd,omitempty"`
	Reason string  `json:"reason"`
	Model  string  `json:"model,omitempty"`
	// Failure is how the request failed; nil where it was answered without usage,
	// or given up.
	Failure *Failure `json:"failure,omitempty"`

	PriceUnknown bool `json:"priceUnknown,omitempty"`
}

// ChildSpend is what one request of a subagent used, written as soon as it is
// known: a program that is killed before the agent reports still knows it. Call is
// the call of this journal's own agent that started the agent, or the one above it.
// Tokens are all that count against a budget.
type ChildSpend struct {
	Call   string `json:"call"`
	Tokens int    `json:"tokens"`
	core.ModelUsage
}

// SideUsage is what a request outside the conversation used. Purpose is what it was
// for: a summary, a title, the prompt of web_fetch.
type SideUsage struct {
	Purpose string `json:"purpose"`
	core.ModelUsage
	// Text is what the model answered and Stop why it stopped there; Failure is how
	// the request failed instead, and RequestHash as that of an Assistant.
	Text        string          `json:"text,omitempty"`
	Stop        core.StopReason `json:"stop,omitempty"`
	Failure     *Failure        `json:"failure,omitempty"`
	RequestHash string          `json:"requestHash,omitempty"`
}

// Compaction records that the conversation was made smaller. At stage 1, where old
// results or refused images gave way to notes and no model was asked, each of Messages
// stands from here on where another message stood. At StageSummary, where a model has
// summed up what was old, Messages are the whole conversation from here on, so that
// nothing before this record is needed to go on. Before and After are estimates of
// the request in tokens. Cost is what the summary cost; the records of its requests
// count it.
type Compaction struct {
	Stage    int       `json:"stage"`
	Reason   string    `json:"reason"`
	Before   int       `json:"before"`
	After    int       `json:"after"`
	Messages []Placed  `json:"messages"`
	Cost     core.Cost `json:"cost"`
	// State is filled in by the journal at StageSummary.
	State *State `json:"state,omitempty"`
}

// StageSummary is the stage of a Compaction whose Messages are the whole conversation.
const StageSummary = 2

// Placed is a message at its place in the conversation, counted from 0.
type Placed struct {
	At      int           `json:"at"`
	Message *core.Message `json:"message"`
}

// Thinking is a choice of how much the model thinks: off, low, medium, high,
// xhigh, max, or empty for the model's own default.
type Thinking struct {
	Choice string `json:"choice"`
}

// Tools says that deferred tools were loaded: they stand at the end of the tool
// list from the next request on, in this order. Why is ToolsSearched.
type Tools struct {
	Added []string `json:"added"`
	Why   string   `json:"why"`
}

// ToolsSearched is why tools are added that tool_search has loaded.
const ToolsSearched = "search"

// Mode is a change of mode.
type Mode struct {
	Mode string `json:"mode"`
	By   string `json:"by"`
}

// Note is something the next user message will tell the model.
type Note struct {
	Text string `json:"text"`
	Kind string `json:"kind"`
}

// GrantRecord and DenialRecord keep a person's answers.
type GrantRecord struct {
	CallID string `json:"call"`
	Tool   string `json:"tool"`
	Rule   string `json:"rule,omitempty"`
	Choice string `json:"choice"`
}

// DenialRecord keeps what was denied, so that nothing forgets it.
type DenialRecord struct {
	CallID string `json:"call"`
	Tool   string `json:"tool"`
	Target string `json:"target"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Title names the session.
type Title struct {
	Title string `json:"title"`
}

// End closes a turn.
type End struct {
	StopReason core.TurnEnd `json:"stopReason"`
	Steps      int          `json:"steps"`
	Error      string       `json:"error,omitempty"`
	// Totals is filled in by the journal.
	Totals *Totals `json:"totals,omitempty"`
}

// Totals sums a session up, so that a list of sessions reads only where a
// journal begins and where it ends.
type Totals struct {
	Turns int        `json:"turns"`
	Steps int        `json:"steps"`
	Usage core.Usage `json:"usage"`
	Cost  core.Cost  `json:"cost"`
	// UnreportedUSD is what the unreported tokens of Usage cost at most.
	UnreportedUSD float64 `json:"unreportedUsd,omitempty"`
	// Models are the sums by model.
	Models core.ByModel `json:"models,omitempty"`
	// Model is the one in use.
	Model string `json:"model"`
	Title string `json:"title,omitempty"`
}

func (*Start) RecordType() string        { return "start" }
func (*Resume) RecordType() string       { return "resume" }
func (*Model) RecordType() string        { return "model" }
func (*User) RecordType() string         { return "user" }
func (*Assistant) RecordType() string    { return "assistant" }
func (*ToolResults) RecordType() string  { return "tool_results" }
func (*Intent) RecordType() string       { return "intent" }
func (*Continue) RecordType() string     { return "continue" }
func (*Unreported) RecordType() string   { return "unreported" }
func (*ChildSpend) RecordType() string   { return "child_spend" }
func (*SideUsage) RecordType() string    { return "side_usage" }
func (*Compaction) RecordType() string   { return "compaction" }
func (*Thinking) RecordType() string     { return "thinking" }
func (*Tools) RecordType() string        { return "tools" }
func (*Mode) RecordType() string         { return "mode" }
func (*Note) RecordType() string         { return "note" }
func (*GrantRecord) RecordType() string  { return "grant" }
func (*DenialRecord) RecordType() string { return "denial" }
func (*Title) RecordType() string        { return "title" }
func (*End) RecordType() string          { return "end" }

// newRecord makes an empty record of a type; nil for a type nobody knows.
func newRecord(kind string) Record {
	switch kind {
	case "start":
		return new(Start)
	case "resume":
		return new(Resume)
	case "model":
		return new(Model)
	case "user":
		return new(User)
	case "assistant":
		return new(Assistant)
	case "tool_results":
		return new(ToolResults)
	case "intent":
		return new(Intent)
	case "continue":
		return new(Continue)
	case "unreported":
		return new(Unreported)
	case "child_spend":
		return new(ChildSpend)
	case "side_usage":
		return new(SideUsage)
	case "compaction":
		return new(Compaction)
	case "thinking":
		return new(Thinking)
	case "tools":
		return new(Tools)
	case "mode":
		return new(Mode)
	case "note":
		return new(Note)
	case "grant":
		return new(GrantRecord)
	case "denial":
		return new(DenialRecord)
	case "title":
		return new(Title)
	case "end":
		return new(End)
	default:
		return newUndoRecord(kind)
	}
}
