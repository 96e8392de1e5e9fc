package engine

import (
	"encoding/json"
	"time"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/tool"
)

// Event is something that happened in a session: one of the types below.
type Event interface{ engineEvent() }

// TurnStarted begins a turn with the user's message as the model gets it.
type TurnStarted struct{ Message *core.Message }

// TextDelta is more of the block of text that is being written, ThinkingDelta
// the same for thinking. A slow surface gets fewer and larger ones.
type (
	TextDelta     struct{ Text string }
	ThinkingDelta struct{ Text string }
)

// BlockEnd closes the open text or thinking. Discarded is true when the request
// failed and what was shown is not part of the conversation.
type BlockEnd struct{ Thinking, Discarded bool }

// ToolStarted names a call before its arguments are complete.
type ToolStarted struct{ ID, Name string }

// ToolReady is a call whose plan is made, about to be decided. Label says it in
// a few words.
type ToolReady struct{ ID, Name, Input, Target, Label string }

// ToolProgress is a line about a running call.
type ToolProgress struct{ ID, Text string }

// ToolOutput is more of what a running command printed. Skipped counts bytes
// that a slow surface missed before Data.
type ToolOutput struct {
	ID      string
	Stderr  bool
	Skipped int64
	Data    []byte
}

// ToolEnded is a call's result.
type ToolEnded struct{ Result *tool.CallResult }

// Results are the messages' worth of a step's tool results, in call order; notes
// may follow them.
type Results struct{ Message *core.Message }

// Answered is one complete response.
type Answered struct {
	Step     int
	Response *llm.Response
	Cost     core.Cost
}

// Steered are messages of the user that came while the turn ran, and that the model
// gets with its next step.
type Steered struct{ Prompts []Prompt }

// ServerTool is a tool that the provider runs: begun, and Done with its result.
type ServerTool llm.ServerTool

// Retrying says that a request failed for the Attempt-th time and is sent again
// after Wait, at the time Until. RetryEnded follows when the wait is over,
// whatever ended it.
type Retrying struct {
	Attempt, Max int
	Wait         time.Duration
	Until        time.Time
	// Reason is why in a few words ("rate limit"); Err has the whole of it.
	Reason string
	Err    *llm.Error
}

// RetryEnded says that the wait of a Retrying is over. Sent is false when it was
// cut off, by a person or the turn's time limit, and nothing is sent again.
type RetryEnded struct {
	Attempt int
	Sent    bool
}

// Compacted says that the conversation was made smaller; a Notice before it says
// so to a person. Stage is 1 where old results, or images that were refused, gave
// way to notes, and 2 where a summary took the place of what was old; Reason is
// "user" where a person asked for that. Before and After are estimates of the request in tokens, Changed
// counts the blocks that gave way.
type Compacted struct {
	Stage         int
	Reason        string
	Before, After int
	Changed       int
}

// Notice is one line for the person. It may come at any time, in the middle of
// text too.
type Notice struct{ Text string }

// BudgetWarning says once that 80 % of a limit are spent.
type BudgetWarning struct{ Text string }

// StepEnded closes a step, with the sums of the turn so far.
type StepEnded struct {
	Step  int
	Usage core.Usage
	Cost  core.Cost
}

// Asked puts a question; Session.Answer answers it by ID. Withdrawn takes it back.
type (
	Asked struct {
		ID       int
		Question *tool.Question
	}
	Withdrawn struct{ ID int }
)

// AsideEnded says that what Session.Compact or Session.Shell began is over, and what
// the model requests that it made have used. Err is how it failed, Stopped that a
// person stopped it.
type AsideEnded struct {
	Err     error
	Stopped bool
	Usage   core.Usage
	Cost    core.Cost
	// JournalErr is set when the session could not be written to disk.
	JournalErr error
}

// TurnEnded is the last event of a turn.
type TurnEnded struct{ Result *TurnResult }

// TurnResult is how a turn ended.
type TurnResult struct {
	End core.TurnEnd
	// Err is why, where End is error or timeout.
	Err error
	// RawStop is the last response's own word for why it stopped.
	RawStop string
	// Text is the last response's visible text.
	Text string
	// Answer is what the model gave to Config.AnswerTool; nil where nothing fitted.
	Answer json.RawMessage
	Steps  int
	Usage  core.Usage
	Cost   core.Cost
	// Models are Usage and Cost by model.
	Models   core.ByModel
	APITime  time.Duration
	Duration time.Duration
	Denials  []Denial
	// Unsent are messages of the user that came too late for the turn.
	Unsent []Prompt
	// JournalErr is set when the session could not be written to disk.
	JournalErr error
	// Session holds the sums of the whole session.
	Session Totals
}

// Totals are sums over a session.
type Totals struct {
	Usage core.Usage
	Cost  core.Cost
	// UnreportedUSD is what Usage.Unreported costs at most; no part of Cost.
	UnreportedUSD float64
	// Models are the same by model, in the order of their first use. The list is
	// never changed once it was given out.
	Models core.ByModel
	Turns  int
	Steps  int
}

// ModelUsage is one model's part of Totals or of a TurnResult.
type ModelUsage = core.ModelUsage

// Denial is one refused call.
type Denial struct {
	Tool, CallID string
	Input        string
	Reason       string
}

func (TurnStarted) engineEvent()   {}
func (TextDelta) engineEvent()     {}
func (ThinkingDelta) engineEvent() {}
func (BlockEnd) engineEvent()      {}
func (ToolStarted) engineEvent()   {}
func (ToolReady) engineEvent()     {}
func (ToolProgress) engineEvent()  {}
func (ToolOutput) engineEvent()    {}
func (ToolEnded) engineEvent()     {}
func (Results) engineEvent()       {}
func (Answered) engineEvent()      {}
func (ServerTool) engineEvent()    {}
func (Steered) engineEvent()       {}
func (Retrying) engineEvent()      {}
func (RetryEnded) engineEvent()    {}
func (Compacted) engineEvent()     {}
func (Notice) engineEvent()        {}
func (BudgetWarning) engineEvent() {}
func (StepEnded) engineEvent()     {}
func (Asked) engineEvent()         {}
func (Withdrawn) engineEvent()     {}
func (AsideEnded) engineEvent()    {}
func (TurnEnded) engineEvent()     {}
