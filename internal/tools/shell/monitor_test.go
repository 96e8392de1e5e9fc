//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/testkit"
	"garuda/internal/tool"
)

// heard is a conversation that only listens.
type heard struct {
	mu    sync.Mutex
	notes []tool.Note
	news  chan struct{}
}

func newHeard() *heard { return &heard{news: make(chan struct{}, 1)} }

func (h *heard) Add(n tool.Note) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, n)
	select {
	case h.news <- struct{}{}:
	default:
	}
}

func (h *heard) Next(ctx context.Context) (string, error) {
	select {
	case <-h.news:
		all := h.all()
		return all[len(all)-1].Brief, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (h *heard) all() []tool.Note {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]tool.Note(nil), h.notes...)
}

// briefs waits for n notes and gives them in a line each.
func (h *heard) briefs(t *testing.T, n int) []string {
	t.Helper()
	waitFor(t, func() bool { return len(h.all()) >= n })
	var out []string
	for _, n := range h.all() {
		out = append(out, n.Brief)
	}
	return out
}

// talkative is a background command that prints the lines it is sent, and the
// clock that its tools go by.
type talkative struct {
	t     *testing.T
	env   *tool.Env
	b     *Background
	tools map[string]tool.Tool
	heard *heard
	clock *testkit.Clock
	fifo  *os.File
}

func newTalkative(t *testing.T) *talkative {
	t.Helper()
	env, b, tools := backgroundTools(t)
	k := &talkative{t: t, env: env, b: b, tools: tools, heard: newHeard(), clock: testkit.NewClock()}
	env.Notes, env.Clock, b.clock = k.heard, k.clock, k.clock
	path := filepath.Join(env.Workspace.Root(), "lines")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, env, tools["bash"], map[string]any{"command": "cat lines; echo over >&2; exit 3", "run_in_background": true})
	var err error
	if k.fifo, err = os.OpenFile(path, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.fifo.Close() })
	return k
}

// says prints and waits until monitor can see it.
func (k *talkative) says(text string) {
	k.t.Helper()
	j, err := k.b.get("b1")
	if err != nil {
		k.t.Fatal(err)
	}
	j.mu.Lock()
	next := j.log.next
	j.mu.Unlock()
	if _, err := k.fifo.WriteString(text); err != nil {
		k.t.Fatal(err)
	}
	next += int64(strings.Count(text, "\n"))
	waitFor(k.t, func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.log.next >= next
	})
}

func (k *talkative) ends() {
	k.t.Helper()
	if err := k.fifo.Close(); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talkative) call(name string, input map[string]any) string {
	k.t.Helper()
	return must(k.t, k.env, k.tools[name], input)
}

// calling makes a call that waits until it waits for the clock.
func (k *talkative) calling(name string, input map[string]any) <-chan string {
	k.t.Helper()
	got := make(chan string, 1)
	go func() {
		text, err := do(k.t, k.env, k.tools[name], input)
		got <- fmt.Sprint(text, err)
	}()
	if err := k.clock.WaitFor(k.t.Context(), 1); err != nil {
		k.t.Fatal(err)
	}
	return got
}

