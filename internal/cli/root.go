package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"garuda/internal/nearest"
	"garuda/internal/wire"
)

// runOptions are the flags of the main command: a chat, or one headless run.
type runOptions struct {
	wire.Options
	print, partial, verbose, showVersion bool
	plan, cont, fork                     bool
	resume, replay                       string
	outputFormat, inputFormat            string
	answerSchema                         string
	timeout                              time.Duration
	prompt                               string
}

func newRoot(f *Factory) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "garuda [prompt]",
		Short: "A coding agent in the terminal",
		Long: "Garuda gives a language model tools to read, search, change, run and check a project,\n" +
			"with a permission engine in between.\n\n" +
			"Without a command it opens a chat in the current folder. `garuda demo` shows it at work\n" +
			"without a key or a network; `garuda doctor` says what is set up.",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.showVersion {
				fmt.Fprintln(f.Out, "garuda "+f.Version)
				return nil
			}
			if cmd.Flags().Changed("replay") {
				return o.runReplay(cmd, f, args)
			}
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			if o.print {
				return runHeadless(cmd.Context(), f, o)
			}
			return runChat(cmd.Context(), f, o)
		},
	}
	cmd.SetFlagErrorFunc(flagError)
	cmd.CompletionOptions.HiddenDefaultCmd = false
	mainFlags(cmd, o)
	cmd.AddCommand(
		newVersion(f), newDemo(f), newTools(f), newPermissions(f), newSessions(f), newReplay(f), newAudit(f),
		newModels(f), newSetup(f), newDoctor(f), newSandbox(f), newSchema(f),
	)
	return cmd
}

func mainFlags(cmd *cobra.Command, o *runOptions) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVarP(&o.print, "print", "p", false, "one turn without a terminal; the prompt may also come from standard input")
	fs.StringVarP(&o.Model, "model", "m", "", "the `model` to use, as provider/model")
	fs.StringVar(&o.SubagentModel, "subagent-model", "", "the `model` of subagents; it is checked, but this version starts none yet")
	fs.BoolVar(&o.plan, "plan", false, "begin in plan mode: look, but change nothing")
	fs.BoolVarP(&o.cont, "continue", "c", false, "go on with the newest session of this folder")
	fs.StringVarP(&o.resume, "resume", "r", "", "go on with a session: its `id`, the beginning of it, or its title")
	fs.Lookup("resume").NoOptDefVal = newestSession
	fs.StringVar(&o.replay, "replay", "", "run a recorded `session` or journal through the loop again, as garuda replay does")
	fs.BoolVar(&o.fork, "fork", false, "with -c or -r: go on in a copy of the session")
	systemFlags(fs, &o.Options)
	fs.Var((*commaList)(&o.Tools), "tools", "offer exactly these `tools`, by name")
	fs.IntVar(&o.MaxTurns, "max-turns", 0, "stop after so many steps (model requests)")
	fs.Float64Var(&o.MaxSpendUSD, "max-spend-usd", 0, "stop before the session costs more than so many US `dollars`")
	fs.DurationVar(&o.timeout, "timeout", 0, "stop the turn after this `time`, such as 90s or 10m")
	fs.StringVar(&o.Think, "think", "", "how much the model thinks, its `level`: off, low, medium, high, xhigh or max")
	fs.BoolVar(&o.NoInstructions, "no-instructions", false, "leave AGENTS.md and the like out")
	fs.BoolVar(&o.NoUndo, "no-undo", false, "keep no snapshots of the files, so that no turn can be taken back")
	fs.BoolVar(&o.NoMemory, "no-memory", false, "leave what was remembered of the project out")
	fs.StringVar(&o.outputFormat, "output-format", "text", "of -p: text, json or stream-json")
	fs.StringVar(&o.inputFormat, "input-format", "text", "of -p: text or stream-json")
	fs.StringVar(&o.answerSchema, "json-schema", "", "of -p: the answer must fit this JSON Schema, given here or in a `file`")
	fs.BoolVar(&o.partial, "include-partial-messages", false, "with stream-json: show deltas as stream_event lines")
	fs.BoolVar(&o.verbose, "verbose", false, "show calls and sums on standard error in the json formats too")
	fs.BoolVar(&o.showVersion, "version", false, "print the version")
}

