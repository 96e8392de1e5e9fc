package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/choose"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/split"
	"garuda/internal/sandbox/view"
	"garuda/internal/sandbox/wrapped"
	"garuda/internal/tools/shell"
)

// openSandbox says how the sandbox is found that commands run in. Looking for it takes
// longer than most commands that only read or write a file of Garuda's, so it begins here
// only where something may run; else when somebody asks for it. Where one is required
// such a start waits, and without one it fails.
func (s *System) openSandbox() error {
	s.host = host.New(host.Options{Supervisor: s.procs, Path: os.Getenv("PATH"), Root: s.workspace.Root()})
	network, err := s.newNetwork()
	if err != nil {
		return err
	}
	find := func(ctx context.Context) (sandbox.Executor, error) { return s.findSandbox(ctx, network) }
	if s.options.FindSandbox != nil {
		find = s.options.FindSandbox
	}
	s.sweep, s.endSweep = context.WithCancel(context.Background())
	by := s.requiredBy()
	if s.settings.Executor == executorHost {
		if s.settings.Strict {
			return &SettingsError{Err: errors.New("the strict profile runs no command without a sandbox, and executor is host; leave executor out")}
		}
		find = nil
	}
	s.executor = split.New(split.Options{Host: s.host, Find: find, Required: by != "" || s.team.RequireSandbox, InsideEnv: s.insideEnv})
	if s.options.RunsNothing {
		return nil // whoever then runs something all the same, or shows what holds it, asks
	}
	s.executor.Begin()
	if by == "" {
		return nil
	}
	if _, err := s.executor.Inside(); err != nil {
		return &SettingsError{Err: fmt.Errorf("a sandbox is required (%s), and there is none: %w", by, err)}
	}
	return nil
}

// The values of the setting executor that are not auto.
const executorHost, executorOS = "host", "os"

// requiredBy says what makes a sandbox a condition of the start; "" for nothing.
func (s *System) requiredBy() string {
	switch {
	case s.settings.Strict:
		return "the strict profile"
	case s.settings.Executor == executorOS:
		return "executor os"
	}
	return ""
}

// findSandbox finds the isolating executor of this machine, and checks that what its
// commands see can be put together, which is done with the first of them. It goes on
// beside the start, so what it sets is read only by who waited for it.
func (s *System) findSandbox(ctx context.Context, network sandbox.Network) (sandbox.Executor, error) {
	exec, state := choose.Remembered(ctx, wrapped.Options{
		Supervisor: s.procs, Network: network, Path: os.Getenv("PATH"), Root: s.workspace.Root(), Records: s.placeholders(),
		Report: func(err error) { slog.Warn("running commands", "error", err) },
		View: func(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) {
			seen, err := s.view()
			if err != nil {
				return nil, err
			}
			return seen.View(ctx, cmd)
		},
	}, s.rememberedSandbox())
	if exec == nil {
		why := strings.TrimSuffix(state.Sentence, ".")
		if state.Unknown {
			return nil, &unknownSandbox{errors.New(why)}
		}
		return nil, errors.New(why)
	}
	opt := s.viewOptions(exec.Name())
	if err := view.Check(opt); err != nil {
		return nil, &unknownSandbox{errors.Join(err, exec.Shutdown(ctx))}
	}
	s.found = state
	s.sweeping.Go(func() {
		if _, err := view.Sweep(s.sweep, s.clock, opt.GarudaHome, opt.Parent); err != nil && s.sweep.Err() == nil {
			slog.Warn("clean up after a Garuda that was killed", "error", err)
		}
	})
	return exec, nil
}

// view makes what commands in the sandbox see, and the session's private folder, for
// the first that asks: most starts run no command at all.
func (s *System) view() (*view.Builder, error) {
	s.seenGuard.Lock()
	defer s.seenGuard.Unlock()
	if s.seen != nil {
		return s.seen, nil
	}
	inside, err := s.sandbox()
	if err != nil {
		return nil, err
	}
	s.seen, err = view.NewBuilder(s.viewOptions(inside.Name()))
	return s.seen, err
}

// placeholders is where it is kept what was made in projects only to be locked.
func (s *System) placeholders() string {
	if s.places.garuda == "" {
		return ""
	}
	return filepath.Join(s.places.garuda, "placeholders")
}

// rememberedSandbox is the file that says that the sandbox worked at an earlier start;
// "" where each start has to try it.
func (s *System) rememberedSandbox() string {
	if s.places.garuda == "" || s.options.InMemory {
		return ""
	}
	return filepath.Join(s.places.garuda, "sandbox.json")
}

// isolated reports whether commands run in a sandbox.
func (s *System) isolated() bool {
	return s.executor != nil && s.executor.Isolation() == sandbox.IsolationOS
}

// mayLeave reports whether a command may ask to run outside the sandbox.
func (s *System) mayLeave() bool {
	return !s.settings.Strict && !s.team.RequireSandbox && s.isolated()
}

// offersLeaving reports whether tools are described as ones that may ask for it. A start
// that runs none goes by the settings, for which no sandbox has to be found.
func (s *System) offersLeaving() bool {
	if !s.options.RunsNothing {
		return s.mayLeave()
	}
	return !s.settings.Strict && !s.team.RequireSandbox && s.settings.Executor != executorHost
}

// shellSandbox is what bash knows of the sandbox.
func (s *System) shellSandbox() shell.Sandbox {
	return shell.Sandbox{MayLeave: s.mayLeave, Offers: s.offersLeaving, Locked: s.lockedPaths(), Network: s.networkInWords, Limits: s.commandLimits()}
}

// sandbox is the isolating executor, or why there is none.
func (s *System) sandbox() (sandbox.Executor, error) {
	inside, err := s.executor.Inside()
	if err == nil && inside == nil {
		err = errors.New("there is no sandbox, since executor is host; leave executor out, or set it to auto")
	}
	return inside, err
}

// sandboxNotice says why commands run without a sandbox that was wanted, or in one that
// is not the best; "" else, and for a start that runs none, which does not look for it.
func (s *System) sandboxNotice() string {
	if s.executor == nil || s.options.RunsNothing {
		return ""
	}
	switch _, err := s.executor.Inside(); {
	case isUnknown(err):
		return err.Error() + ". Until that is mended and Garuda is started again no command runs, but those that you let run outside of a sandbox."
	case err != nil:
		return err.Error() + ". Until then commands that do more than read are asked about."
	}
	return s.found.Notice()
}

// SandboxInWords says what commands may touch, in words that stand by themselves.
func (s *System) SandboxInWords() string {
	var err error
	if s.executor != nil {
		_, err = s.executor.Inside()
	}
	switch {
	case isUnknown(err):
		return "the sandbox is not usable, so no command runs: " + err.Error()
	case s.isolated() && s.options.Yolo:
		return "commands may leave the sandbox unasked (--yolo)"
	case s.isolated():
		return "commands write only in this folder and reach " + s.networkUnasked()
	case s.options.Yolo:
		return "no sandbox: commands run on this machine, unasked (--yolo)"
	}
	return "no sandbox: commands run on this machine; asked for unless they only read or a rule allows them"
}
