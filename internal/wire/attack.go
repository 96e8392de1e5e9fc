package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"garuda/internal/attack"
	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/choose"
	"garuda/internal/sandbox/view"
	"garuda/internal/sandbox/wrapped"
)

// Attack tries the attack cases against the sandbox of this machine, with the bounds
// that the settings give, and calls each with what came of one. The decoys lie in a
// folder of their own that is gone afterwards. It returns the sandbox's name and what
// it does not hold although others do; the error says that there is none, or that the
// decoys could not be made.
func (s *System) Attack(ctx context.Context, each func(attack.Result)) (_ *choose.State, err error) {
	if s.settings.Executor == executorHost {
		return nil, errors.New("there is nothing to attack: executor is host, so commands run without a sandbox; leave executor out, or set it to auto")
	}
	report := func(err error) { slog.Warn("running commands", "error", err) }
	procs, err := proc.New(proc.Options{Clock: s.clock, RunningDir: s.runningDir(), Report: report})
	if err != nil {
		return nil, fmt.Errorf("prepare to run commands: %w", err)
	}
	defer func() { err = errors.Join(err, procs.Close(context.WithoutCancel(ctx))) }()
	exec, state := choose.Executor(ctx, wrapped.Options{Supervisor: procs, Path: os.Getenv("PATH"), Report: report})
	if exec == nil {
		return nil, errors.New(state.Sentence)
	}
	if err := exec.Shutdown(ctx); err != nil {
		return nil, err
	}
	dir, done, err := view.PrivateFolder(s.clock, s.places.garuda)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	opt := attack.Options{
		Supervisor: procs, Dir: filepath.Join(dir, "attack"), Lookup: s.lookupEnv, InPlace: inPlace(state.Backend), Limits: s.commandLimits(),
		New: func(o wrapped.Options) (sandbox.Executor, error) {
			o.Report = report
			return choose.New(state.Backend, o)
		},
	}
	decoys, err := attack.Prepare(ctx, opt)
	if err != nil {
		return nil, err
	}
	decoys.Run(ctx, attack.Cases(), each)
	if err := errors.Join(context.Cause(ctx), decoys.Close()); err != nil {
		return nil, fmt.Errorf("try the attacks: %w", err)
	}
	return &state, nil
}
