package compact

import (
	"slices"

	"garuda/internal/core"
)

// Kept is where the part of a conversation begins that no summary touches: with the
// fourth-newest answer. It is 0 where nothing before it is worth a summary, as it holds
// no answer at all.
func Kept(msgs []*core.Message) int {
	at, steps := len(msgs), 0
	for i := len(msgs) - 1; i >= 0 && steps < keptSteps; i-- {
		if msgs[i].Role == core.RoleAssistant {
			at, steps = i, steps+1
		}
	}
	isAnswer := func(m *core.Message) bool { return m.Role == core.RoleAssistant }
	if steps < keptSteps || !slices.ContainsFunc(msgs[:at], isAnswer) {
		return 0
	}
	return at
}

// newest is the place of the newest message of a person before a place; -1 for none.
func newest(msgs []*core.Message, before int) int {
	for i := before - 1; i >= 0; i-- {
		if speaks(msgs[i]) && saysSomething(msgs[i]) {
			return i
		}
	}
	return -1
}

// saysSomething reports whether a message holds more than notes of Garuda's.
func saysSomething(m *core.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b core.Block) bool { return b.Note == "" })
}
