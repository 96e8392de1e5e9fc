package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"garuda/internal/policy"
	"garuda/internal/tool"
)

// decided is a command whose decision is measured, and how long it may take.
type decided struct {
	name, text string
	rules      int
	bar        time.Duration
}

func decisions() []decided {
	const typical = "cd src && go test -run TestX ./... 2>&1 | tail -20"
	long := "cat <<'EOF'\n" + strings.Repeat("some text of a file that is being written\n", 1559) + "EOF\n"
	return []decided{
		{"decide a typical command", typical, 12, 50 * time.Microsecond},
		{"  one of 64 KiB", long, 12, 5 * time.Millisecond},
		{"  under 1,000 rules", typical, 1000, 200 * time.Microsecond},
	}
}

// policy measures decisions of the permission engine. The reference is the parsing
// of the same text alone, turn by turn.
func (b *bench) policy(context.Context) ([]row, error) {
	root := filepath.Join(b.dir, "home", "decided")
	if err := os.MkdirAll(filepath.Join(root, "src"), 0o755); err != nil {
		return nil, err
	}
	var rows []row
	for _, d := range decisions() {
		e, err := decider(root, d.rules)
		if err != nil {
			return nil, err
		}
		parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
		parse := func() error {
			_, err := parser.Parse(strings.NewReader(d.text), "")
			return err
		}
		request := &tool.DecisionRequest{CallID: "1", Tool: "bash", Class: tool.ClassCommand,
			Plan: &tool.Plan{Target: d.text, Preview: d.text, Effects: tool.Effects{Commands: []string{d.text}}}}
		decide := func() error {
			if o := e.Explain(request).Outcome; o != tool.Allow {
				return fmt.Errorf("%s: want it allowed, not %s", d.name, o)
			}
			return nil
		}
		mine, other, err := turns(100*b.runs, decide, parse)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{d.name, us(mine), us(d.bar), us(other) + " to parse it", mine <= d.bar})
	}
	return rows, nil
}

// decider is an engine with some rules, of which the last allows what is measured.
func decider(root string, rules int) (*policy.Engine, error) {
	src := policy.RuleSource{Source: "bench"}
	for i := range rules / 2 {
		src.Allow = append(src.Allow, policy.Rule{Text: fmt.Sprintf("bash(tool%d run *)", i)})
		src.Deny = append(src.Deny, policy.Rule{Text: fmt.Sprintf("bash(other%d *)", i)})
	}
	src.Allow = append(src.Allow, policy.Rule{Text: "bash(go test *)"})
	return policy.New(policy.Config{
		Root: root, Home: filepath.Dir(root), Attended: true, EnvNames: []string{"PATH", "HOME"},
		Tools: []policy.ToolInfo{{Name: "bash", Class: tool.ClassCommand}}, Rules: []policy.RuleSource{src},
	})
}

// turns does two things turn by turn and gives the median time of each. The first
// tenth only warms up.
func turns(n int, mine, other func() error) (a, b time.Duration, err error) {
	var as, bs []time.Duration
	for i := range n {
		start := time.Now()
		errMine := mine()
		middle := time.Now()
		errOther := other()
		end := time.Now()
		if err := errors.Join(errMine, errOther); err != nil {
			return 0, 0, err
		}
		if i >= n/10 {
			as, bs = append(as, middle.Sub(start)), append(bs, end.Sub(middle))
		}
	}
	return median(as), median(bs), nil
}
