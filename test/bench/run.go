package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// cost is what one run of a command took.
type cost struct {
	Wall time.Duration
	// CPU is the time of its own and of the kernel for it, on all cores together.
	CPU time.Duration
	// Peak is the largest resident size that the command, or a process it waited
	// for, ever had, in bytes.
	Peak int64
	Code int
}

// launchAndReport runs a command with this process's folder, environment and
// streams. The bench starts itself for this: the kernel counts what a process was
// before it became another program into its peak, so the one that starts the
// command must be small.
func launchAndReport(ctx context.Context, report string, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	start := time.Now()
	err := cmd.Run()
	c := cost{Wall: time.Since(start)}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		c.Code = exit.ExitCode()
	} else if err != nil {
		return err
	}
	c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	c.Peak = peak(cmd.ProcessState)
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(report, text, 0o644)
}

// run measures one run of a command in a folder of the bench. What it prints goes
// to a file, which is shown when it fails.
func (b *bench) run(ctx context.Context, folder string, env []string, args ...string) (cost, error) {
	report, printed := filepath.Join(b.dir, "report.json"), filepath.Join(b.dir, "printed")
	out, err := os.Create(printed)
	if err != nil {
		return cost{}, err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(ctx, b.self, append([]string{"-launch", report, "--"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(b.dir, folder), out, out
	cmd.Env = append(b.environment(), env...)
	if err := os.MkdirAll(cmd.Dir, 0o755); err != nil {
		return cost{}, err
	}
	runErr := cmd.Run()
	text, err := os.ReadFile(report)
	if err = errors.Join(runErr, err); err != nil {
		return cost{}, fmt.Errorf("run %v: %w", args, err)
	}
	var c cost
	if err := json.Unmarshal(text, &c); err != nil {
		return cost{}, fmt.Errorf("read what %v cost: %w", args, err)
	}
	if c.Code != 0 {
		text, _ := os.ReadFile(printed)
		return cost{}, fmt.Errorf("%v ended with %d and printed:\n%s", args, c.Code, text[:min(len(text), 2000)])
	}
	return c, os.Remove(report)
}

// environment is what every measured process gets: a home of its own.
func (b *bench) environment() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(b.dir, "home"), "TERM=dumb", "LANG=C.UTF-8",
		"GARUDA_HOME=" + filepath.Join(b.dir, "home", ".garuda"),
	}
}

// repeat runs a command once to warm the caches and then n times.
func (b *bench) repeat(ctx context.Context, n int, folder string, args ...string) ([]cost, error) {
	var all []cost
	for i := range n + 1 {
		c, err := b.run(ctx, folder, nil, args...)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}

func median[T int64 | float64 | time.Duration](values []T) T {
	if len(values) == 0 {
		return 0
	}
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
}

func walls(costs []cost) time.Duration {
	var all []time.Duration
	for _, c := range costs {
		all = append(all, c.Wall)
	}
	return median(all)
}

func peaks(costs []cost) int64 {
	var all []int64
	for _, c := range costs {
		all = append(all, c.Peak)
	}
	return median(all)
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

func mb(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
