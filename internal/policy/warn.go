package policy

import (
	"fmt"
	"slices"
	"strings"

	"garuda/internal/tool"
)

// warn keeps what a person should know of a rule. Nothing is refused for it.
func (r *rule) warn(why string) { r.warnings = append(r.warnings, why) }

// Warnings name rules that can never match, or cover more than it looks.
func (e *Engine) Warnings() []string {
	var out []string
	for _, list := range [][]*rule{e.rules.allow, e.rules.ask, e.rules.deny} {
		for _, r := range list {
			for _, why := range r.warnings {
				out = append(out, fmt.Sprintf("%s: the %s rule %s: %s", r.source, r.kind, r.text, why))
			}
		}
	}
	return out
}

func warnBare(r *rule, class tool.Class) {
	if r.kind != allowRule {
		return
	}
	switch {
	case r.all:
		r.warn("it covers every call of every tool that no other row refuses")
	case class == tool.ClassCommand:
		r.warn("it covers every command whose words are known; write " + r.text + "(pattern)")
	case class == tool.ClassSession, class == tool.ClassRead:
		r.warn("these tools need no rule; to read a sensitive file, name it: " + r.text + "(path)")
	}
}

func warnCommand(r *rule, never string) {
	if never != "" {
		r.warn("it can never match: " + never)
		return
	}
	text := r.command.String()
	if strings.HasSuffix(text, ":*") && !strings.ContainsAny(text[:len(text)-2], "*") {
		r.warn(fmt.Sprintf("%q covers words that begin so; for any further words write %q", text, strings.TrimSuffix(text, ":*")+" *"))
	}
	if r.kind == allowRule {
		if why := r.command.Broad(); why != "" {
			r.warn("it covers more than it looks: " + why)
		}
	}
}

func (e *Engine) warnPath(r *rule, pattern string) {
	switch {
	case strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "//") &&
		(strings.HasPrefix(pattern, "/home/") || strings.HasPrefix(pattern, "/Users/") || strings.HasPrefix(pattern, "/etc/") ||
			strings.HasPrefix(pattern, e.root.given+"/")):
		r.warn("it can never match: one slash means the root of the project; write /" + pattern + " for an absolute path")
	case r.kind == allowRule && r.glob.Everything():
		r.warn("it covers more than it looks: every file of the machine")
	}
}

// warnField says when no tool of a field rule has that field.
func (e *Engine) warnField(r *rule) {
	var known []string
	for name := range r.tools {
		fields := e.tools[name].Fields
		if len(fields) == 0 || slices.Contains(fields, r.field[0]) {
			return
		}
		known = append(known, fields...)
	}
	if len(known) == 0 {
		return // a server's tool: what it takes is not known here
	}
	slices.Sort(known)
	r.warn(fmt.Sprintf("it can never match: there is no field %q; there are %s", r.field[0], strings.Join(slices.Compact(known), ", ")))
}
