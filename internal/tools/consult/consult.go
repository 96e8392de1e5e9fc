// Package consult holds the tools with which a model turns to the person in front
// of the session: ask, enter_plan_mode and exit_plan_mode.
//
// It never decides what a person's answer changes: a session does, behind
// tool.Consult, and this package has no way to make a permission mode looser. It
// talks to no terminal.
package consult

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/tool"
)

// New makes the tools. They are of use only where somebody answers.
func New() []tool.Tool { return []tool.Tool{ask{}, enterPlanMode{}, exitPlanMode{}} }

var errNobody = errors.New("nobody can be asked here; decide it yourself, and state in your answer what you assumed")

// atMost is the error of a text that is longer than it may be.
func atMost(field, text string, limit int) error {
	if n := utf8.RuneCountInString(text); n > limit {
		return fmt.Errorf("%s is %d characters long, at most %d are shown; make it shorter", field, n, limit)
	}
	return nil
}

// visible shows what the model wrote as what it is, and reports whether that
// differs.
func visible(text string) (shown string, hid bool) {
	shown = core.Visible(text)
	return shown, shown != text
}

const hiddenWarning = "It holds characters that do not show, or that change how others show. They stand here as signs or as [U+…]."

// inOneLine joins a text's lines and words with single blanks.
func inOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// words are what a person wrote, within the limit: a surface that takes more does
// not fill the conversation with it. Its lines are indented so that they stay
// theirs.
func words(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > tool.AnswerLimit {
		text = string(runes[:tool.AnswerLimit]) + fmt.Sprintf(" [cut: it was %d characters long]", len(runes))
	}
	return strings.ReplaceAll(text, "\n", "\n   ")
}
