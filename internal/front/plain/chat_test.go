package plain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/front/plain"
	"garuda/internal/llm/script"
	"garuda/internal/testkit"
)

// TestNothingRawReachesTheTerminal reads every golden screen: beside newlines,
// tabs and, with colour, the chat's own styles, no control character is on any.
func TestNothingRawReachesTheTerminal(t *testing.T) {
	for _, color := range []bool{false, true} {
		d := &dialog{t: t, clock: testkit.NewClock(), options: plain.Options{IsTerminal: true, Color: color, Redraw: color, ShowThinking: color}}
		nasty := "\x1b[2J\x1b]0;title\x07 \r over \u202e \u200b \u009b1A \x00 \x7f \xff"
		d.begin(&script.Scenario{Version: 1, Steps: []script.Step{
			{Text: nasty, Thinking: nasty, Calls: []script.Call{
				{Name: "cmd", Input: inputJSON(t, callInput{Target: "free" + nasty, Print: nasty + "\n", Fail: nasty})},
				{Name: "look", Input: inputJSON(t, callInput{Target: nasty, Fail: nasty})},
				{Name: nasty, Input: inputJSON(t, callInput{Target: nasty})},
				{Name: "change", Input: inputJSON(t, callInput{Target: nasty, Diff: nasty})},
			}},
			{Text: nasty},
		}})
		d.step("type", "go")
		d.step("wait", "y/a/n› ")
		d.step("advance", "1s")
		d.step("type", "y "+nasty)
		d.step("wait", "done ·")
		d.step("type", "/"+nasty)
		d.step("wait", "error: there is no command")
		d.step("type", "/sessions "+nasty)
		d.step("wait", "error: find session")
		d.end()
		got := strings.ReplaceAll(d.screen.text(), nasty, "") // what the terminal itself echoed
		if color {
			for _, style := range []string{"0", "1", "2", "31", "32", "33"} {
				got = strings.ReplaceAll(got, "\x1b["+style+"m", "")
			}
			for _, draw := range []string{"\x1b7\x1b[?7l\x1b[K", "\x1b[?7h\x1b8", "\x1b[K"} {
				got = strings.ReplaceAll(got, draw, "")
			}
		}
		if strings.Contains(got, "\r") || core.Visible(got) != got {
			t.Errorf("color %v: the screen holds raw characters:\n%q", color, got)
		}
	}
}

func inputJSON(t *testing.T, in callInput) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestIdleWaitsForNothing: no timer runs while nothing moves, nor while a
// question waits.
func TestIdleWaitsForNothing(t *testing.T) {
	d := &dialog{t: t, clock: testkit.NewClock(), options: plain.Options{IsTerminal: true, Redraw: true}}
	d.begin(&script.Scenario{Version: 1, Steps: []script.Step{
		{Calls: []script.Call{{Name: "cmd", Input: inputJSON(t, callInput{Target: "make"})}}},
		{Text: "Done."},
	}})
	idle := func(when string) {
		t.Helper()
		if n := d.clock.Waiting(); n > 0 {
			t.Errorf("%s: %d timers run", when, n)
		}
	}
	d.step("wait", "› ")
	idle("at the start")
	d.step("type", "go")
	d.step("wait", "y/a/p/n› ")
	idle("at a question")
	d.step("advance", "400ms")
	d.step("type", "y")
	d.step("wait", "done ·")
	d.step("wait", "› ")
	idle("after a turn")
	d.end()
}

// TestDropTyped: what is half typed when a question appears is dropped, and
// again when it may be answered; only then do keys count.
func TestDropTyped(t *testing.T) {
	drops := make(chan struct{}, 10)
	d := &dialog{t: t, clock: testkit.NewClock()}
	d.options = plain.Options{IsTerminal: true, DropTyped: func() { drops <- struct{}{} }}
	d.begin(&script.Scenario{Version: 1, Steps: []script.Step{
		{Calls: []script.Call{{Name: "cmd", Input: inputJSON(t, callInput{Target: "make"})}}},
		{Text: "Done."},
	}})
	d.step("wait", "› ")
	if len(drops) > 0 {
		t.Error("typed keys were dropped before a question")
	}
	d.step("type", "go")
	d.step("wait", "y/a/p/n› ")
	if n := len(drops); n != 1 {
		t.Errorf("keys were dropped %d times as the question appeared, want once", n)
	}
	<-drops
	d.step("tick", "400ms")
	select {
	case <-drops:
	case <-time.After(20 * time.Second):
		t.Error("keys typed while the question appeared were not dropped")
	}
	d.step("type", "y")
	d.step("wait", "done ·")
	d.end()
}

// TestTurnThatDoesNotStop: one press stops the turn, two more leave, and the
// session that does not end is given up after its time.
func TestTurnThatDoesNotStop(t *testing.T) {
	release := make(chan struct{})
	d := &dialog{t: t, clock: testkit.NewClock(), interrupts: make(chan os.Signal), options: plain.Options{IsTerminal: true}}
	d.begin(&script.Scenario{Version: 1, Steps: []script.Step{
		{Text: "deaf", Wait: func(context.Context) error { <-release; return nil }},
	}})
	d.step("wait", "› ")
	d.step("type", "go")
	d.step("wait", "deaf")
	d.step("interrupt", "")
	d.step("wait", "stopping the turn")
	d.step("interrupt", "")
	d.step("wait", "still stopping")
	d.step("interrupt", "")
	d.step("tick", "5s")
	d.exits("130")
	if d.err == nil || !strings.Contains(d.err.Error(), "did not end within 5s") {
		t.Errorf("error %v, want that the session did not end", d.err)
	}
	close(release)
	if err := d.host.current.Close(); err != nil {
		t.Error(err)
	}
	d.end()
}

type brokenWriter struct{ after int }

func (w *brokenWriter) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

func TestEndsFromOutside(t *testing.T) {
	inputFails := errors.New("input/output error")
	canceled, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the terminal was closed"))
	for _, tt := range []struct {
		name     string
		ctx      context.Context
		in       io.Reader
		out      io.Writer
		wantExit int
		wantErr  string
	}{
		{"output fails", t.Context(), strings.NewReader("hello\n/usage\n"), &brokenWriter{after: 3}, 1, "write to standard output: broken pipe"},
		{"input fails", t.Context(), io.MultiReader(strings.NewReader("hello\n"), failingReader{inputFails}), io.Discard, 1, "read the input: input/output error"},
		{"context ends", canceled, blockingReader(t), io.Discard, 1, "the terminal was closed"},
		{"input ends", t.Context(), strings.NewReader("hello, without a newline"), io.Discard, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := testkit.NewClock()
			model, err := script.New(&script.Scenario{Version: 1, Steps: []script.Step{{Text: "Hello."}}}, script.Options{})
			if err != nil {
				t.Fatal(err)
			}
			exit, err := plain.Run(tt.ctx, plain.Options{Host: newFakeHost(clock, model), In: tt.in, Out: tt.out, Clock: clock})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if exit != tt.wantExit || got != tt.wantErr {
				t.Errorf("exit %d, error %q; want %d, %q", exit, got, tt.wantExit, tt.wantErr)
			}
		})
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// blockingReader gives nothing until the test ends.
func blockingReader(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}

// BenchmarkStream prints a long answer as it streams.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("A line of an answer that is being written.\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		clock := testkit.NewClock()
		model, err := script.New(&script.Scenario{Version: 1, Steps: []script.Step{{Text: text}}}, script.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var out bytes.Buffer
		o := plain.Options{Host: newFakeHost(clock, model), In: strings.NewReader("go\n"), Out: &out, Clock: clock}
		if _, err := plain.Run(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}
