//go:build unix

package seatbelt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/loopback"
	"garuda/internal/sandbox/wrapped"
)

// tool starts a program under a profile. It is never looked up in a PATH.
const tool = "/usr/bin/sandbox-exec"

// limited sets the limits, which programs inherit, and then becomes the command.
// A shell whose limit cannot be set runs nothing. $0 is the size of files.
const limited = `ulimit -c 0 && ulimit -f "$0" && exec "$@"`

// launcher is what Garuda starts for each command.
func launcher(opt wrapped.Options) proc.Launcher {
	return func(ctx context.Context, cmd *sandbox.Command) (*proc.Launch, error) {
		program, err := wrapped.Program(cmd)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
			return nil, err // sandbox-exec would say it where the command's own output goes
		}
		v, err := opt.ViewOf(ctx, cmd)
		if err != nil {
			return nil, err
		}
		if v.FullNetwork || opt.Network == nil {
			return launch(cmd, program, v)
		}
		return launchWithPassage(ctx, opt.Network, cmd, program, v)
	}
}

// launchWithPassage opens a way out that ends with the command.
func launchWithPassage(ctx context.Context, network sandbox.Network, cmd *sandbox.Command, program string, v *sandbox.View) (*proc.Launch, error) {
	passage, err := network.Begin(ctx, cmd.Call)
	if err != nil {
		return nil, err
	}
	way, err := loopback.Open(passage)
	if err != nil {
		passage.Close()
		return nil, err
	}
	shown, led := *v, *cmd
	shown.LocalhostPorts = slices.Concat(v.LocalhostPorts, way.Ports)
	led.Env = slices.Concat(cmd.Env, way.Env)
	l, err := launch(&led, program, &shown)
	if err != nil {
		passage.Close()
		return nil, err
	}
	l.Ended = func(res *sandbox.Result) { res.Refused = passage.Close() }
	return l, nil
}

// launch is cmd under the profile of the view.
func launch(cmd *sandbox.Command, program string, v *sandbox.View) (*proc.Launch, error) {
	text, params, err := Profile(v)
	if err != nil {
		return nil, err
	}
	argv := []string{tool, "-p", text}
	for _, p := range params {
		argv = append(argv, "-D", p)
	}
	argv = append(argv, "/bin/sh", "-c", limited, blocks(v.Limits.FileBytes), program)
	return &proc.Launch{Path: tool, Argv: append(argv, cmd.Argv[1:]...), Env: v.InPlace(cmd.Env), Dir: cmd.Dir}, nil
}

// blocks is a size as ulimit -f takes it: in blocks of 512 bytes, rounded up.
func blocks(bytes int64) string {
	if bytes <= 0 {
		return "unlimited"
	}
	return strconv.FormatInt((bytes+511)/512, 10)
}
