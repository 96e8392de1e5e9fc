package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"garuda/internal/core"
	"garuda/internal/demo"
	"garuda/internal/engine"
	"garuda/internal/front/headless"
	"garuda/internal/front/lines"
	"garuda/internal/wire"
)

func newDemo(f *Factory) *cobra.Command {
	o := &wire.Options{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a task being done, without a key or a network",
		Long: "A scripted model mends a sample project whose test fails, in a fresh temporary folder,\n" +
			"with the real loop, tools and permissions. With -m the same task is given to a real model,\n" +
			"which makes it the quickest check of a set-up.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), f, o) },
	}
	cmd.Flags().StringVarP(&o.Model, "model", "m", "", "give the task to this `model` instead of the scripted one")
	return cmd
}

func runDemo(ctx context.Context, f *Factory, o *wire.Options) (err error) {
	dir, err := os.MkdirTemp("", "garuda-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := demo.Write(dir); err != nil {
		return err
	}
	o.CWD, o.Allow, o.Version = dir, demo.Rules(), f.Version
	o.NoUndo = true // its folder goes with it, and snapshots of that would stay for good
	if o.Model == "" {
		if o.UseModel, err = demo.Model(); err != nil {
			return err
		}
	}
	signals := watchSignals(ctx)
	defer signals.end()
	sys, err := f.Open(signals.ctx, o)
	if err != nil {
		return signals.explain(err)
	}
	defer sys.Close()
	signals.killing(sys.Kill)
	notices(f, sys)
	demoBanner(f, sys)
	signals.running()
	if err := demoTask(ctx, f, sys, signals.ctx.Done()); err != nil {
		return err
	}
	return signals.explain(demoCheck(signals.ctx, f, sys))
}

func demoBanner(f *Factory, sys *wire.System) {
	fmt.Fprintf(f.Out, "Garuda %s demo · model %s · %s\n", f.Version, sys.Model().Spec, sys.SandboxInWords())
	fmt.Fprintf(f.Out, "A sample project with a failing test, in %s\n", sys.Root())
	fmt.Fprintf(f.Out, "Allowed for the demo: %s. Everything else follows the usual rules.\n\n› %s\n\n",
		strings.Join(demo.Rules(), " and "), demo.Task)
}

func demoTask(ctx context.Context, f *Factory, sys *wire.System, stopped <-chan struct{}) error {
	s, _, err := sys.OpenSession(wire.SessionOptions{})
	if err != nil {
		return err
	}
	prompts := make(chan engine.Prompt, 1)
	prompts <- engine.Prompt{Text: demo.Task}
	close(prompts)
	code, err := headless.Run(ctx, s, headless.Options{
		Format: headless.Text, Stdout: f.Out, Stderr: f.Out, Terminal: f.OutIsTerminal,
		Prompts: prompts, Interrupted: stopped,
		Activity: &lines.Activity{Out: f.Out, Diffs: true, Live: true},
	})
	return closeSession(f, s, code, err)
}

// demoCheck runs the test once more, whatever the model said of it, through the
// same pipeline.
func demoCheck(ctx context.Context, f *Factory, sys *wire.System) error {
	r := sys.Call(ctx, core.Block{
		Type: core.BlockToolUse, ID: "check", Name: "bash", Input: `{"command":"` + demo.TestCommand + `"}`,
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Result.IsError {
		return fmt.Errorf("the demo failed, the test does not pass:\n%s", r.Result.ResultText())
	}
	_, err := fmt.Fprintf(f.Out, "\nChecked once more: `%s` passes. Next: `garuda doctor`, then `garuda` in a project of yours.\n", demo.TestCommand)
	return err
}
