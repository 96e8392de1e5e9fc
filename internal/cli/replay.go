package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/engine/replay"
	"garuda/internal/front/lines"
	"garuda/internal/wire"
)

func newReplay(f *Factory) *cobra.Command {
	o := &wire.Options{}
	asJSON := false
	cmd := &cobra.Command{
		Use: "replay REF|FILE ...", Short: "Run recorded sessions through the loop again, and compare",
		Long: "Runs sessions of this folder, or any journals, through the real loop again: answers and\n" +
			"results are those of the journal, no model is asked and no tool runs. The conversation, the\n" +
			"calls, the steps and the end of each turn must be the same, and each request byte for byte.\n" +
			"Exit 0 when they are, 1 when something went another way.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("garuda replay takes a session or a journal; see garuda sessions list")
			}
			return runReplay(cmd.Context(), f, o, args, asJSON)
		},
	}
	cmd.Flags().StringVar(&o.CWD, "cwd", "", "of this `folder` instead of the current one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// runReplay is the main command's --replay.
func (o *runOptions) runReplay(cmd *cobra.Command, f *Factory, args []string) error {
	if len(args) > 0 {
		return usagef("--replay takes no prompt: everything is in the recording")
	}
	if err := checkValues(cmd); err != nil {
		return err
	}
	return runReplay(cmd.Context(), f, &o.Options, []string{o.replay}, o.outputFormat != "text")
}

func runReplay(ctx context.Context, f *Factory, o *wire.Options, refs []string, asJSON bool) error {
	o.WithoutModel, o.InMemory = true, true
	sys, err := openSystem(ctx, f, o)
	if err != nil {
		return err
	}
	defer sys.Close()
	different := false
	for _, ref := range refs {
		report, err := sys.Replay(ctx, ref)
		if err != nil {
			return fmt.Errorf("replay %s: %w", ref, err)
		}
		different = different || report.Verdict == replay.Different
		if asJSON {
			err = printJSON(f, report)
		} else {
			err = writeReplay(f.foreign(), report)
		}
		if err != nil {
			return err
		}
	}
	if different {
		return &codeError{code: exitError, err: errSilent}
	}
	return nil
}

// writeReplay tells a person what came of a replay.
func writeReplay(w io.Writer, r *replay.Report) error {
	verdict := map[replay.Verdict]string{
		replay.Same: "as recorded", replay.Redacted: "as recorded, but for what redaction changed", replay.Different: "NOT as recorded",
	}[r.Verdict]
	fmt.Fprintf(w, "%s: %s (%s, %s, %s)\n", r.ID, verdict, lines.Count(r.Turns, "turn"), lines.Count(r.Steps, "step"), lines.Count(r.Calls, "call"))
	fmt.Fprintf(w, "requests: %d the same byte for byte, %d changed by redaction, %d not compared\n", r.Requests, r.Redacted, r.Uncompared)
	for _, d := range r.Differences {
		fmt.Fprintf(w, "%s:%d: %s differs\n", r.File, d.Line, d.What)
		if d.Recorded != "" {
			fmt.Fprintf(w, "  recorded: %s\n", d.Recorded)
		}
		if d.Replayed != "" {
			fmt.Fprintf(w, "  replayed: %s\n", d.Replayed)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", core.Visible(n))
	}
	return nil
}
