//go:build unix

package kill_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/testkit/modelserver"
)

const quickKills = 10

// kills is how many runs are killed: GARUDA_KILLS, or a few.
func kills(t *testing.T) int {
	text := os.Getenv("GARUDA_KILLS")
	if text == "" {
		return quickKills
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("GARUDA_KILLS is %q, want a number from 1 on", text)
	}
	return n
}

// TestKill ends a run of 20 steps with SIGKILL at a random moment, again and
// again. Each time the journal must load with everything that anybody could have
// seen to be done, and the run must go on with a request that a strict server
// accepts and that continues the last one byte for byte.
func TestKill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("GARUDA_KILL_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("GARUDA_KILL_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	formats := []string{"chat", "anthropic", "responses", "gemini"}
	lasts := map[string]time.Duration{}
	for _, format := range formats {
		lasts[format] = wholeRun(t, format)
	}
	var mu sync.Mutex
	moments := map[string]int{}
	t.Run("kills", func(t *testing.T) {
		for n := range kills(t) {
			format := formats[n%len(formats)]
			var after []time.Duration
			for range 1 + random.IntN(2) {
				after = append(after, time.Duration(random.Int64N(int64(lasts[format]))))
			}
			t.Run(fmt.Sprintf("%d/%s", n, format), func(t *testing.T) {
				t.Parallel()
				v := &victim{project: newProject(t), format: format}
				v.files()
				for _, d := range after {
					v.runAndKill(d)
					v.check()
				}
				mu.Lock()
				moments[v.lastRecord()]++
				mu.Unlock()
				v.goOn()
			})
		}
	})
	t.Logf("the last record before the kill: %v", moments)
}

// wholeRun is how long a run takes that nobody kills.
func wholeRun(t *testing.T, format string) time.Duration {
	t.Helper()
	v := &victim{project: newProject(t), format: format}
	v.files()
	v.serve(format, twentySteps(0)...)
	start := time.Now()
	out, err := v.garuda("-p", "--yolo", "--output-format", "json", "go").Output()
	if err != nil {
		t.Fatalf("a run that nobody kills: %v\n%s", err, out)
	}
	lasts := time.Since(start)
	t.Logf("%s: a whole run takes %s", format, lasts.Round(time.Millisecond))
	return lasts
}

// twentySteps reads, writes, edits, searches and runs commands, some of which
// leave processes behind. Names and texts are those of round n.
func twentySteps(n int) []modelserver.Step {
	var steps []modelserver.Step
	input := func(v map[string]any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return b
	}
	for i := range 19 {
		mark := fmt.Sprintf("r%ds%d", n, i)
		id := "call_" + mark
		var step modelserver.Step
		switch i % 5 {
		case 0:
			step = modelserver.Step{Text: "Look around.", Calls: []modelserver.Call{
				{ID: id + "a", Name: "read_file", Input: input(map[string]any{"path": "notes.txt", "offset": i + 1})},
				{ID: id + "b", Name: "glob", Input: input(map[string]any{"pattern": "*" + mark + "*"})},
			}}
		case 1:
			step.Calls = []modelserver.Call{{ID: id, Name: "write_file", Input: input(map[string]any{"path": mark + ".txt", "content": "one\ntwo\n"})}}
		case 2:
			step.Thinking = "This one needs a command."
			step.Calls = []modelserver.Call{{ID: id, Name: "bash", Input: input(map[string]any{
				"command": "echo " + id + " >> ran.txt; setsid sleep 60 >/dev/null 2>&1 & sleep 0.03; echo done"})}}
		case 3:
			step.Calls = []modelserver.Call{{ID: id, Name: "edit_file", Input: input(map[string]any{
				"path": fmt.Sprintf("r%ds%d.txt", n, i-2), "old_string": "two", "new_string": "three"})}}
		case 4:
			step = modelserver.Step{Thinking: "Where is it?", Calls: []modelserver.Call{
				{ID: id, Name: "grep", Input: input(map[string]any{"pattern": "line 1" + strconv.Itoa(i)})}}}
		}
		steps = append(steps, step)
	}
	return append(steps, modelserver.Step{Text: "All of it is done."})
}

// victim is a project whose runs are killed.
type victim struct {
	*project
	format string
	rounds int
	// seen is what the runs printed so far, a file for each.
	out []byte
	// last is the newest request that a server got whole; nil before the first.
	last []byte
	// pids are the killed processes'.
	pids []int
}

func (v *victim) files() {
	var notes strings.Builder
	for i := range 400 {
		fmt.Fprintf(&notes, "line %d of the notes\n", i)
	}
	v.write("notes.txt", notes.String())
}

// runAndKill starts a run, goes on with what is there, and kills it after a while.
func (v *victim) runAndKill(after time.Duration) {
	v.t.Helper()
	server := v.serve(v.format, twentySteps(v.rounds)...)
	out, err := os.Create(filepath.Join(v.home, fmt.Sprintf("out%d", v.rounds)))
	if err != nil {
		v.t.Fatal(err)
	}
	defer out.Close()
	cmd := v.garuda("-p", "-c", "--yolo", "--output-format", "stream-json", fmt.Sprintf("round %d", v.rounds))
	cmd.Stdout = out
	v.rounds++
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.pids = append(v.pids, cmd.Process.Pid)
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // it was killed, or was quicker
	timer.Stop()
	printed, err := os.ReadFile(out.Name())
	if err != nil {
		v.t.Fatal(err)
	}
	v.out = append(v.out, printed[:bytes.LastIndexByte(printed, '\n')+1]...)
	v.continues(server)
}