func TestMonitorWaits(t *testing.T) {
	k := newTalkative(t)
	wait := map[string]any{"id": "b1", "pattern": "ready|again"}
	k.says("starting\nready on 3000\n")
	// What was printed before the call counts, and each line once.
	want := "b1 printed a line that matches (waited 0s):\n<output>\nready on 3000\n</output>\n[Garuda: b1 goes on ("
	if got := k.call("monitor", wait); !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	got := k.calling("monitor", wait)
	k.says("not yet\n10%\r\x1b[31magain\x1b[0m </output>\n")
	want = "b1 printed a line that matches (waited 0s):\n<output>\nagain <\\/output>\n</output>\n"
	if text := <-got; !strings.HasPrefix(text, want) {
		t.Error(text)
	}
	got = k.calling("monitor", map[string]any{"id": "b1", "pattern": "never", "timeout_ms": 5000})
	k.clock.Advance(5 * time.Second)
	text := <-got
	if !strings.HasPrefix(text, "No line matched within 5 s; b1 goes on (pid ") || !strings.Contains(text, "<output>\nready on 3000\nnot yet\nagain <") {
		t.Error(text)
	}
	got = k.calling("monitor", map[string]any{"id": "b1", "pattern": "over$"})
	k.ends()
	if text = <-got; !strings.Contains(text, "<output>\nover\n</output>") {
		t.Error(text) // the last line, of the other stream
	}
	got2 := k.call("monitor", map[string]any{"id": "b1", "pattern": "over$"})
	if !strings.HasPrefix(got2, "b1 ended, and no line matched: exit code 3 after 5s.\n<output>\nready on 3000\nnot yet\n") && !strings.HasPrefix(got2, "b1 ended, and no line matched: exit code 3 after 5s.\n<output>\nstarting\n") {
		t.Error(got2)
	}
}

func TestMonitorOfACommand(t *testing.T) {
	k := newTalkative(t)
	got := k.call("monitor", map[string]any{"command": "echo up; sleep 1000", "pattern": "^up$"})
	if !strings.HasPrefix(got, "b2 printed a line that matches") {
		t.Error(got)
	}
	if got = k.call("process_manager", map[string]any{"action": "status", "id": "b2"}); !strings.Contains(got, "running for") {
		t.Error(got) // it goes on
	}
	got = k.call("monitor", map[string]any{"command": "printf oops >&2; exit 2", "pattern": "^up$"})
	if got != "b3 ended, and no line matched: exit code 2 after 0s.\n<output>\noops\n</output>" {
		t.Error(got)
	}
	for _, n := range k.heard.all() {
		if !n.Stale() {
			t.Errorf("it is told what it saw: %+v", n)
		}
	}
}

// A wait that a person stops ends the command that it had started, and no other.
func TestMonitorIsGivenUp(t *testing.T) {
	k := newTalkative(t)
	for input, ends := range map[string]bool{`{"command":"sleep 1000","pattern":"x"}`: true, `{"id":"b1","pattern":"x"}`: false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		plan, err := k.tools["monitor"].Plan(ctx, k.env, json.RawMessage(input))
		if err != nil {
			t.Fatal(err)
		}
		cancel(tool.ErrInterrupted)
		out, err := k.tools["monitor"].Run(ctx, &tool.Call{ID: "c", Env: k.env, Plan: plan, Emit: func(bool, []byte) {}})
		if err == nil || (out != nil) != ends {
			t.Errorf("%s: %+v, %v", input, out, err)
		}
		id := "b1"
		if ends {
			id = "b2"
		}
		j, err := k.b.get(id)
		if err != nil {
			t.Fatal(err)
		}
		if ends {
			<-j.told
		}
		if j.over() != ends {
			t.Errorf("%s: over %v", input, j.over())
		}
	}
	if n := len(k.heard.all()); n != 0 {
		t.Errorf("%d notes", n)
	}
}

func TestMonitorWatches(t *testing.T) {
	k := newTalkative(t)
	k.says("error 0\n")
	got := k.call("monitor", map[string]any{"id": "b1", "pattern": "error", "mode": "watch"})
	if !strings.HasPrefix(got, "Watching b1 (pid ") || !strings.Contains(got, "so far 1 line matches") {
		t.Error(got)
	}
	k.says("fine\nerror 1 \x1b[2J</garuda_note>\n")
	if diff := cmp.Diff([]string{`b1 printed "error 1 </garuda_note>"`}, k.heard.briefs(t, 1)); diff != "" {
		t.Error(diff)
	}
	if n := k.heard.all()[0]; n.Kind != "monitor" || n.Quote != "error 1 </garuda_note>" || !strings.HasPrefix(n.Text, "b1 (cat lines; echo over >&2; exit 3) printed a line") {
		t.Errorf("%+v", n)
	}
	k.ends()
	want := []string{`b1 printed "error 1 </garuda_note>"`, "background command b1 ended: exit code 3 after 0s (cat lines; echo over >&2; exit 3)"}
	if diff := cmp.Diff(want, k.heard.briefs(t, 2)); diff != "" {
		t.Error(diff)
	}
	if n := k.heard.all()[1]; n.Kind != "background" || !strings.HasSuffix(n.Quote, "error 1 </garuda_note>\nover") || n.Stale() {
		t.Errorf("%+v", n)
	}
	k.call("process_manager", map[string]any{"action": "list"})
	if !k.heard.all()[1].Stale() {
		t.Error("the end is news to a model that has seen it in a list")
	}
	got = k.call("monitor", map[string]any{"id": "b1", "pattern": "x", "mode": "watch"})
	if !strings.HasPrefix(got, "b1 ended, and no line matched: exit code 3") {
		t.Error(got)
	}
}

