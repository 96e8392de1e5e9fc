//go:build unix

package kill_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"garuda/internal/testkit/modelserver"
)

// exitLimit is how long a run may take to end after a signal: a command that
// withstands TERM gets 2 s, and the exit 5 s after the result.
const exitLimit = 8 * time.Second

// stubborn is a command that says when it runs, and ends by KILL only.
const stubborn = "trap '' TERM INT HUP; echo up > started; while :; do sleep 0.2; done"

// phase brings a run into some state and waits until it is there.
type phase struct {
	name  string
	steps []modelserver.Step
	// stdin stays open without a message when it is true.
	stdin bool
	args  []string
	// reached waits for the state.
	reached func(r *running)
	// noSession is a phase before there is one.
	noSession bool
	// least is how long a run at least takes to end: no command is killed before its time.
	least time.Duration
}

func bash(command string) []modelserver.Step {
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return []modelserver.Step{{Calls: []modelserver.Call{{ID: "c1", Name: "bash", Input: input}}}, {Text: "on"}}
}

func stall(after int) []modelserver.Step {
	return []modelserver.Step{{Text: "some words, and then nothing", Fault: &modelserver.Fault{Kind: modelserver.Stall, After: after}}}
}

func phases() []phase {
	stalled := func(r *running) { r.must(r.server.WaitStalled(r.ctx)) }
	return []phase{
		{name: "before the first byte", steps: stall(0), args: []string{"go"}, reached: stalled},
		{name: "streaming", steps: stall(3), args: []string{"go"}, reached: stalled},
		{name: "a command runs", steps: bash("echo up > started; sleep 60"), args: []string{"go"}, reached: (*running).commandStarted},
		{name: "a stubborn command runs", steps: bash(stubborn), args: []string{"go"}, reached: (*running).commandStarted, least: 2 * time.Second},
		{name: "a retry waits", steps: []modelserver.Step{{Fault: &modelserver.Fault{Kind: modelserver.RateLimit, RetryAfter: "50"}}},
			args: []string{"go"}, reached: func(r *running) { r.awaitRequests(1) }},
		{name: "a stream without a message", stdin: true,
			args: []string{"--input-format", "stream-json"}, reached: func(r *running) { r.awaitOutput(`"init"`) }},
		{name: "reading standard input", stdin: true, noSession: true,
			args: []string{"go"}, reached: func(r *running) { r.awaitOutput("waiting for the end of standard input") }},
	}
}

// running is a started run.
type running struct {
	*project
	ctx    context.Context
	cmd    *exec.Cmd
	server *modelserver.Server
	// stdout and stderr share a pipe where a test waits for words in either.
	lines  chan string
	output *bytes.Buffer // all of stdout, when the run has ended
	// told is when the last signal was sent.
	told time.Time
}

func (r *running) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// commandStarted reads the FIFO into which a command says that it runs.
func (r *running) commandStarted() {
	r.t.Helper()
	f, err := os.OpenFile(filepath.Join(r.dir, "started"), os.O_RDONLY, 0)
	r.must(err)
	defer f.Close()
	_, err = io.ReadAll(f)
	r.must(err)
}

func (r *running) awaitOutput(text string) {
	r.t.Helper()
	for {
		select {
		case l, ok := <-r.lines:
			if !ok {
				r.t.Fatalf("the run ended and never printed %q: %s", text, r.output)
			}
			if strings.Contains(l, text) {
				return
			}
		case <-r.ctx.Done():
			r.t.Fatalf("%q was not printed in time", text)
		}
	}
}

