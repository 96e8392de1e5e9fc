package policy

import (
	"fmt"
	"strings"

	"garuda/internal/tool"
)

// warn keeps what a person should know of a rule. Nothing is refused for it.
func (e *Engine) warn(r *rule, why string) {
	e.warnings = append(e.warnings, fmt.Sprintf("%s: the %s rule %s: %s", r.source, r.kind, r.text, why))
}

func (e *Engine) warnBare(r *rule, class tool.Class) {
	if r.kind != allowRule {
		return
	}
	switch {
	case r.all:
		e.warn(r, "it covers every call of every tool that no other row refuses")
	case class == tool.ClassCommand:
		e.warn(r, "it covers every command whose words are known; write "+r.text+"(pattern)")
	case class == tool.ClassSession, class == tool.ClassRead:
		e.warn(r, "these tools need no rule; to read a sensitive file, name it: "+r.text+"(path)")
	}
}

func (e *Engine) warnCommand(r *rule, never string) {
	if never != "" {
		e.warn(r, "it can never match: "+never)
		return
	}
	text := r.command.String()
	if strings.HasSuffix(text, ":*") && !strings.ContainsAny(text[:len(text)-2], "*") {
		e.warn(r, fmt.Sprintf("%q covers words that begin so; for any further words write %q", text, strings.TrimSuffix(text, ":*")+" *"))
	}
	if r.kind == allowRule {
		if why := r.command.Broad(); why != "" {
			e.warn(r, "it covers more than it looks: "+why)
		}
	}
}

func (e *Engine) warnPath(r *rule, pattern string) {
	switch {
	case strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "//") &&
		(strings.HasPrefix(pattern, "/home/") || strings.HasPrefix(pattern, "/Users/") || strings.HasPrefix(pattern, "/etc/") ||
			strings.HasPrefix(pattern, e.root.given+"/")):
		e.warn(r, "it can never match: one slash means the root of the project; write /"+pattern+" for an absolute path")
	case r.kind == allowRule && r.glob.Everything():
		e.warn(r, "it covers more than it looks: every file of the machine")
	}
}
