package core

// StopReason is why a model's response ended, in provider-neutral words.
type StopReason string

const (
	StopEndTurn   StopReason = "end_turn"
	StopToolUse   StopReason = "tool_use"
	StopMaxTokens StopReason = "max_tokens"
	StopRefusal   StopReason = "refusal"
	StopPause     StopReason = "pause_turn"
	StopSequence  StopReason = "stop_sequence"
	StopOther     StopReason = "other"
)

// TurnEnd is why a turn ended.
type TurnEnd string

const (
	EndDone          TurnEnd = "done"
	EndMaxSteps      TurnEnd = "max_steps"
	EndTokenBudget   TurnEnd = "token_budget"
	EndSpend         TurnEnd = "spend"
	EndRepeatedCalls TurnEnd = "repeated_calls"
	// EndNoAnswer: the model gave no answer that fits the schema (--json-schema).
	EndNoAnswer    TurnEnd = "schema_retries"
	EndMaxTokens   TurnEnd = "max_tokens"
	EndRefusal     TurnEnd = "refusal"
	EndTimeout     TurnEnd = "timeout"
	EndInterrupted TurnEnd = "interrupted"
	EndError       TurnEnd = "error"
)