// awaitRequests waits until so many requests were answered.
func (r *running) awaitRequests(n int) {
	r.t.Helper()
	for done := 0; done < n; {
		r.must(r.ctx.Err())
		done = 0
		for _, q := range r.server.Requests() {
			if !q.Responded.IsZero() {
				done++
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// start starts a run in a phase, with the given output format.
func start(t *testing.T, ph phase, format string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	t.Cleanup(cancel)
	r := &running{project: newProject(t), ctx: ctx, output: &bytes.Buffer{}, lines: make(chan string, 1000)}
	r.must(syscall.Mkfifo(filepath.Join(r.dir, "started"), 0o600))
	r.server = r.serve("chat", ph.steps...)
	r.cmd = r.garuda(append([]string{"-p", "--yolo", "--output-format", format}, ph.args...)...)
	if ph.stdin {
		_, err := r.cmd.StdinPipe() // kept open until the run has ended
		r.must(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	r.must(err)
	stderr, err := r.cmd.StderrPipe()
	r.must(err)
	r.must(r.cmd.Start())
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	read := make(chan struct{})
	scan := func(from io.Reader, keep *bytes.Buffer) {
		defer func() { read <- struct{}{} }()
		lines := bufio.NewScanner(io.TeeReader(from, keep))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			r.lines <- lines.Text()
		}
	}
	go scan(stdout, r.output)
	go scan(stderr, &bytes.Buffer{})
	go func() { <-read; <-read; close(r.lines) }()
	return r
}

// signal sends one. The time counts from before it: this process may not go on at once.
func (r *running) signal(sig syscall.Signal) {
	r.t.Helper()
	r.told = time.Now()
	r.must(r.cmd.Process.Signal(sig))
}

// wait waits for the end, and gives the exit code and how long that came after the
// last signal.
func (r *running) wait() (code int, lasted time.Duration) {
	r.t.Helper()
	for range r.lines { // to the end of both outputs
	}
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return r.cmd.ProcessState.ExitCode(), time.Since(r.told)
}

func TestSignalInEveryPhase(t *testing.T) {
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
	for i, ph := range phases() {
		for j, sig := range signals {
			format := "stream-json"
			if (i+j)%2 == 0 && !ph.stdin {
				format = "json"
			}
			if ph.noSession && sig != syscall.SIGINT {
				continue // takes seconds to get there
			}
			t.Run(ph.name+"/"+sig.String(), func(t *testing.T) {
				t.Parallel()
				r := start(t, ph, format)
				ph.reached(r)
				r.signal(sig)
				code, lasted := r.wait()
				if code != 130 || lasted > exitLimit || lasted < ph.least {
					t.Errorf("exit code %d after %s, want 130 within %s and not before %s; output %s", code, lasted, exitLimit, ph.least, r.output)
				}
				r.ended(ph)
			})
		}
	}
}

// ended checks what an interrupted run has left.
func (r *running) ended(ph phase) {
	r.t.Helper()
	if left := commandsOf(r.t, []int{r.cmd.Process.Pid}); len(left) > 0 {
		r.t.Errorf("processes are left: %v", left)
	}
	if ph.noSession {
		return
	}
	lines := outputLines(r.t, r.output.Bytes())
	if len(lines) == 0 {
		r.t.Fatal("nothing was printed")
	}
	last := lines[len(lines)-1]
	if last.Type != "result" || last.TerminalReason != "interrupted" || !last.IsError || last.Subtype != "error_during_execution" {
		r.t.Errorf("the last line is %+v", last)
	}
	if ph.steps == nil {
		return // nothing was said, so there is no journal
	}
	_, records := r.journal()
	if n := len(records); n == 0 || records[n-1].Type != "end" || records[n-1].StopReason != "interrupted" {
		r.t.Errorf("the journal does not end well: %v", types(records))
	}
}

// The second signal ends the process at once, whatever withstands.
func TestSecondSignal(t *testing.T) {
	r := start(t, phase{steps: bash(stubborn), args: []string{"go"}}, "json")
	r.commandStarted()
	r.signal(syscall.SIGINT)
	time.Sleep(100 * time.Millisecond) // signals that wait together are one
	r.signal(syscall.SIGTERM)
	code, lasted := r.wait()
	if code != 130 || lasted > time.Second {
		t.Errorf("exit code %d after %s, want 130 at once", code, lasted)
	}
	// KILL was sent, and nobody waited for it to act.
	for limit := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		left := commandsOf(t, []int{r.cmd.Process.Pid})
		if len(left) == 0 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("processes are left: %v", left)
		}
	}
}

// nohup's promise holds: a run that was started to outlive its terminal does.
func TestIgnoredHangup(t *testing.T) {
	r := &running{project: newProject(t)}
	r.server = r.serve("chat", modelserver.Step{Text: "still here", Fault: &modelserver.Fault{Kind: modelserver.Stall, After: 2}})
	cmd := r.garuda()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "trap '' HUP; exec " + binary + " -p --output-format json go"}
	var out bytes.Buffer
	cmd.Stdout = &out
	r.must(cmd.Start())
	r.must(r.server.WaitStalled(t.Context()))
	r.must(cmd.Process.Signal(syscall.SIGHUP))
	r.server.Release()
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "still here") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// A reader that waits must not keep the turn from being stopped, and gets the
// last line when it reads on.
func TestSignalWhileOutputIsFull(t *testing.T) {
	const much = 400_000 // more than a pipe holds
	r := &running{project: newProject(t)}
	steps := bash("echo on > after.txt; echo up > started; sleep 60")
	steps[0].Text = strings.Repeat("many words ", much/10)
	wire := modelserver.Wire{Fragment: 4000}
	steps[0].Wire = &wire
	r.must(syscall.Mkfifo(filepath.Join(r.dir, "started"), 0o600))
	r.server = r.serve("chat", steps...)
	cmd := r.garuda("-p", "--yolo", "--output-format", "stream-json", "--include-partial-messages", "go")
	stdout, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	r.commandStarted() // the session is ahead of its output, which nobody reads
	r.must(cmd.Process.Signal(syscall.SIGINT))
	r.awaitEnd()
	out, err := io.ReadAll(stdout)
	r.must(err)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	lines := outputLines(t, out)
	if last := lines[len(lines)-1]; last.Type != "result" || last.TerminalReason != "interrupted" {
		t.Errorf("the last line is %+v", last)
	}
}

// awaitEnd waits until the journal has the turn's end.
func (r *running) awaitEnd() {
	r.t.Helper()
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, records := r.journal()
		if n := len(records); n > 0 && records[n-1].Type == "end" {
			return
		}
		if time.Now().After(limit) {
			r.t.Fatalf("the turn goes on: %v", types(records))
		}
	}
}
