package plain_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"garuda/internal/core"
	"garuda/internal/front/plain"
	"garuda/internal/llm"
	"garuda/internal/llm/script"
	"garuda/internal/testkit"
)

var update = flag.Bool("update", false, "write the transcripts of testdata anew")

func TestMain(m *testing.M) {
	if scenario := os.Getenv(scenarioVariable); scenario != "" {
		os.Exit(chatOnTerminal(scenario))
	}
	goleak.VerifyTestMain(m)
}

// TestDialogs plays the dialogues of testdata. Each file holds what a person
// does (script), what the model says (model), and the whole screen as the person
// sees it (screen). The script's lines are:
//
//	pipe             at the top: the input is no terminal
//	color            at the top: with colours
//	redraw           at the top: times are drawn anew
//	prompt TEXT      at the top: the first prompt
//	hold N           at the top: the model's step N waits until it is stopped
//	held N           until the model is asked for its step N, which is held
//	hang             at the top: the host's New waits until it is stopped
//	wait TEXT        until the screen shows TEXT after what was waited for last
//	type TEXT        a line and Enter
//	advance TIME     the clock moves on
//	tick TIME [N]    the same, once N things (1 without it) wait for the time
//	interrupt        Ctrl-C
//	eof              Ctrl-D, or the pipe's end
//	exits CODE       the chat ends with this code
func TestDialogs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rest, want, _ := strings.Cut(string(data), screenMark)
			title, rest, _ := strings.Cut(rest, "-- script --\n")
			steps, model, _ := strings.Cut(rest, "-- model --\n")
			got := playDialog(t, file, steps, model)
			if *update {
				text := title + "-- script --\n" + steps
				if model != "" {
					text += "-- model --\n" + model
				}
				if err := os.WriteFile(file, []byte(text+screenMark+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("screen (-want +got; -update writes it anew):\n%s", diff)
			}
		})
	}
}

const screenMark = "-- screen --\n"

func playDialog(t *testing.T, file, steps, model string) string {
	d := &dialog{t: t, held: map[string]chan struct{}{}, clock: testkit.NewClock(), interrupts: make(chan os.Signal)}
	var scenario *script.Scenario
	if model != "" {
		var err error
		if scenario, err = script.Parse(file, []byte(model)); err != nil {
			t.Fatal(err)
		}
	}
	d.options = plain.Options{IsTerminal: true}
	for line := range strings.Lines(steps) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "pipe":
			d.options.IsTerminal = false
		case "color":
			d.options.Color = true
		case "redraw":
			d.options.Redraw = true
		case "prompt":
			d.options.FirstPrompt = rest
		case "hang":
			d.hang = true
		case "hold":
			n, err := strconv.Atoi(rest)
			if err != nil {
				t.Fatal(err)
			}
			held := make(chan struct{})
			d.held[rest] = held
			scenario.Steps[n-1].Wait = func(ctx context.Context) error {
				close(held) // once: each step is asked for once
				<-ctx.Done()
				return ctx.Err()
			}
		default:
			d.begin(scenario)
			d.step(word, rest)
		}
	}
	d.end()
	return d.screen.text()
}

// dialog is one chat that a test drives.
type dialog struct {
	t          *testing.T
	clock      *testkit.Clock
	options    plain.Options
	hang       bool
	held       map[string]chan struct{}
	host       *fakeHost
	screen     recorder
	in         *io.PipeWriter
	interrupts chan os.Signal
	ended      chan int
	err        error
}

func (d *dialog) begin(scenario *script.Scenario) {
	if d.host != nil {
		return
	}
	if scenario == nil {
		scenario = &script.Scenario{Version: script.Version, Steps: []script.Step{{Text: "nothing"}}}
	}
	for i := range scenario.Steps {
		if s := &scenario.Steps[i]; s.Usage == nil && s.Error == nil {
			s.Usage = &core.Usage{Input: 100, Output: 10}
		}
	}
	model, err := script.New(scenario, script.Options{Info: &llm.Info{Spec: "script/demo", Provider: "script", ID: "demo",
		Format: script.Format, ContextWindow: 200_000, Known: true, Price: core.Price{Known: true, Input: 1, Output: 5}}})
	if err != nil {
		d.t.Fatal(err)
	}
	d.host = newFakeHost(d.clock, model)
	if d.hang {
		d.host.hangs = func() { d.screen.echo("(the host waits)\n") }
	}
	d.host.list = sampleSessions()
	in, w := io.Pipe()
	d.in = w
	d.screen.init()
	o := d.options
	o.Host, o.In, o.Out, o.Interrupts, o.Clock = d.host, in, &d.screen, d.interrupts, d.clock
	d.ended = make(chan int, 1)
	go func() {
		code, err := plain.Run(d.t.Context(), o)
		d.err = err
		_ = in.Close()
		d.ended <- code
	}()
}

