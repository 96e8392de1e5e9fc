package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"garuda/internal/attack"
	"garuda/internal/core"
	"garuda/internal/wire"
)

// attackReport is what `doctor --attack --json` prints.
type attackReport struct {
	Sandbox    string        `json:"sandbox"`
	Weaknesses []string      `json:"weaknesses,omitempty"`
	Cases      []attackState `json:"cases"`
}

// attackState is one case of it.
type attackState struct {
	State string `json:"state"`
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Tries string `json:"tries"`
	Why   string `json:"why,omitempty"`
}

// attackSandbox tries the attack cases, which takes about a minute, and says what held.
func attackSandbox(ctx context.Context, f *Factory, o *wire.Options, asJSON bool) error {
	signals := watchSignals(ctx)
	defer signals.end()
	o.WithoutFolder = true // the decoys are the only project
	sys, err := openSystem(signals.ctx, f, o)
	if err != nil {
		return signals.explain(err)
	}
	defer sys.Close()
	signals.running()
	report := attackReport{}
	cases := len(attack.Cases())
	state, err := sys.Attack(signals.ctx, func(r attack.Result) {
		report.Cases = append(report.Cases, attackState{string(r.State), r.Case.ID, string(r.Case.Kind), r.Case.Tries, r.Why})
		if n := len(report.Cases); !asJSON && n%25 == 0 {
			fmt.Fprintf(f.Err, "garuda: %d of %d attacks tried\n", n, cases)
		}
	})
	if err != nil {
		return signals.explain(err)
	}
	report.Sandbox, report.Weaknesses = state.Backend, state.Weaknesses
	if asJSON {
		err = printJSON(f, report)
	} else {
		err = printAttacks(f.Out, &report)
	}
	if err == nil && slices.ContainsFunc(report.Cases, func(c attackState) bool { return c.State == string(attack.NotHeld) }) {
		return &codeError{code: exitError, err: errSilent}
	}
	return err
}

// printAttacks groups the cases by kind, in their own order, and sums up.
func printAttacks(out io.Writer, r *attackReport) error {
	of := map[string]attackState{}
	sums := map[string]int{}
	for _, c := range r.Cases {
		of[c.ID] = c
		sums[c.State]++
	}
	fmt.Fprintf(out, "Commands were run in the sandbox %s, on decoys. Each tried one thing.\n", r.Sandbox)
	for _, w := range r.Weaknesses {
		fmt.Fprintln(out, core.Visible(w))
	}
	for _, kind := range attack.Kinds() {
		titled := false
		for _, all := range attack.Cases() {
			c, tried := of[all.ID]
			if !tried || all.Kind != kind {
				continue
			}
			if !titled {
				fmt.Fprintf(out, "\n%s\n", kind)
				titled = true
			}
			text := c.Tries + " (" + c.ID + ")"
			if c.Why != "" {
				text += ": " + c.Why
			}
			state := c.State
			if kind == attack.Work {
				state = map[string]string{string(attack.Held): "works", string(attack.NotHeld): "BROKEN"}[state]
			}
			if state == "" {
				state = c.State
			}
			fmt.Fprintf(out, "  %-9s %s\n", state, core.Visible(text))
		}
	}
	_, err := fmt.Fprintf(out, "\n%d held, %d did not, %d could not be tried.\n",
		sums[string(attack.Held)], sums[string(attack.NotHeld)], sums[string(attack.Untried)])
	return err
}
