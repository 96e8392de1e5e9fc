package cli

import (
	"github.com/spf13/cobra"

	"garuda/internal/config"
)

func newSchema(f *Factory) *cobra.Command {
	settings := &cobra.Command{
		Use: "settings", Short: "Print the JSON Schema of settings.json", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = f.Out.Write(b)
			return err
		},
	}
	return subcommands("schema", "Print the schemas of Garuda's files", settings)
}
