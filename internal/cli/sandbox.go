package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/wire"
)

// exitNoSandbox is the code of `sandbox run` where the command could not be run.
const exitNoSandbox = 125

func newSandbox(f *Factory) *cobra.Command {
	return subcommands("sandbox", "Say what commands may do in the sandbox, or run one in it", newSandboxExplain(f), newSandboxRun(f))
}

func newSandboxExplain(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "explain", Short: "Say what a command in the sandbox may read, write and reach", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sys, err := openSystem(cmd.Context(), f, o)
			if err != nil {
				return err
			}
			defer sys.Close()
			c, err := sys.Confinement(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(f, c)
			}
			return explainSandbox(f.Out, c)
		},
	}
	systemFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func explainSandbox(out io.Writer, c *wire.Confinement) error {
	fmt.Fprintf(out, "Commands run in the sandbox %s. What is not named here does not exist for them.\n", c.Backend)
	for _, w := range c.Weaknesses {
		fmt.Fprintln(out, core.Visible(w))
	}
	for _, b := range c.Better {
		fmt.Fprintln(out, core.Visible(b))
	}
	for _, part := range []struct{ access, title string }{
		{"write", "They may write"}, {"read", "They may read"},
		{"locked", "They may read, but not change or make"}, {"hidden", "They find empty"},
	} {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		titled := false
		for _, l := range c.Places {
			if l.Access != part.access {
				continue
			}
			if !titled {
				fmt.Fprintf(out, "\n%s:\n", part.title)
				titled = true
			}
			where := l.Path
			if l.Host != "" {
				where += " (" + l.Host + ")"
			}
			fmt.Fprintf(w, "  %s\t%s\n", core.Visible(where), core.Visible(l.Why))
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "\nThey may reach %s.\n", core.Visible(c.Network))
	fmt.Fprintf(out, "Their environment has %s.\n", core.Visible(strings.Join(slices.Sorted(slices.Values(c.Env)), ", ")))
	fmt.Fprintln(out, "Bounds: "+boundsInWords(c)+".")
	for _, l := range c.Left {
		fmt.Fprintf(out, "Left out: %s: %s\n", core.Visible(l.Path), core.Visible(l.Why))
	}
	return nil
}

func boundsInWords(c *wire.Confinement) string {
	var parts []string
	if n := c.Limits.Processes; n > 0 {
		parts = append(parts, fmt.Sprintf("%d processes", n))
	}
	if n := c.Limits.MemoryMB; n > 0 {
		parts = append(parts, fmt.Sprintf("%d MiB of memory", n))
	}
	if n := c.Limits.FileMB; n > 0 {
		parts = append(parts, fmt.Sprintf("files of %d MiB", n))
	}
	if len(parts) == 0 {
		return "none of our own"
	}
	return strings.Join(parts, ", ")
}

func newSandboxRun(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true}
	cmd := &cobra.Command{
		Use:   "run -- COMMAND [ARGUMENT ...]",
		Short: "Run a command of yours in the sandbox",
		Long: "Runs a command as commands of the model run: with what it may read, write and reach, its\n" +
			"environment and its bounds. Nothing is asked and nothing is decided. Input and output pass\n" +
			"through. It never runs without a sandbox.\n\n" +
			"The exit code is the command's, 128 and the signal's number where one ended it, or 125 where\n" +
			"it could not be run.",
		Example: "  garuda sandbox run -- go test ./...\n  garuda sandbox run -- bash -c 'ls ~'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("sandbox run takes a command: garuda sandbox run -- COMMAND [ARGUMENT ...]")
			}
			return runSandboxed(cmd.Context(), f, o, args)
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the command's name is the command's
	systemFlags(cmd.Flags(), o)
	return cmd
}

func runSandboxed(ctx context.Context, f *Factory, o *wire.Options, argv []string) error {
	signals := watchSignals(ctx)
	defer signals.end()
	sys, err := openSystem(signals.ctx, f, o)
	if err != nil {
		return signals.explain(err)
	}
	defer sys.Close()
	signals.killing(sys.Kill)
	signals.running()
	code, err := sys.RunSandboxed(signals.ctx, argv, f.In, f.Out, f.Err)
	switch {
	case err != nil:
		return &codeError{code: exitNoSandbox, err: err}
	case code != 0:
		return &codeError{code: code, err: errSilent}
	}
	return nil
}
