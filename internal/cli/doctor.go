package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/wire"
)

func newDoctor(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true}
	var asJSON, attack bool
	cmd := &cobra.Command{
		Use: "doctor", Short: "Say what is set up, where each value came from, and what does not work", Args: noArgs,
		Long: "Says what is set up, where each value came from, and what does not work. With --attack it tries\n" +
			"instead what hostile commands try, in the sandbox of this machine and on decoys that it makes and\n" +
			"removes, and says what held. The exit code is 1 when something does not work or did not hold.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkSystemFlags(o); err != nil {
				return err
			}
			if err := checkThink(o.Think); err != nil {
				return err
			}
			o.Version = f.Version
			if attack {
				return attackSandbox(cmd.Context(), f, o, asJSON)
			}
			checks := wire.Doctor(cmd.Context(), o)
			failed := false
			for _, c := range checks {
				failed = failed || c.State == wire.CheckFailed
			}
			if asJSON {
				if err := printJSON(f, checks); err != nil {
					return err
				}
			} else {
				for _, c := range checks {
					fmt.Fprintf(f.Out, "%-7s %s: %s\n", c.State, c.What, core.Visible(c.Text))
				}
			}
			if failed {
				return &codeError{code: exitError, err: errSilent}
			}
			return nil
		},
	}
	systemFlags(cmd.Flags(), o)
	cmd.Flags().StringVarP(&o.Model, "model", "m", "", "check this `model`")
	cmd.Flags().StringVar(&o.SubagentModel, "subagent-model", "", "check this `model` for subagents")
	cmd.Flags().StringVar(&o.Think, "think", "", "say what this `level` of thinking comes to with the model")
	cmd.Flags().BoolVar(&attack, "attack", false, "try what hostile commands try against the sandbox, on decoys")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
