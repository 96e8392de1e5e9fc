package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"garuda/internal/wire"
)

// systemFlags are the flags that decide how the system is built, with the same
// meaning wherever they appear.
func systemFlags(fs *pflag.FlagSet, o *wire.Options) {
	fs.StringVar(&o.CWD, "cwd", "", "work in this `folder` instead of the current one")
	fs.StringVar(&o.SettingsFile, "settings", "", "read this settings `file` too, after the user's")
	fs.StringArrayVar(&o.Allow, "allow", nil, "allow calls that match this `rule`, such as \"bash(go test *)\"")
	fs.StringArrayVar(&o.Ask, "ask", nil, "ask about calls that match this `rule`")
	fs.StringArrayVar(&o.Deny, "deny", nil, "deny calls that match this `rule`")
	fs.StringVar(&o.Executor, "executor", "", "how commands run: auto, os or host")
	fs.StringVar(&o.Mode, "mode", "", "permission mode: build, plan or accept_edits")
	fs.BoolVar(&o.Yolo, "yolo", false, "do not ask; deny rules, the guard and protected files still hold")
	fs.StringArrayVar(&o.AddDirs, "add-dir", nil, "a further `folder` whose files may be used")
}

func checkSystemFlags(o *wire.Options) error {
	if o.Mode != "" {
		if err := oneOf("--mode", o.Mode, "build", "plan", "accept_edits"); err != nil {
			return err
		}
	}
	if o.Executor != "" {
		return oneOf("--executor", o.Executor, "auto", "os", "host")
	}
	return nil
}

// checkValues refuses an empty value, which is mostly a variable of the shell that
// is not set: taken as if the flag were missing, it would do something else than
// was meant.
func checkValues(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = usagef("--%s has an empty value; leave it out or give one", f.Name)
		}
	})
	return err
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) { names = append(names, "--"+f.Name) }
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}
