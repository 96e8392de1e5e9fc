//go:build unix

package kill_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"garuda/internal/testkit/modelserver"
)

// Output that cannot be written ends the run with a failure that says so, in
// order: the turn is stopped, the journal ends, nothing runs on.
func TestOutputThatFails(t *testing.T) {
	for _, tc := range []struct {
		name   string
		output func(t *testing.T) *os.File
		wants  string
	}{
		{"full", func(t *testing.T) *os.File {
			f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				t.Skip(err)
			}
			return f
		}, "no space left"},
		{"a reader that left", func(t *testing.T) *os.File {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			return w
		}, "broken pipe"},
	} {
		for _, format := range []string{"text", "json", "stream-json"} {
			t.Run(tc.name+"/"+format, func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				p.serve("chat", append([]modelserver.Step{{Text: "words first", Calls: bash("sleep 60")[0].Calls}}, bash("")...)...)
				if format == "json" {
					p.serve("chat", modelserver.Step{Text: "the end"})
				}
				cmd := p.garuda("-p", "--yolo", "--output-format", format, "go")
				var stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = tc.output(t), &stderr
				start := time.Now()
				_ = cmd.Run()
				if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), tc.wants) {
					t.Errorf("exit code %d, %s", code, stderr.String())
				}
				if lasted := time.Since(start); lasted > exitLimit {
					t.Errorf("it took %s", lasted)
				}
				if format == "stream-json" {
					return // the first line failed already, before there was a turn
				}
				if _, records := p.journal(); len(records) == 0 || records[len(records)-1].Type != "end" {
					t.Errorf("the journal ends with %v", types(records))
				}
			})
		}
	}
}

// Without any standard stream a run does its work all the same.
func TestClosedStreams(t *testing.T) {
	for _, closed := range []string{"2>&-", ">&-", "<&-", "<&- >&- 2>&-"} {
		p := newProject(t)
		p.serve("chat", bash("echo done > done.txt")...)
		cmd := p.garuda()
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "exec " + binary + " -p --yolo go " + closed}
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", closed, err)
		}
		if p.read("done.txt") != "done\n" {
			t.Errorf("%s: the work was not done", closed)
		}
	}
}

// What is caught here must reach commands as it always does: `yes` ends when
// `head` has enough.
func TestCommandsGetBrokenPipes(t *testing.T) {
	p := newProject(t)
	cmd := p.garuda("tools", "call", "--yolo", "bash", `{"command":"set -o pipefail; yes | head -1; echo \"code $?\""}`)
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "code 141") {
		t.Errorf("%v: %s", err, out)
	}
}

// A command line that is cut off by head leaves nothing behind.
func TestPipedIntoHead(t *testing.T) {
	p := newProject(t)
	p.serve("chat", modelserver.Step{Text: strings.Repeat("line\n", 100_000), Wire: &modelserver.Wire{Fragment: 4000}})
	cmd := p.garuda()
	bashPath, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	cmd.Path, cmd.Args = bashPath, []string{"bash", "-c", binary + " -p go | head -1; echo ${PIPESTATUS[0]}"}
	out, err := cmd.Output()
	if err != nil || string(out) != "line\n1\n" {
		t.Errorf("%v: %q", err, out)
	}
}
