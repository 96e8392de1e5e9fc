package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"garuda/internal/audit"
	"garuda/internal/core"
	"garuda/internal/sandbox"
)

// RunSandboxed runs a command of the user's in the sandbox, with these streams, and
// returns its exit code, 128 and a signal's number where one ended it. The error is
// for a command that was not run: there is no sandbox, or it could not be started.
// The end of ctx ends it.
func (s *System) RunSandboxed(ctx context.Context, argv []string, in io.Reader, out, errOut io.Writer) (int, error) {
	inside, err := s.sandbox()
	if err != nil {
		return 0, err
	}
	line := audit.Line{
		ID: core.NewCallID(), Tool: "sandbox run", Target: strings.Join(argv, " "), Decision: audit.AllowUser,
		Allowed: true, Risk: audit.AllowUser.Risk(), Reason: "typed by the user, in the sandbox " + inside.Name(),
	}
	if s.audit != nil {
		if err := s.audit.Append(line); err != nil && s.audit.Mandatory() {
			return 0, fmt.Errorf("write the audit log, without which nothing runs: %w", err)
		}
	}
	s.asking.Store(s.newPipeline()) // hosts are decided about by the rules, and audited
	p, err := s.executor.Start(ctx, &sandbox.Command{
		Argv: argv, Dir: s.Root(), Env: s.env, Call: line.ID, ReadOnlyRoot: s.Mode() == "plan",
		Terminals: true,
	})
	if err != nil {
		return 0, fmt.Errorf("run %s in the sandbox: %w", argv[0], err)
	}
	stop := context.AfterFunc(ctx, p.Kill)
	defer stop()
	// A read of the terminal ends when the program does: nobody waits for it.
	go func() {
		_, _ = io.Copy(p.Stdin(), in)
		_ = p.Stdin().Close()
	}()
	var copying sync.WaitGroup
	var failed [2]error
	for i, stream := range []struct {
		to   io.Writer
		from io.Reader
	}{{out, p.Stdout()}, {errOut, p.Stderr()}} {
		copying.Go(func() {
			if _, failed[i] = io.Copy(stream.to, stream.from); failed[i] != nil {
				p.Kill() // nobody reads it any more
			}
		})
	}
	res, err := p.Wait()
	copying.Wait()
	if err := errors.Join(err, failed[0], failed[1]); err != nil {
		return 0, fmt.Errorf("run %s in the sandbox: %w", argv[0], err)
	}
	if res.Signal != "" {
		return 128 + signalNumber(res.Signal), nil
	}
	return res.ExitCode, nil
}
