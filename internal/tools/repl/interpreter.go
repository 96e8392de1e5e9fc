package repl

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"strconv"
	"sync"
	"time"

	"garuda/internal/core"
	"garuda/internal/sandbox"
	"garuda/internal/tools/shell"
)

// How a call ended. Bash answers with an exit code instead of ok and error.
const (
	statusOK          = "ok"
	statusError       = "error"
	statusExit        = "exit" // the code ends the interpreter
	statusMissing     = "missing"
	statusEnded       = "ended"
	statusTimeout     = "timed out"
	statusInterrupted = "interrupted"
	statusBroken      = "no answer"
)

// interpreter is one running program that takes code.
type interpreter struct {
	clock   core.Clock
	process sandbox.Process
	framing func(token, code string) string
	// readOnly is true of one that was started in plan mode, and cannot write in the
	// project where a sandbox holds it.
	readOnly bool

	mu sync.Mutex
	// output is what was printed since the last call ended.
	output *shell.Screen
	// finder looks for the answer of the call that runs; nil between calls.
	finder *finder
	emit   func(stderr bool, chunk []byte)

	// answers gets the status of the call that runs.
	answers chan answered
	// ended closes when nothing of the program is left; result is set before.
	ended  chan struct{}
	result *sandbox.Result
}

// answered is what the finder found.
type answered struct {
	status string
	output *shell.Screen
}

// answer is how a call ended. how is set where the interpreter ended, err where the
// call was given up.
type answer struct {
	status, how string
	output      *shell.Screen
	err         error
}

// failed reports whether the model should see a failure.
func (a *answer) failed() bool {
	switch a.status {
	case statusOK, "0":
		return false
	case statusExit, statusEnded:
		return a.how != "exit code 0"
	}
	return true
}

// gone reports whether the interpreter is of no more use.
func (a *answer) gone() bool {
	switch a.status {
	case statusOK, statusError:
		return false
	}
	_, err := strconv.Atoi(a.status)
	return err != nil
}

// newToken is what marks one call's answer. Code cannot guess it.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func newInterpreter(clock core.Clock, p sandbox.Process, framing func(token, code string) string) *interpreter {
	it := &interpreter{
		clock: clock, process: p, framing: framing, output: shell.NewScreen(outputLimit),
		answers: make(chan answered, 1), ended: make(chan struct{}),
	}
	go it.attend()
	return it
}

// attend reads what the program prints until it has ended.
func (it *interpreter) attend() {
	var wg sync.WaitGroup
	for i, r := range []io.Reader{it.process.Stdout(), it.process.Stderr()} {
		wg.Go(func() { it.read(r, i == 0) })
	}
	res, _ := it.process.Wait() // its error is always nil: see sandbox.Process
	_ = it.process.Stdin().Close()
	wg.Wait()
	it.result = res
	close(it.ended)
}

// read takes one of the program's streams; the answers stand in the first.
func (it *interpreter) read(r io.Reader, answers bool) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		it.take(buf[:n], answers)
		if err != nil {
			return
		}
	}
}

func (it *interpreter) take(b []byte, answers bool) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if it.finder == nil || !answers {
		it.show(b)
		return
	}
	before, rest, status := it.finder.feed(b)
	it.show(before)
	if status == "" {
		return
	}
	it.answers <- answered{status, it.output}
	it.finder, it.emit, it.output = nil, nil, shell.NewScreen(outputLimit)
	it.show(rest)
}

// show adds to the output, and shows it where a call waits; the lock is held.
func (it *interpreter) show(b []byte) {
	it.output.Write(b)
	if it.emit != nil && len(b) > 0 {
		it.emit(false, b)
	}
}

func (it *interpreter) over() bool {
	select {
	case <-it.ended:
		return true
	default:
		return false
	}
}

// how says how the program ended, once it has.
func (it *interpreter) how() string {
	if it.result.Signal != "" {
		return it.result.Signal
	}
	return "exit code " + strconv.Itoa(it.result.ExitCode)
}

// ask runs code and waits for its end, at most for limit and until ctx ends. An
// interpreter that gave no answer in time is ended.
func (it *interpreter) ask(ctx context.Context, token, code string, limit time.Duration, emit func(bool, []byte)) *answer {
	it.mu.Lock()
	it.finder, it.emit = newFinder(token), emit
	it.mu.Unlock()
	late := make(chan struct{})
	defer it.clock.AfterFunc(limit, func() { close(late) })()
	// The write waits while the program does not read, and fails when it ends.
	go func() { _, _ = io.WriteString(it.process.Stdin(), it.framing(token, code)) }()
	select {
	case a := <-it.answers:
		return it.answered(a)
	case <-it.ended:
		return it.gaveUp(statusEnded, nil)
	case <-late:
		return it.gaveUp(statusTimeout, nil)
	case <-ctx.Done():
		return it.gaveUp(statusInterrupted, context.Cause(ctx))
	}
}

func (it *interpreter) answered(a answered) *answer {
	out := &answer{status: a.status, output: a.output}
	if out.status == statusExit {
		it.letEnd()
		out.how = it.how()
	}
	return out
}

// exitTime is how long a program that says that it exits may take to do so.
const exitTime = 2 * time.Second

// letEnd waits for a program that is about to end by itself, so that how it ends is
// its own doing, and kills what does not end with it.
func (it *interpreter) letEnd() {
	late := make(chan struct{})
	defer it.clock.AfterFunc(exitTime, func() { close(late) })()
	select {
	case <-it.ended:
	case <-late:
		it.process.Kill()
		<-it.ended
	}
}

// gaveUp ends the program and tells what it has printed. An answer that came as it
// ended counts.
func (it *interpreter) gaveUp(status string, err error) *answer {
	it.process.Kill()
	<-it.ended
	it.mu.Lock()
	defer it.mu.Unlock()
	it.finder, it.emit = nil, nil
	if status == statusEnded {
		select {
		case a := <-it.answers:
			return &answer{status: lastStatus(a.status), output: a.output, how: it.how()}
		default: // it ended without one
		}
	}
	return &answer{status: status, output: it.output, how: it.how(), err: err}
}

// lastStatus is the status of a program that ended after its answer.
func lastStatus(status string) string {
	if status == statusMissing || status == statusBroken {
		return status
	}
	return statusEnded
}
