// Package turn holds the decisions of the turn loop as pure functions: what
// comes after a response, when calls repeat, whether and when to try again, and how
// large a request is.
//
// It never waits, sends, writes or reads a clock.
package turn

import "garuda/internal/core"

// maxRecoveries is how many responses cut at the output limit a turn picks up.
const maxRecoveries = 3

// RecoveredMaxTokens is the least output limit after a response was cut.
const RecoveredMaxTokens = 32_000

// Action is what the loop does after a response.
type Action int

const (
	// RunCalls runs the response's calls and takes another step.
	RunCalls Action = iota
	// Step takes another step at once (the provider paused).
	Step
	// Recover keeps the cut response's text, asks to continue, with a higher limit.
	Recover
	// Finish ends the turn; for why, see Next's second result.
	Finish
)

// Next says what follows a response that stopped for this reason with so many
// calls, after so many recoveries in this turn.
func Next(stop core.StopReason, calls, recoveries int) (Action, core.TurnEnd) {
	switch {
	case stop == core.StopMaxTokens && recoveries < maxRecoveries:
		return Recover, ""
	case stop == core.StopMaxTokens:
		return Finish, core.EndMaxTokens
	case stop == core.StopRefusal:
		return Finish, core.EndRefusal
	case calls > 0:
		return RunCalls, ""
	case stop == core.StopPause:
		return Step, ""
	}
	return Finish, core.EndDone
}
