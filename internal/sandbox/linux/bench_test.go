//go:build linux

package linux_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"

	"garuda/internal/proc"
	"garuda/internal/sandbox"
	"garuda/internal/sandbox/executortest"
	"garuda/internal/sandbox/host"
	"garuda/internal/sandbox/linux"
)

// Both report the time of the processors besides, of the command, its stage and this
// process together: it tells more than the clock on a machine that is busy.

func BenchmarkTrue(b *testing.B) {
	v, err := linux.SystemView()
	if err != nil {
		b.Fatal(err)
	}
	run(b, func(sup *proc.Supervisor) (sandbox.Executor, error) {
		return linux.New(linux.Options{
			Supervisor: sup, Records: filepath.Join(b.TempDir(), "records"),
			View: func(context.Context, *sandbox.Command) (*sandbox.View, error) { return v, nil },
		})
	})
}

// BenchmarkBareTrue is the same command without a sandbox.
func BenchmarkBareTrue(b *testing.B) {
	run(b, func(sup *proc.Supervisor) (sandbox.Executor, error) {
		return host.New(host.Options{Supervisor: sup}), nil
	})
}

func run(b *testing.B, make func(*proc.Supervisor) (sandbox.Executor, error)) {
	sup := executortest.Supervisor(b)
	e, err := make(sup)
	if err != nil {
		b.Fatal(err)
	}
	before := processors(b)
	n := 0
	for b.Loop() {
		res, err := e.Run(b.Context(), &sandbox.Command{Argv: []string{"/bin/true"}, Dir: "/", Env: []string{}})
		if err != nil || res.ExitCode != 0 {
			b.Fatal(res, err)
		}
		n++
	}
	b.ReportMetric((processors(b)-before)/float64(n), "cpu-ms/op")
}

// processors is what this process and its children took so far, in milliseconds.
func processors(b *testing.B) float64 {
	sum := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		for _, t := range []syscall.Timeval{u.Utime, u.Stime} {
			sum += float64(t.Nano()) / 1e6
		}
	}
	return sum
}
