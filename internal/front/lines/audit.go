package lines

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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

// AuditReport is what a check of the audit log found, a line each.
func AuditReport(report *audit.Report, folder string) []string {
	var out []string
	for _, text := range report.Broken {
		out = append(out, "broken: "+core.Visible(text))
	}
	for _, text := range report.Notes {
		out = append(out, "note: "+core.Visible(text))
	}
	return append(out, fmt.Sprintf("%s in %s below %s", Count(report.Lines, "line"), Count(report.Files, "log"), core.Visible(folder)))
}

// AuditStats are the sums of an audit log, a line each.
func AuditStats(s *audit.Stats) []string {
	out := []string{fmt.Sprintf("%s in %s: %d allowed, %d denied, %d failed",
		Count(s.Lines, "line"), Count(s.Files, "log"), s.Allowed, s.Denied, s.Failed)}
	if s.Lines == 0 {
		return out
	}
	out = append(out, "from "+s.First+" to "+s.Last)
	out = append(out, counts("decisions", s.Decisions)...)
	out = append(out, counts("tools", s.Tools)...)
	return append(out, counts("risks", s.Risks)...)
}

// counts has the largest first.
func counts[K ~string](what string, of map[K]int) []string {
	if len(of) == 0 {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(of), func(a, b K) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	out := []string{what + ":"}
	for _, k := range keys {
		out = append(out, fmt.Sprintf("  %6d  %s", of[k], core.Visible(string(k))))
	}
	return out
}