func sampleSessions() []plain.SessionInfo {
	at := time.Date(2026, 2, 28, 9, 30, 0, 0, time.UTC)
	return []plain.SessionInfo{
		{ID: "20260301-120000-0001", Time: at.Add(2 * time.Hour), FirstPrompt: "fix the test", Turns: 1, Model: "script/demo", Cost: core.Cost{USD: 0.0042, Known: true}},
		{ID: "20260228-093000-aaaa", Time: at, Title: "Move the parser", FirstPrompt: "move it", Turns: 3, Model: "fake/big", Cost: core.Cost{USD: 1.5, Known: true}, AtLeast: true},
		{ID: "20260227-080000-bbbb", Time: at.Add(-25 * time.Hour), Model: "fake/new"},
	}
}

func (d *dialog) step(word, rest string) {
	d.t.Helper()
	switch word {
	case "wait":
		if !d.screen.wait(rest) {
			d.t.Fatalf("waited in vain for %q; the screen is\n%s", rest, d.screen.text())
		}
	case "type":
		if d.options.IsTerminal {
			d.screen.echo(rest + "\n")
		}
		if _, err := io.WriteString(d.in, rest+"\n"); err != nil {
			d.t.Fatalf("type %q: %v; the screen is\n%s", rest, err, d.screen.text())
		}
	case "advance", "tick":
		text, count, _ := strings.Cut(rest, " ")
		by, err := time.ParseDuration(text)
		if err != nil {
			d.t.Fatal(err)
		}
		if word == "tick" {
			n := 1
			if count != "" {
				if n, err = strconv.Atoi(count); err != nil {
					d.t.Fatal(err)
				}
			}
			if err := d.clock.WaitFor(d.t.Context(), n); err != nil {
				d.t.Fatalf("nothing waits for the time to pass; the screen is\n%s", d.screen.text())
			}
		}
		d.clock.Advance(by)
	case "interrupt":
		if d.options.IsTerminal {
			d.screen.echo("^C")
		}
		select {
		case d.interrupts <- os.Interrupt:
		case <-time.After(20 * time.Second):
			d.t.Fatalf("Ctrl-C is not taken; the screen is\n%s", d.screen.text())
		}
	case "held":
		select {
		case <-d.held[rest]:
		case <-time.After(20 * time.Second):
			d.t.Fatalf("the model is not asked for step %s; the screen is\n%s", rest, d.screen.text())
		}
	case "eof":
		d.in.Close()
	case "exits":
		d.exits(rest)
	default:
		d.t.Fatalf("unknown step %q", word)
	}
}

func (d *dialog) exits(want string) {
	d.t.Helper()
	select {
	case code := <-d.ended:
		if got := strconv.Itoa(code); got != want {
			d.t.Errorf("exit code %s, want %s (error: %v)", got, want, d.err)
		}
		d.ended = nil
	case <-time.After(20 * time.Second):
		d.t.Fatalf("the chat does not end; the screen is\n%s", d.screen.text())
	}
}

func (d *dialog) end() {
	d.t.Helper()
	d.in.Close()
	if d.ended != nil {
		d.exits("0")
	}
}

// recorder is a screen that can be waited for.
type recorder struct {
	mu      sync.Mutex
	changed *sync.Cond
	data    bytes.Buffer
	passed  int
	over    bool
}

func (r *recorder) init() { r.changed = sync.NewCond(&r.mu) }

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.data.Write(p)
	r.changed.Broadcast()
	return len(p), nil
}

// echo is what a terminal shows of what is typed.
func (r *recorder) echo(s string) { _, _ = r.Write([]byte(s)) }

// wait returns when the screen shows the text after what was waited for last;
// false means that it did not within a time that is long enough for anything.
func (r *recorder) wait(text string) bool {
	stop := time.AfterFunc(20*time.Second, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.over = true
		r.changed.Broadcast()
	})
	defer stop.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if i := bytes.Index(r.data.Bytes()[r.passed:], []byte(text)); i >= 0 {
			r.passed += i + len(text)
			return true
		}
		if r.over {
			return false
		}
		r.changed.Wait()
	}
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data.String()
}
