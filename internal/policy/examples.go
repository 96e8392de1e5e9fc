package policy

import (
	"fmt"
	"strings"

	"garuda/internal/policy/shellscan"
)

// checkExamples holds a rule against the examples written beside it.
func (e *Engine) checkExamples(r *rule, in Rule) error {
	for _, example := range in.Match {
		if !e.example(r, example) {
			return fmt.Errorf("it does not match its example %q", example)
		}
	}
	for _, example := range in.NotMatch {
		if e.example(r, example) {
			return fmt.Errorf("it matches %q, which its examples say it must not", example)
		}
	}
	return nil
}

// example tells whether a rule covers, or for deny and ask touches, a command, a
// path or a host. Of a command an allow rule must cover every part.
func (e *Engine) example(r *rule, text string) bool {
	switch {
	case r.command != nil:
		script := shellscan.Scan(text, e.context(memo{}))
		any, all := false, len(script.Commands) > 0
		for _, c := range script.Commands {
			if r.kind != allowRule {
				any = any || r.command.Hits(c, e.cfg.FoldCase)
			} else if c.Via == nil {
				all = all && r.command.Covers(c)
			}
		}
		if r.kind != allowRule {
			return any
		}
		return all && script.Unreadable == ""
	case r.glob != nil:
		path := text
		if !strings.HasPrefix(path, "/") {
			path = e.root.given + "/" + path
		}
		t := e.target(memo{}, path, path)
		return r.glob.matches(t.spellings[0], r.kind != allowRule)
	case r.host != nil:
		return r.host.matches(text)
	}
	return r.forTool(text)
}
