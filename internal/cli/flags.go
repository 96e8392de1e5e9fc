package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"garuda/internal/wire"
)

// systemFlags are the flags that decide how the system is built, with the same
// meaning wherever they appear.
func systemFlags(fs *pflag.FlagSet, o *wire.Options) {
	fs.StringVar(&o.CWD, "cwd", "", "work in this `folder` instead of the current one")
	fs.StringVar(&o.SettingsFile, "settings", "", "read this settings `file` too, after the user's")
	fs.Var((*list)(&o.Allow), "allow", "allow calls that match this `rule`, such as \"bash(go test *)\"")
	fs.Var((*list)(&o.Ask), "ask", "ask about calls that match this `rule`")
	fs.Var((*list)(&o.Deny), "deny", "deny calls that match this `rule`")
	fs.StringVar(&o.Executor, "executor", "", "how commands run: auto, os or host")
	fs.StringVar(&o.Mode, "mode", "", "permission mode: build, plan or accept_edits")
	fs.BoolVar(&o.Yolo, "yolo", false, "do not ask; deny rules, the guard and protected files still hold")
	fs.Var((*list)(&o.AddDirs), "add-dir", "a further `folder` whose files may be used")
}

// list is a flag that may be given several times. pflag's own lists write their
// default through a CSV encoder of 4 KiB each, at every start.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }
func (l *list) Type() string       { return "string" }

// commaList is a list whose values may also stand together, between commas.
type commaList []string

func (l *commaList) String() string     { return strings.Join(*l, ",") }
func (l *commaList) Set(v string) error { *l = append(*l, strings.Split(v, ",")...); return nil }
func (l *commaList) Type() string       { return "string" }

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

func checkThink(level string) error {
	if level == "" {
		return nil
	}
	return oneOf("--think", level, "off", "low", "medium", "high", "xhigh", "max")
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
