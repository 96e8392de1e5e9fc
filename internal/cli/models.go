package cli

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/wire"
)

func newModels(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true, WithoutFolder: true}
	var asJSON, all bool
	cmd := &cobra.Command{
		Use: "models [WORD ...]", Short: "List the models that can be used",
		Long: "Lists the models that can be used now, or those of them with all the words in their names.\n" +
			"The one marked with * is taken when none is named. Limits are in tokens, prices in US dollars\n" +
			"for a million tokens.",
		RunE: func(cmd *cobra.Command, words []string) error {
			sys, err := openSystem(cmd.Context(), f, o)
			if err != nil {
				return err
			}
			defer sys.Close()
			models := sys.Models(cmd.Context(), all)
			none := len(models) == 0
			models = slices.DeleteFunc(models, func(m wire.ModelRow) bool {
				return slices.ContainsFunc(words, func(w string) bool { return !m.Matches(w) })
			})
			switch {
			case none:
				fmt.Fprintln(f.Err, "garuda: no model can be used: no key is set and no local server answers; run `garuda setup` to choose a provider")
			case len(models) == 0:
				fmt.Fprintln(f.Err, "garuda: no model has that in its name; `garuda models --all` lists those too that lack a key")
			}
			if asJSON {
				return printJSON(f, models)
			}
			if len(models) == 0 {
				return nil // a heading alone says nothing
			}
			return printModels(f, models, all)
		},
	}
	cmd.Flags().StringVar(&o.SettingsFile, "settings", "", "read this settings `file` too, after the user's")
	cmd.Flags().BoolVar(&all, "all", false, "list those too that cannot be used now, with why")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printModels(f *Factory, models []wire.ModelRow, all bool) error {
	w := tabwriter.NewWriter(f.Out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "MODEL\tWINDOW\tOUTPUT\tIN/OUT\tCACHE READ/WRITE\tTHINKS\tIMAGES\tKEY")
	if all {
		fmt.Fprint(w, "\tPROBLEM")
	}
	fmt.Fprintln(w)
	for _, m := range models {
		mark := ""
		if m.Chosen {
			mark = " *"
		}
		fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", core.Visible(m.Spec), mark, m.WindowInWords(), m.OutputInWords(), m.PriceInWords(),
			m.CachePriceInWords(), m.ThinkingInWords(), m.VisionInWords(), m.KeyInWords())
		if all {
			fmt.Fprint(w, "\t"+core.Visible(m.Problem))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