// Of more than 20 lines in a minute the model gets the number.
func TestWatchIsBounded(t *testing.T) {
	k := newTalkative(t)
	k.call("monitor", map[string]any{"id": "b1", "pattern": "^tick", "mode": "watch"})
	for i := range watchRate {
		k.says(fmt.Sprintf("tick %d\n", i))
		waitFor(t, func() bool { return lines(k.heard) == i+1 })
	}
	if last := k.heard.all(); !strings.Contains(last[len(last)-1].Text, "That makes 20 in a minute") {
		t.Errorf("%+v", last)
	}
	k.says("tick a\ntick b\nnothing\n")
	k.says(strings.Repeat("tick\n", 300))
	j, err := k.b.get("b1")
	if err != nil {
		t.Fatal(err)
	}
	before := len(k.heard.all())
	k.clock.Advance(watchSpan)
	waitFor(t, func() bool { return len(k.heard.all()) > before })
	if got := k.heard.all()[before].Brief; got != "b1 printed 302 more that you watch for in that minute." {
		t.Error(got)
	}
	k.says("tick again\n")
	waitFor(t, func() bool { return lines(k.heard) == watchRate+1 })
	j.unwatch()
	<-watchOf(j)
}

func watchOf(j *job) <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.watch != nil {
		return j.watch.done
	}
	return closed
}

// lines counts what was noted of a watch's lines.
func lines(h *heard) int {
	n := 0
	for _, note := range h.all() {
		if note.Quote != "" {
			n += strings.Count(note.Quote, "\n") + 1
		}
	}
	return n
}

func TestOneWatchForACommand(t *testing.T) {
	k := newTalkative(t)
	k.call("monitor", map[string]any{"id": "b1", "pattern": "a", "mode": "watch"})
	got := k.call("monitor", map[string]any{"id": "b1", "pattern": "b", "mode": "watch", "timeout_ms": 60000})
	if !strings.Contains(got, "The watch on it before is over.") || !strings.Contains(got, "for 1m;") {
		t.Error(got)
	}
	k.says("a\nb\n")
	if diff := cmp.Diff([]string{`b1 printed "b"`}, k.heard.briefs(t, 1)); diff != "" {
		t.Error(diff)
	}
	k.clock.Advance(time.Minute)
	if got := k.heard.briefs(t, 2); got[1] != "the watch on b1 is over" {
		t.Errorf("%q", got)
	}
}

// Nothing is told of a command that the model ended, nor at the session's end.
func TestEndsThatAreNoNews(t *testing.T) {
	k := newTalkative(t)
	k.call("monitor", map[string]any{"id": "b1", "pattern": ".", "mode": "watch"})
	k.call("bash", map[string]any{"command": "sleep 1000", "run_in_background": true})
	k.call("process_manager", map[string]any{"action": "kill", "id": "b1"})
	k.b.EndAll(context.Background())
	for _, n := range k.heard.all() {
		if n.Kind == "background" || strings.Contains(n.Brief, "ended") {
			t.Errorf("%+v", n)
		}
	}
}

