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

// openSandbox begins to find the sandbox that commands run in. Where one is
// required it waits, and without one nothing starts.
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
	s.preparation, s.endPreparation = context.WithCancel(context.Background())
	by := s.requiredBy()
	if s.settings.Executor == executorHost {
		if s.settings.Strict {
			return &SettingsError{Err: errors.New("the strict profile runs no command without a sandbox, and executor is host; leave executor out")}
		}
		find = nil
	}
	s.executor = split.New(split.Options{Host: s.host, Find: find, Required: by != "" || s.team.RequireSandbox, InsideEnv: s.insideEnv})
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

// findSandbox finds the isolating executor of this machine, and prepares what its
// commands see. It goes on beside the start, so what it sets is read only by who
// waited for it.
func (s *System) findSandbox(ctx context.Context, network sandbox.Network) (sandbox.Executor, error) {
	exec, state := choose.Executor(ctx, wrapped.Options{
		Supervisor: s.procs, Network: network, Path: os.Getenv("PATH"), Root: s.workspace.Root(), Records: s.placeholders(),
		Report: func(err error) { slog.Warn("running commands", "error", err) },
		View:   func(ctx context.Context, cmd *sandbox.Command) (*sandbox.View, error) { return s.view.View(ctx, cmd) },
	})
	if exec == nil {
		return nil, errors.New(strings.TrimSuffix(state.Sentence, "."))
	}
	seen, err := view.NewBuilder(s.viewOptions(exec.Name()))
	if err != nil {
		return nil, errors.Join(err, exec.Shutdown(ctx))
	}
	s.view, s.found = seen, state
	s.preparing.Go(func() {
		// What fails here fails the first command too, and is told there.
		_ = s.view.Prepare(s.preparation)
	})
	return exec, nil
}

// placeholders is where it is kept what was made in projects only to be locked.
func (s *System) placeholders() string {
	if s.places.garuda == "" {
		return ""
	}
	return filepath.Join(s.places.garuda, "placeholders")
}

// isolated reports whether commands run in a sandbox.
func (s *System) isolated() bool {
	return s.executor != nil && s.executor.Isolation() == sandbox.IsolationOS
}

// mayLeave reports whether a command may ask to run outside the sandbox.
func (s *System) mayLeave() bool {
	return !s.settings.Strict && !s.team.RequireSandbox && s.isolated()
}

// shellSandbox is what bash knows of the sandbox.
func (s *System) shellSandbox() shell.Sandbox {
	return shell.Sandbox{MayLeave: s.mayLeave, Locked: s.lockedPaths(), Network: s.networkInWords}
}

// sandbox is the isolating executor, or why there is none.
func (s *System) sandbox() (sandbox.Executor, error) {
	inside, err := s.executor.Inside()
	if err == nil && inside == nil {
		err = errors.New("there is no sandbox, since executor is host; leave executor out, or set it to auto")
	}
	return inside, err
}

// sandboxNotice says why commands run without a sandbox that was wanted; "" else.
func (s *System) sandboxNotice() string {
	if s.executor == nil {
		return ""
	}
	if _, err := s.executor.Inside(); err != nil {
		return err.Error() + ". Until then commands that do more than read are asked about."
	}
	return ""
}

// SandboxInWords says what commands may touch.
func (s *System) SandboxInWords() string {
	switch {
	case s.isolated() && s.options.Yolo:
		return "on; commands may leave it unasked (--yolo)"
	case s.isolated():
		return "on: commands write only in this folder and reach " + s.networkUnasked()
	case s.options.Yolo:
		return "no sandbox: commands run on this machine, unasked (--yolo)"
	}
	return "no sandbox: commands run on this machine; asked for unless they only read or a rule allows them"
}