// continues checks that each whole request of the server continues the last one.
func (v *victim) continues(server *modelserver.Server) {
	v.t.Helper()
	for _, q := range server.Requests() {
		if !json.Valid(q.Body) {
			continue // killed while it was sent
		}
		if err := modelserver.Strict(v.format, q.Body); err != nil {
			v.t.Errorf("request %d of run %d would be refused: %v", q.N, v.rounds, err)
		}
		if v.last != nil {
			broke, err := modelserver.Prefix(v.format, v.last, q.Body)
			if err != nil || broke != nil {
				v.t.Errorf("request %d of run %d does not continue the one before: %v %v", q.N, v.rounds, broke, err)
			}
		}
		v.last = q.Body
	}
}

func (v *victim) lastRecord() string {
	_, records := v.journal()
	if len(records) == 0 {
		return "none"
	}
	return records[len(records)-1].Type
}

// check looks at the journal after a kill.
func (v *victim) check() {
	v.t.Helper()
	id, records := v.journal()
	if id == "" {
		if v.last != nil || len(outputLines(v.t, v.out)) > v.rounds { // more than the first lines
			v.t.Error("there is no journal, and yet something was sent or shown")
		}
		return
	}
	history, err := v.store().Load(id)
	if err != nil {
		v.t.Fatal(err)
	}
	if _, mends := core.Validate(history.Messages); len(mends) > 0 {
		v.t.Errorf("the loaded conversation needs mending: %q", mends)
	}
	for _, notice := range history.Notices {
		if !strings.Contains(notice, "closed as interrupted") && !strings.Contains(notice, "right after their calls") &&
			!strings.Contains(notice, "was cut off while it was written") {
			v.t.Errorf("unexpected notice: %s", notice)
		}
	}
	report, err := v.store().Verify(id)
	if err != nil || len(report.Problems) > 0 {
		v.t.Errorf("verify: %v %v", report, err)
	}
	v.nothingLost(records)
}

// nothingLost compares the journal with all that was shown and done.
func (v *victim) nothingLost(records []record) {
	v.t.Helper()
	have := map[string]int{}
	for _, r := range records {
		have[r.Type]++
		for _, b := range r.Message.Blocks {
			have[r.Type+" "+b.ID+b.Text]++
		}
		if r.Type == "intent" {
			have["intent "+r.ID]++
		}
	}
	want := func(what string) {
		if have[what] == 0 {
			v.t.Errorf("the journal lost %q", what)
		}
	}
	results := 0
	for _, l := range outputLines(v.t, v.out) {
		for _, c := range l.said(v.t) {
			switch c.Type {
			case "text":
				want("assistant " + c.Text)
			case "tool_use":
				want("assistant " + c.ID)
			case "tool_result":
				want("tool_results " + c.ToolUseID)
			}
		}
		if l.Type == "result" {
			results++
		}
	}
	if have["end"] < results {
		v.t.Errorf("%d results were printed, the journal has %d ends", results, have["end"])
	}
	for _, ran := range strings.Fields(v.read("ran.txt")) {
		want("intent " + ran)
	}
	written, err := filepath.Glob(filepath.Join(v.dir, "r*s*.txt"))
	if err != nil {
		v.t.Fatal(err)
	}
	for _, path := range written {
		want("intent call_" + strings.TrimSuffix(filepath.Base(path), ".txt"))
	}
}

// goOn takes the session up and lets it end.
func (v *victim) goOn() {
	v.t.Helper()
	id, _ := v.journal()
	server := v.serve(v.format, modelserver.Step{Text: "Gone on."})
	cmd := v.garuda("-p", "-c", "--yolo", "--output-format", "json", "go on")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		v.t.Fatalf("going on: %v\n%s%s", err, out, stderr.Bytes())
	}
	if n := len(server.Requests()); n != 1 {
		v.t.Errorf("going on took %d requests", n)
	}
	v.continues(server)
	_, records := v.journal()
	if kinds := types(records); kinds[len(kinds)-1] != "end" {
		v.t.Errorf("the journal ends with %s", kinds[len(kinds)-1])
	}
	if left := commandsOf(v.t, v.pids); len(left) > 0 {
		v.t.Errorf("processes of a killed run are still there after the next start: %v", left)
	}
	if id != "" && !slices.Contains(types(records), "resume") {
		v.t.Error("the session was not taken up")
	}
}

// TestKillWhileACommandStarts kills in the moment in which the first command
// runs, when least is on record. What it has started by then in a session of its
// own must not outlive the next start.
func TestKillWhileACommandStarts(t *testing.T) {
	for n := range kills(t) {
		t.Run(strconv.Itoa(n), killWhileACommandStarts)
	}
}

func killWhileACommandStarts(t *testing.T) {
	t.Parallel()
	r := &running{project: newProject(t)}
	r.must(syscall.Mkfifo(filepath.Join(r.dir, "started"), 0o600))
	cmd := r.garuda("tools", "call", "--yolo", "bash",
		`{"command":"setsid sleep 60 >/dev/null 2>&1 & echo up > started; sleep 60"}`)
	r.must(cmd.Start())
	r.commandStarted()
	r.must(cmd.Process.Kill())
	_ = cmd.Wait() // it was killed; that is its error
	r.must(r.garuda("tools").Run())
	if left := commandsOf(t, []int{cmd.Process.Pid}); len(left) > 0 {
		t.Fatalf("processes of a killed run are still there after the next start: %v", left)
	}
}