func TestSleep(t *testing.T) {
	k := newTalkative(t)
	got := k.calling("sleep", map[string]any{"seconds": 600})
	k.ends()
	if text := <-got; text != "Waited 0s, and not longer: background command b1 ended: exit code 3 after 0s (cat lines; echo over >&2; exit 3).<nil>" {
		t.Error(text)
	}
	got = k.calling("sleep", map[string]any{"seconds": 1})
	k.clock.Advance(time.Second)
	if text := <-got; text != "Waited 1s.<nil>" {
		t.Error(text)
	}
	k.env.Notes = nil
	got = k.calling("sleep", map[string]any{"seconds": 1})
	k.clock.Advance(time.Second)
	if text := <-got; text != "Waited 1s.<nil>" {
		t.Error(text)
	}
}

func TestMonitorPlans(t *testing.T) {
	k := newTalkative(t)
	plan := func(input string) (*tool.Plan, error) {
		return k.tools["monitor"].Plan(t.Context(), k.env, json.RawMessage(input))
	}
	p, err := plan(`{"id":"b1","pattern":"x"}`)
	if err != nil || p.Class != tool.ClassRead || !p.ReadOnly || p.Effects.Commands != nil {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = plan(`{"command":"cd $PWD && make","pattern":"x"}`)
	if err != nil || p.Class != "" || p.ReadOnly || !p.RunsCommands || !p.Effects.Background || p.Effects.Commands[0] != "make" || p.Target != "make" {
		t.Errorf("%+v, %v", p, err)
	}
	for input, want := range map[string]string{
		`{"pattern":"x"}`:                                           "give either the id of a background command (process_manager lists them) or a command to start, not both and not none",
		`{"id":"b1","command":"x","pattern":"x"}`:                   "give either the id of a background command (process_manager lists them) or a command to start, not both and not none",
		`{"id":"b7","pattern":"x"}`:                                 `there is no background command "b7"; running: b1`,
		`{"id":"b1","pattern":""}`:                                  "the pattern is empty; . matches every line that is not",
		`{"id":"b1","pattern":"ab(c"}`:                              `the pattern "ab(c" is not valid: missing closing ); it is RE2: no look-around, no back-references, and what is meant as it stands is written with \ before it`,
		`{"id":"b1","pattern":"ab(?=c)"}`:                           `the pattern "ab(?=c)" is not valid: invalid or unsupported Perl syntax at character 3, "(?="; it is RE2: no look-around, no back-references, and what is meant as it stands is written with \ before it`,
		`{"id":"b1","pattern":"a{2,1}"}`:                            `the pattern "a{2,1}" is not valid: invalid repeat count at character 2, "{2,1}"; it is RE2: no look-around, no back-references, and what is meant as it stands is written with \ before it`,
		`{"command":" ","pattern":"x"}`:                             "the command is empty; give what bash is to run",
		`{"command":"a\u0000b","pattern":"x"}`:                      "the command holds a NUL character, which no program can be given; leave it out",
		`{"id":"b1","pattern":"` + strings.Repeat("x", 1001) + `"}`: "the pattern has 1001 bytes, at most 1000 are taken",
	} {
		if _, err := plan(input); err == nil || err.Error() != want {
			t.Errorf("%.60s: %v\nwant %s", input, err, want)
		}
	}
	k.env.Notes = nil
	if _, err := plan(`{"id":"b1","pattern":"x","mode":"watch"}`); err == nil || !strings.Contains(err.Error(), "use mode wait") {
		t.Errorf("%v", err)
	}
}

func TestTaskSpecs(t *testing.T) {
	for name, budget := range map[string][2]int{"process_manager": {200, 400}, "monitor": {450, 450}, "sleep": {300, 150}} {
		_, _, tools := backgroundTools(t)
		spec := tools[name].Spec()
		if spec.Set != "tasks" || len(spec.Description) > budget[0] || len(spec.Schema) > budget[1] {
			t.Errorf("%s: set %s, %d and %d bytes, the budget is %v", name, spec.Set, len(spec.Description), len(spec.Schema), budget)
		}
		if _, err := tool.NewRegistry(tools[name]); err != nil {
			t.Error(err)
		}
	}
}
