package cli

import (
	"context"
	"fmt"
	"time"

	"garuda/internal/engine"
	"garuda/internal/front/headless"
	"garuda/internal/wire"
)

// A headless run ends within exitLimit of its last line whatever still runs;
// sessionLimit of that is for the session, the rest for its processes.
const (
	exitLimit    = 5 * time.Second
	sessionLimit = 4 * time.Second
)

func runHeadless(ctx context.Context, f *Factory, o *runOptions) error {
	signals := watchSignals(ctx)
	defer signals.end()
	prompts, err := headlessPrompts(signals.ctx, f, o)
	if err != nil {
		return signals.explain(err)
	}
	o.Options.Version = f.Version
	sys, err := f.Open(signals.ctx, &o.Options)
	if err != nil {
		return signals.explain(err)
	}
	defer sys.Close()
	signals.killing(sys.Kill)
	notices(f, sys)
	s, err := openSession(f, sys, o)
	if err != nil {
		return err
	}
	signals.running()
	code, err := headless.Run(ctx, s, headless.Options{
		Format: headless.Format(o.outputFormat), Partial: o.partial, Verbose: o.verbose,
		Answer: o.AnswerSchema != nil, Stdout: f.Out, Stderr: f.Err, Terminal: f.OutIsTerminal,
		Prompts: prompts.out, PromptErr: prompts.failure, Interrupted: signals.ctx.Done(),
		Init: headless.Init{
			CWD: sys.Root(), PermissionMode: permissionMode(sys.Mode(), o.Yolo), APIKeySource: sys.Model().KeySource,
			Version: f.Version, Tools: sys.ToolNames(),
		},
	})
	return endRun(f, sys, s, code, err)
}

// endRun closes the session and ends all that runs, in time, and makes the
// command's error of how the run ended.
func endRun(f *Factory, sys *wire.System, s *engine.Session, code int, err error) error {
	begun := f.Clock.Now()
	err = closeSession(f, s, code, err)
	sys.CloseWithin(exitLimit - f.Clock.Now().Sub(begun))
	return err
}

// closeSession closes the session after a run that ended with this code and error.
func closeSession(f *Factory, s *engine.Session, code int, err error) error {
	closeErr := headless.Shutdown(s, f.Clock, sessionLimit)
	if closeErr != nil && err == nil && code == 0 {
		// The turn's own result has told a journal that failed; this is the rest.
		err = fmt.Errorf("close the session: %w", closeErr)
	}
	switch {
	case err != nil:
		return &codeError{code: max(code, exitError), err: err}
	case code != 0:
		return &codeError{code: code, err: errSilent}
	}
	return nil
}

// permissionMode says the mode in Claude Code's words.
func permissionMode(mode string, yolo bool) string {
	switch {
	case mode == "plan":
		return "plan"
	case yolo:
		return "bypassPermissions"
	case mode == "accept_edits":
		return "acceptEdits"
	}
	return "default"
}
