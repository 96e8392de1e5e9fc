//go:build unix

// Package executortest is the list of promises that every sandbox.Executor
// keeps. An executor's own tests call Run with a way to make it.
//
// It never tests isolation: that is what the attack cases are for.
package executortest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"garuda/internal/sandbox"
)

// Config says how executors are made.
type Config struct {
	// Setup prepares one test and returns what makes executors for it; they share
	// what a process has only once. Whatever it needs ended it ends by t.Cleanup.
	Setup func(t testing.TB) func() sandbox.Executor
	// Folder makes an empty folder in which commands may run and write.
	Folder func(t testing.TB) string
	// Brief leaves out what takes long, unless WholeVariable is set: for backends that
	// share what keeps it with one that is checked against everything.
	Brief bool
}

// slow are the promises that take long, by their names.
var slow = map[string]bool{
	"hundreds of them": true, "a gigabyte in one line": true, "fifty at once": true, "daemons in sessions of their own": true,
	"one that forks away without end": true, "one that fills the machine": true, "one executor's end leaves others alone": true,
}

// WholeVariable, when set, lifts Config.Brief.
const WholeVariable = "GARUDA_CONTRACT"

// Whole reports whether everything is to be run.
func Whole() bool { return os.Getenv(WholeVariable) != "" }

// Run checks an executor against the whole list.
func Run(t *testing.T, cfg Config) {
	for _, group := range [][]promise{captured, endings, leftovers, started} {
		for _, p := range group {
			t.Run(p.name, func(t *testing.T) {
				if cfg.Brief && slow[p.name] && !Whole() {
					t.Skip("it takes long and is kept by what all backends share; set " + WholeVariable + " to run it")
				}
				before := descriptors(t)
				// Within a test of its own, so that its cleanups are over when
				// descriptors are counted.
				t.Run("promise", func(t *testing.T) {
					s := &suite{T: t, make: cfg.Setup(t), dir: cfg.Folder(t)}
					s.exec = s.executor()
					p.check(s)
				})
				if after := descriptors(t); len(after) > len(before) {
					t.Errorf("open descriptors: had %v, now %v", before, after)
				}
			})
		}
	}
}

type promise struct {
	name  string
	check func(s *suite)
}

// suite is one test of one promise.
type suite struct {
	*testing.T
	make func() sandbox.Executor
	exec sandbox.Executor
	dir  string
}

// executor makes one more executor, which ends with the test.
func (s *suite) executor() sandbox.Executor {
	e := s.make()
	s.Cleanup(func() {
		if err := e.Shutdown(context.Background()); err != nil {
			s.Errorf("Shutdown: %v", err)
		}
	})
	return e
}

// bash is a command with a limit that only a test that hangs reaches.
func (s *suite) bash(text string) *sandbox.Command {
	return &sandbox.Command{
		Argv: []string{"bash", "-c", text}, Dir: s.dir,
		Env: []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH")}, Limit: 30_000, Timeout: 2 * time.Minute,
	}
}

func (s *suite) run(cmd *sandbox.Command) *sandbox.Result {
	s.Helper()
	res, err := s.exec.Run(context.Background(), cmd)
	if err != nil {
		s.Fatalf("run %q: %v", cmd.Argv, err)
	}
	return res
}

// want compares the result's exit, and what it printed when out is not "*".
func (s *suite) want(res *sandbox.Result, code int, signal, out string) {
	s.Helper()
	if res.ExitCode != code || res.Signal != signal {
		s.Errorf("ended with %d %q, want %d %q; stderr: %s", res.ExitCode, res.Signal, code, signal, res.Stderr.Head)
	}
	if got := string(res.Stdout.Head); out != "*" && got != out {
		s.Errorf("printed %q, want %q; stderr: %s", got, out, res.Stderr.Head)
	}
}

// sleeper is a command that sleeps so long that it only ends by being ended,
// and that no other process of the machine looks like.
func (s *suite) sleeper() string {
	return fmt.Sprintf("sleep 3%d.%09d", os.Getpid(), time.Now().UnixNano()%1_000_000_000)
}

// gone fails the test when a process with that command line is still there.
func (s *suite) gone(commandLine string) {
	s.Helper()
	if n := Running(s, commandLine); n > 0 {
		s.Errorf("%d of %q outlived the call", n, commandLine)
	}
}

// Running counts the processes with that command line.
func Running(t testing.TB, commandLine string) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		out, err := exec.CommandContext(t.Context(), "ps", "-axo", "args").Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(out), "\n")
		return len(lines) - len(slices.DeleteFunc(lines, func(l string) bool { return l == commandLine }))
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ") == commandLine {
			n++
		}
	}
	return n
}

// descriptors lists what this process has open, where the system tells. Two
// that belong to the runtime and come with the first pipe or process are left out.
func descriptors(t testing.TB) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return nil
	}
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, n := range names {
		target, err := os.Readlink("/proc/self/fd/" + n.Name())
		if err == nil && !strings.Contains(target, "eventpoll") && !strings.Contains(target, "eventfd") {
			open = append(open, n.Name()+" "+target)
		}
	}
	return open
}

// needs skips the test on a machine without a program.
func (s *suite) needs(program string) {
	s.Helper()
	if _, err := exec.LookPath(program); err != nil {
		s.Skipf("this machine has no %s", program)
	}
}

// write makes a file in the folder of the commands.
func (s *suite) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}
