//go:build unix

package plain_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"garuda/internal/core"
	"garuda/internal/llm"
	"garuda/internal/llm/script"
)

// terminal is a chat in a pseudo terminal.
type terminal struct {
	t      *testing.T
	pty    *os.File
	cmd    *exec.Cmd
	screen recorder
	copied chan struct{}
}

func startTerminal(t *testing.T, steps ...script.Step) *terminal {
	t.Helper()
	for i := range steps {
		if steps[i].Error == nil {
			steps[i].Usage = &core.Usage{Input: 100, Output: 10}
		}
	}
	scenario, err := json.Marshal(script.Scenario{Version: script.Version, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), scenarioVariable+"="+string(scenario))
	file, err := pty.Start(cmd)
	if err != nil {
		t.Skipf("this machine gives no pseudo terminal: %v", err)
	}
	term := &terminal{t: t, pty: file, cmd: cmd, copied: make(chan struct{})}
	term.screen.init()
	go func() {
		defer close(term.copied)
		_, _ = io.Copy(&term.screen, file) // ends with EIO when the chat does
	}()
	return term
}

func (x *terminal) wait(text string) {
	x.t.Helper()
	if !x.screen.wait(text) {
		x.t.Fatalf("waited in vain for %q; the screen is\n%s", text, x.screen.text())
	}
}

// keys types without an Enter of its own.
func (x *terminal) keys(s string) {
	x.t.Helper()
	if _, err := x.pty.WriteString(s); err != nil {
		x.t.Fatal(err)
	}
}

func (x *terminal) ends(want int) {
	x.t.Helper()
	err := x.cmd.Wait()
	<-x.copied
	x.pty.Close()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	if got := x.cmd.ProcessState.ExitCode(); got != want {
		x.t.Errorf("exit code %d, want %d; the screen is\n%s", got, want, x.screen.text())
	}
}

// readingTime is how long a question stands before an answer counts.
const readingTime = 400 * time.Millisecond

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

func call(t *testing.T, name string, in callInput) []script.Call {
	return []script.Call{{Name: name, Input: inputJSON(t, in)}}
}

func TestTerminalChat(t *testing.T) {
	x := startTerminal(t,
		script.Step{Calls: call(t, "cmd", callInput{Target: "free sleep", Print: "working\n", Hang: true})},
		script.Step{Text: "It was stopped."},
	)
	x.wait("› ")
	x.keys("run it\r")
	x.wait("working")
	x.keys(ctrlC)
	x.wait("stopped the command, the turn goes on")
	x.wait("It was stopped.")
	x.wait("done ·")
	x.wait("› ")
	x.keys("half a li" + ctrlC)
	x.wait("press Ctrl-C again within 2 s to exit")
	x.wait("› ")
	x.keys("/help\r") // the half line is gone
	x.wait("this list")
	x.wait("› ")
	x.keys(ctrlD)
	x.ends(0)
}

// TestTerminalCountsDown: the seconds until a request is sent again stand on the
// screen, and a line that is typed meanwhile is taken.
func TestTerminalCountsDown(t *testing.T) {
	x := startTerminal(t,
		script.Step{Error: &script.Failure{Kind: llm.ErrOverloaded, Message: "Overloaded", Status: 529}},
		script.Step{Text: "Now it works."}, script.Step{Text: "And again."},
	)
	x.wait("› ")
	x.keys("go\r")
	x.wait("attempt 2 of 4")
	x.wait(" in 1 s")
	x.keys("once more\r")
	x.wait("queued: once more")
	x.wait("Now it works.")
	x.wait("And again.")
	x.wait("done ·")
	x.wait("› ")
	x.keys(ctrlD)
	x.ends(0)
}

func TestTerminalSecondPressLeaves(t *testing.T) {
	x := startTerminal(t, script.Step{Text: "Hello."})
	x.wait("› ")
	x.keys(ctrlC)
	x.wait("press Ctrl-C again")
	x.wait("› ")
	x.keys(ctrlC)
	x.ends(0)
}

// TestTerminalHalfTypedLineIsNoAnswer: a word that was begun before a question
// and ended after it must not answer. Without DropTyped "a te" and "st" would
// be the answer "for this session" with a comment.
func TestTerminalHalfTypedLineIsNoAnswer(t *testing.T) {
	x := startTerminal(t,
		script.Step{Calls: call(t, "cmd", callInput{Target: "free sleep", Print: "working\n", Hang: true})},
		script.Step{Calls: call(t, "cmd", callInput{Target: "make", Print: "made\n"})},
		script.Step{Text: "As you like."},
	)
	x.wait("› ")
	x.keys("go\r")
	x.wait("working")
	x.keys("a te")
	x.wait("a te") // the terminal has it
	// Another way than Ctrl-C, which itself makes the terminal drop the line.
	if err := x.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	x.wait("y/a/p/n› ")
	// Answers count from now on; a longer wait would change nothing.
	<-time.After(readingTime + 100*time.Millisecond)
	x.keys("st\r")
	x.wait(`"st" is no answer`)
	x.keys("n\r")
	x.wait("→ denied")
	x.wait("done ·")
	x.keys(ctrlD)
	x.ends(0)
}
