package lines

import (
	"garuda/internal/audit"
	"garuda/internal/core"
)

// Audit is a line of the audit log for a person: when, what was decided, about
// which call, and why.
func Audit(l *audit.Line) string {
	text := l.Timestamp + "  " + string(l.Decision)
	if l.Risk != audit.Low {
		text += " (" + string(l.Risk) + ")"
	}
	text += "  " + l.Tool
	if l.Agent != "" {
		text += " of " + l.Agent
	}
	if l.Target != "" {
		text += "  " + oneLine(l.Target)
	}
	if l.UserChoice != "" {
		text += "  [" + l.UserChoice + "]"
	}
	if l.Reason != "" {
		text += "  — " + oneLine(l.Reason)
	}
	return core.Visible(text)
}
