package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"garuda/internal/sandbox"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/split"
	"garuda/internal/tools/shell"
)

// openSandbox begins to find the sandbox that commands run in. Where one is
// required it waits, and without one nothing starts.
func (s *System) openSandbox() error {
	s.host = host.New(host.Options{Supervisor: s.procs, Path: os.Getenv("PATH"), Root: s.workspace.Root()})
	find := s.findSandbox
	if s.options.FindSandbox != nil {
		find = s.options.FindSandbox
	}
	by := s.requiredBy()
	if s.settings.Executor == executorHost {
		if s.settings.Strict {
			return &SettingsError{Err: errors.New("the strict profile runs no command without a sandbox, and executor is host; leave executor out")}
		}
		find = nil
	}
	s.executor = split.New(split.Options{Host: s.host, Find: find, Required: by != "" || s.team.RequireSandbox})
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

// findSandbox finds the isolating executor of this machine.
func (s *System) findSandbox(context.Context) (sandbox.Executor, error) {
	return nil, fmt.Errorf("this version of Garuda has no sandbox for %s", runtime.GOOS)
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
	return shell.Sandbox{MayLeave: s.mayLeave, Network: s.networkInWords}
}

// networkInWords says what commands in the sandbox may reach.
func (s *System) networkInWords() string { return "no host" }

// sandboxNotice says why commands run without a sandbox that was wanted; "" else.
func (s *System) sandboxNotice() string {
	if s.executor == nil {
		return ""
	}
	if _, err := s.executor.Inside(); err != nil {
		return "no sandbox, so commands that do more than read are asked about: " + err.Error()
	}
	return ""
}

// SandboxInWords says what commands may touch.
func (s *System) SandboxInWords() string {
	switch {
	case s.isolated() && s.options.Yolo:
		return "on; commands may leave it unasked (--yolo)"
	case s.isolated():
		return "on: commands write only in this folder and reach " + s.networkInWords()
	case s.options.Yolo:
		return "no sandbox: commands run on this machine, unasked (--yolo)"
	}
	return "no sandbox: commands run on this machine; asked for unless they only read or a rule allows them"
}
