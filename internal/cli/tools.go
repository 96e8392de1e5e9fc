package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/nearest"
	"garuda/internal/tool"
	"garuda/internal/tool/toolset"
	"garuda/internal/wire"
)

func newTools(f *Factory) *cobra.Command {
	// The list is that of a chat, where a person answers.
	o := &wire.Options{WithoutModel: true, Attended: true}
	var asJSON bool
	cmd := subcommands("tools", "List the tools, or call one by hand", newToolsCall(f))
	cmd.Args = cobra.ArbitraryArgs
	systemFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	unknown := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(cmd, args)
		}
		return listTools(cmd.Context(), f, o, asJSON)
	}
	return cmd
}

// toolRow is one line of `garuda tools`.
type toolRow struct {
	Name  string `json:"name"`
	Set   string `json:"set"`
	Class string `json:"class"`
	State string `json:"state"`
	Why   string `json:"why"`
	// Bytes is what the tool costs in each request while it is on.
	Bytes int `json:"bytes"`
}

func listTools(ctx context.Context, f *Factory, o *wire.Options, asJSON bool) error {
	sys, err := openSystem(ctx, f, o)
	if err != nil {
		return err
	}
	defer sys.Close()
	if asJSON {
		var rows []toolRow
		for _, t := range sys.Tools() {
			rows = append(rows, toolRow{
				Name: t.Spec.Name, Set: t.Spec.Set, Class: string(t.Spec.Class), State: string(t.State), Why: t.Why, Bytes: t.Spec.Bytes(),
			})
		}
		return printJSON(f, rows)
	}
	w := tabwriter.NewWriter(f.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tSET\tSTATE\tBYTES\tWHY")
	for _, t := range sys.Tools() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", t.Spec.Name, cmp.Or(t.Spec.Set, "-"), t.State, t.Spec.Bytes(), t.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(f.Out, "\n"+toolset.Sums(sys.Tools()))
	return err
}

func newToolsCall(f *Factory) *cobra.Command {
	o := &wire.Options{WithoutModel: true, InMemory: true}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call NAME JSON [NAME JSON ...]",
		Short: "Call tools in order, through the whole pipeline",
		Long: "Calls tools in order, in one session that exists in memory only, with the same rules,\n" +
			"checks and limits as the model's calls, and prints what the model would get.\n" +
			"The exit code is 0, or 1 when a call failed, or 4 when one was denied.",
		Example: `  garuda tools call read_file '{"path":"README.md"}'` + "\n" +
			`  garuda tools call --allow 'bash(ls *)' bash '{"command":"ls -la"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args)%2 != 0 {
				return usagef("tools call takes pairs of a tool's name and its input as JSON, got %d words", len(args))
			}
			return callTools(cmd.Context(), f, o, args, asJSON)
		},
	}
	systemFlags(cmd.Flags(), o)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: one object for each call")
	return cmd
}

func callTools(ctx context.Context, f *Factory, o *wire.Options, args []string, asJSON bool) error {
	signals := watchSignals(ctx)
	defer signals.end()
	sys, err := openSystem(signals.ctx, f, o)
	if err != nil {
		return signals.explain(err)
	}
	defer sys.Close()
	signals.killing(sys.Kill)
	for i := 0; i < len(args); i += 2 { // before the first one runs
		if _, ok := sys.Registry().Lookup(args[i]); !ok {
			return unknownTool(args[i], sys)
		}
	}
	signals.running()
	failed, denied := false, false
	for i := 0; i < len(args) && signals.ctx.Err() == nil; i += 2 {
		use := core.Block{Type: core.BlockToolUse, ID: fmt.Sprintf("call-%d", i/2+1), Name: args[i], Input: args[i+1]}
		r := sys.Call(signals.ctx, use)
		failed = failed || r.Result.IsError
		denied = denied || r.Denied
		if err := printResult(f, r, asJSON); err != nil {
			return err
		}
	}
	switch {
	case signals.ctx.Err() != nil:
		return errInterrupted
	case denied:
		return &codeError{code: exitDenied, err: errSilent}
	case failed:
		return &codeError{code: exitError, err: errSilent}
	}
	return nil
}

func printResult(f *Factory, r *tool.CallResult, asJSON bool) error {
	if asJSON {
		return printJSON(f, map[string]any{
			"tool": r.Name, "result": r.Result.ResultText(), "is_error": r.Result.IsError,
			"denied": r.Denied, "duration_ms": r.Duration.Milliseconds(), "decision": r.Decision,
		})
	}
	text := r.Result.ResultText()
	if text != "" && text[len(text)-1] != '\n' {
		text += "\n"
	}
	_, err := fmt.Fprint(f.foreign(), text)
	return err
}

// unknownTool is the error for a name that is no tool, or one that is off.
func unknownTool(name string, sys *wire.System) error {
	for _, t := range sys.Tools() {
		if t.Spec.Name == name {
			return usagef("the tool %s is off: %s", name, t.Why)
		}
	}
	if near := nearest.Of(name, sys.Registry().Names()); near != "" {
		return usagef("there is no tool %q; did you mean %q?", name, near)
	}
	return usagef("there is no tool %q; see garuda tools", name)
}

// printJSON prints a value over several lines, as people read it.
func printJSON(f *Factory, v any) error {
	enc := json.NewEncoder(f.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