// newestSession is the value of --resume without one; it can be said too.
const newestSession = "newest"

func (o *runOptions) complete(cmd *cobra.Command, args []string) error {
	if err := checkSystemFlags(&o.Options); err != nil {
		return err
	}
	if err := checkValues(cmd); err != nil {
		return err
	}
	if err := o.checkNumbers(cmd); err != nil {
		return err
	}
	if err := oneOf("--output-format", o.outputFormat, "text", "json", "stream-json"); err != nil {
		return err
	}
	if err := oneOf("--input-format", o.inputFormat, "text", "stream-json"); err != nil {
		return err
	}
	if err := checkThink(o.Think); err != nil {
		return err
	}
	if o.plan {
		if o.Mode != "" && o.Mode != "plan" {
			return usagef("--plan and --mode %s contradict each other; give one", o.Mode)
		}
		o.Mode = "plan"
	}
	if !o.print {
		if err := o.chatOnly(cmd); err != nil {
			return err
		}
	}
	if o.answerSchema != "" {
		schema, err := readAnswerSchema(o.answerSchema)
		if err != nil {
			return err
		}
		o.AnswerSchema = schema
	}
	if o.cont && o.resume != "" {
		return usagef("--continue and --resume contradict each other; give one")
	}
	if o.fork && !o.cont && o.resume == "" {
		return usagef("--fork copies a session: say which with --continue or --resume")
	}
	o.prompt = strings.Join(args, " ")
	return o.mistypedCommand(cmd, args)
}

// checkNumbers refuses limits that limit nothing.
func (o *runOptions) checkNumbers(cmd *cobra.Command) error {
	for name, ok := range map[string]bool{
		"max-turns": o.MaxTurns > 0, "max-spend-usd": o.MaxSpendUSD > 0, "timeout": o.timeout > 0,
	} {
		if cmd.Flags().Changed(name) && !ok {
			return usagef("--%s must be more than 0", name)
		}
	}
	return nil
}

// chatOnly refuses flags that mean something only with -p.
func (o *runOptions) chatOnly(cmd *cobra.Command) error {
	for _, name := range []string{"output-format", "input-format", "include-partial-messages", "json-schema", "timeout"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s goes with -p", name)
		}
	}
	return nil
}

// mistypedCommand tells a mistyped command from a prompt of one word.
func (o *runOptions) mistypedCommand(cmd *cobra.Command, args []string) error {
	if o.print || len(args) != 1 || strings.ContainsAny(args[0], " \t\n") {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	if near := nearest.Of(args[0], names); near != "" {
		return usagef("unknown command %q; did you mean %q? To send the word as a prompt use: garuda -p %s", args[0], near, args[0])
	}
	return nil
}

func newVersion(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(f.Out, "garuda "+f.Version)
			return err
		},
	}
}

// noArgs refuses arguments as a usage error.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("garuda %s takes no arguments, got %q", cmd.Name(), args[0])
	}
	return nil
}

// subcommands makes a command that is only a group of others.
func subcommands(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	cmd.AddCommand(children...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("garuda %s needs a command: %s", cmd.Name(), strings.Join(childNames(cmd), ", "))
		}
		if near := nearest.Of(args[0], childNames(cmd)); near != "" {
			return usagef("unknown command %q; did you mean %q?", cmd.Name()+" "+args[0], cmd.Name()+" "+near)
		}
		return usagef("unknown command %q; there are %s", cmd.Name()+" "+args[0], strings.Join(childNames(cmd), ", "))
	}
	cmd.Args = cobra.ArbitraryArgs
	return cmd
}

func childNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return names
}
