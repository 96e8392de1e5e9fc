package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"garuda/internal/wire"
)

func newModels(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true, WithoutFolder: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use: "models", Short: "List the models that can be used", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sys, err := openSystem(cmd.Context(), f, o)
			if err != nil {
				return err
			}
			defer sys.Close()
			models := sys.Models(cmd.Context())
			if asJSON {
				return printJSON(f, models)
			}
			if len(models) == 0 {
				fmt.Fprintln(f.Err, "garuda: no model can be used: no key is set and no local server answers; see garuda setup")
			}
			w := tabwriter.NewWriter(f.Out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "MODEL\tWINDOW\tUSD IN/OUT PER MILLION\tKEY")
			for _, m := range models {
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", m.Spec, m.ContextWindow, m.PriceInWords(), m.KeyInWords())
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&o.SettingsFile, "settings", "", "read this settings `file` too, after the user's")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
