package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/linux"
)

// sandboxLimit is what a sandbox may add to a command.
const sandboxLimit = 10 * time.Millisecond

// sandbox measures `true` in the sandbox, bare, and in bwrap with the same namespaces
// and mounts (but without a filter of system calls), turn by turn. This program
// stands for Garuda's binary, whose packages the stage does not wait for.
func (b *bench) sandbox(ctx context.Context) (_ []row, err error) {
	sup, err := proc.New(proc.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sup.Close(ctx)) }()
	view, err := linux.SystemView()
	if err != nil {
		return nil, err
	}
	view.Entries = append(view.Entries, sandbox.Entry{Path: b.dir, Access: sandbox.Writable})
	inside, err := linux.New(linux.Options{Supervisor: sup, View: func(context.Context, *sandbox.Command) (*sandbox.View, error) { return view, nil }})
	if err != nil {
		return nil, err
	}
	bare := host.New(host.Options{Supervisor: sup})
	argv := []string{"/bin/true"}
	kinds := []struct {
		executor sandbox.Executor
		argv     []string
	}{{bare, argv}, {inside, argv}}
	if bwrap, err := exec.LookPath("bwrap"); err == nil {
		kinds = append(kinds, struct {
			executor sandbox.Executor
			argv     []string
		}{bare, append(bwrapLike(bwrap, view), argv...)})
	}
	times := make([][]time.Duration, len(kinds))
	for range 10 * b.runs {
		for i, k := range kinds {
			began := time.Now()
			res, err := k.executor.Run(ctx, &sandbox.Command{Argv: k.argv, Dir: b.dir, Env: []string{"PATH=/usr/bin:/bin"}})
			if err != nil {
				return nil, err
			}
			if res.ExitCode != 0 {
				return nil, fmt.Errorf("%v ended with %d: %s", k.argv, res.ExitCode, res.Stderr.Head)
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	base, mine := median(times[0]), median(times[1])
	rows := []row{{"sandboxed true", ms(mine), "bare + " + ms(sandboxLimit), ms(base) + " bare", mine <= base+sandboxLimit}}
	if len(times) > 2 {
		other := median(times[2])
		rows = append(rows, row{"  against bwrap", ms(mine), "bwrap's time", ms(other) + " in bwrap", mine <= other})
	}
	return rows, nil
}

// bwrapLike is bwrap's command line for a view of the system and one folder.
func bwrapLike(bwrap string, view *sandbox.View) []string {
	argv := []string{
		bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run", "--uid", fmt.Sprint(os.Geteuid()), "--gid", fmt.Sprint(os.Getegid()),
	}
	for _, e := range view.Entries {
		how := "--ro-bind"
		if e.Access == sandbox.Writable {
			how = "--bind"
		}
		argv = append(argv, how, e.Path, e.Path)
	}
	for _, l := range view.Links {
		argv = append(argv, "--symlink", l.Target, l.Path)
	}
	return append(argv, "--remount-ro", "/", "--chdir", "/", "--")
}
