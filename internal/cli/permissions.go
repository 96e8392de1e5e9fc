package cli

import (
	"context"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/front/lines"
	"garuda/internal/wire"
)

func newPermissions(f *Factory) *cobra.Command {
	return subcommands("permissions", "Show the rules, and explain decisions", newPermissionsList(f), newPermissionsExplain(f))
}

func newPermissionsList(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true, RunsNothing: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Show the rules with their sources", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sys, err := openSystem(cmd.Context(), f, o)
			if err != nil {
				return err
			}
			defer sys.Close()
			if asJSON {
				return printJSON(f, sys.Rules())
			}
			printLines(f.Out, lines.Rules(sys.RuleLines()))
			return nil
		},
	}
	systemFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newPermissionsExplain(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true, Attended: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain TOOL JSON",
		Short: "Say what would be decided about a call and why, running nothing",
		Example: `  garuda permissions explain bash '{"command":"git status && rm -rf build"}'` + "\n" +
			`  garuda permissions explain write_file '{"path":"a.txt","content":"x"}' --mode plan`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("permissions explain takes a tool's name and its input as JSON, got %d words", len(args))
			}
			return explain(cmd.Context(), f, o, args[0], args[1], asJSON)
		},
	}
	systemFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func explain(ctx context.Context, f *Factory, o *wire.Options, name, input string, asJSON bool) error {
	sys, err := openSystem(ctx, f, o)
	if err != nil {
		return err
	}
	defer sys.Close()
	if _, ok := sys.Registry().Lookup(name); !ok {
		return unknownTool(name, sys)
	}
	d, err := sys.Explain(ctx, core.Block{Type: core.BlockToolUse, ID: "explain", Name: name, Input: input})
	if err != nil {
		return &codeError{code: exitError, err: err}
	}
	if asJSON {
		return printJSON(f, d)
	}
	printLines(f.Out, lines.Decision(d))
	return nil
}
