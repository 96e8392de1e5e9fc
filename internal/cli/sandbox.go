package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"garuda/internal/wire"
)

// exitNoSandbox is the code of `sandbox run` where the command could not be run.
const exitNoSandbox = 125

func newSandbox(f *Factory) *cobra.Command {
	return subcommands("sandbox", "Say what commands may do in the sandbox, or run one in it", newSandboxExplain(f), newSandboxRun(f))
}

func newSandboxExplain(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true}
	var asJSON, all bool
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
			if all {
				return explainWhole(f.Out, c)
			}
			return explainShort(f.Out, c)
		},
	}
	systemFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&all, "all", false, "name every place, and why it is there")
	return cmd
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
