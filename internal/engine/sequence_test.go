package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"garuda/internal/core"
	"garuda/internal/session"
	"garuda/internal/state"
)

// sequences is how many sequences of events are tried; GARUDA_SEQUENCES says more.
func sequences(t *testing.T) int {
	const small = 60
	text := os.Getenv("GARUDA_SEQUENCES")
	if text == "" {
		return small
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("GARUDA_SEQUENCES: %v", err)
	}
	return n
}

// TestSequences drives sessions through sequences of what a user, a model, tools, an
// agent, crashes and resumes may do, in every state that a session can be in: while a
// model answers, a call runs, several do, a question waits, a retry waits, the
// conversation is summed up. The engine and the journal on disk are real. What holds
// at any time:
//
//   - a request may be sent, begins with the bytes of the one before it, and all of it
//     is on disk;
//   - whatever the program is killed in, and whatever of the unflushed is lost, the
//     journal verifies and loads, with every record that was flushed, as a conversation
//     that may be sent, and with the sums of those records;
//   - the budget of the tree is never passed;
//   - the next prompt works.
//
// TestMain looks for goroutines that are left. The seeds are fixed, so that a failure
// can be had again; what runs at once may still come in another order.
func TestSequences(t *testing.T) {
	for seed := range sequences(t) {
		l := newLife(t, uint64(seed))
		l.run()
		if t.Failed() {
			t.Fatalf("seed %d did: %s", seed, strings.Join(l.did, ", "))
		}
	}
}

const lifeID = "20260101-000000-abcd"

// life is a session through its crashes and resumes.
type life struct {
	*testing.T
	rng  *rand.Rand
	did  []string
	base string // of the folders
	dir  string
	// past are the records of the sessions before this one.
	past []session.Record

	state   *state.Dir
	journal *watchedJournal
	model   *puppetModel
	s       *Session
	pump    *pump
	waiting []*held
	limits  Limits
	// last is the newest request of the conversation, as far as the next must begin
	// with it.
	last []string
	// compacted counts the compactions that a request came after.
	compacted int
	// slack is what was booked for requests that a crash has cut off, whose size then
	// was another one.
	slack int
}

func newLife(t *testing.T, seed uint64) *life {
	base := inMemory(t)
	l := &life{T: t, rng: rand.New(rand.NewPCG(seed, 7)), base: base}
	l.newFolder()
	l.limits = Limits{MaxSteps: 4, TokenBudget: []int{0, 0, 20_000, 100_000}[l.rng.IntN(4)], MaxOutput: 1_000}
	return l
}

// inMemory makes a folder, in memory where the system has a place for that: what is
// written here is looked at for what it is, and the wait for a disk would be most of it.
func inMemory(t *testing.T) string {
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "garuda-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newFolder makes the project's folder anew.
func (l *life) newFolder() {
	dir, err := os.MkdirTemp(l.base, "")
	if err != nil {
		l.Fatal(err)
	}
	l.dir = dir
}

func (l *life) chance(percent int) bool { return l.rng.IntN(100) < percent }

func (l *life) log(format string, args ...any) { l.did = append(l.did, fmt.Sprintf(format, args...)) }

func (l *life) run() {
	l.begin(nil)
	for range 12 + l.rng.IntN(25) {
		l.settle()
		if l.Failed() {
			break
		}
		l.event()
	}
	l.finish()
}

// settle waits until something waits for an event, or nothing runs.
func (l *life) settle() {
	for {
		l.waiting = l.pump.collect(l.waiting)
		if len(l.waiting) > 0 || !l.s.Busy() {
			return
		}
		if !l.pump.wait(20 * time.Second) {
			l.Fatalf("nothing waits and the turn does not end; %s", strings.Join(l.did, ", "))
		}
	}
}

// event does one thing that can happen now.
func (l *life) event() {
	if len(l.waiting) > 0 && l.chance(60) {
		i := l.rng.IntN(len(l.waiting))
		h := l.waiting[i]
		l.waiting = append(l.waiting[:i:i], l.waiting[i+1:]...)
		l.log("%s", h.what)
		h.release(l)
		return
	}
	switch n := l.rng.IntN(20); {
	case n < 7:
		l.log("submit")
		l.s.Submit(Prompt{Text: fmt.Sprint("prompt ", len(l.did))})
	case n < 9:
		l.log("steer")
		l.s.Steer(Prompt{Text: fmt.Sprint("steering ", len(l.did))})
	case n < 11:
		l.log("ctrl-c %v", l.s.Interrupt(StopCommand))
	case n < 13:
		l.log("esc %v", l.s.Interrupt(StopTurn))
	case n == 13:
		l.log("unqueue %d", len(l.s.Unqueue()))
	case n == 14:
		mode := []string{"build", "plan"}[l.rng.IntN(2)]
		l.log("%s", mode)
		_ = l.s.SetMode(mode)
	case n == 15:
		l.log("compact %v", l.s.Compact("") == nil)
	case n < 18:
		l.crash()
	default:
		l.reopen()
	}
}

// finish lets what runs end, and says something to a session that nothing holds up.
func (l *life) finish() {
	for l.s.Busy() && !l.Failed() {
		l.s.Unqueue()
		l.s.Interrupt(StopTurn)
		l.pump.wait(time.Millisecond)
	}
	l.log("last prompt")
	l.model.easy.Store(true)
	// What was stopped is told of before the next prompt begins.
	for sub := l.s.LastEvent(); l.pump.seen.Load() < sub; {
		l.pump.wait(time.Millisecond)
	}
	l.pump.ended()
	l.s.Submit(Prompt{Text: "the last prompt"})
	ends := l.pump.ended()
	for ; len(ends) == 0; ends = l.pump.ended() {
		if !l.pump.wait(20 * time.Second) {
			l.Fatalf("the last prompt gets no answer; %s", strings.Join(l.did, ", "))
		}
	}
	if r := ends[0]; r.End != core.EndDone && (r.End != core.EndTokenBudget || l.limits.TokenBudget == 0) {
		l.Errorf("the last prompt ended %s: %v", r.End, r.Err)
	}
	l.end()
	l.past = append(l.past, l.journal.records()...)
	if h := l.load(); h != nil {
		l.checkTotals(&ends[0].Session, h)
	}
	if err := os.RemoveAll(l.base); err != nil {
		l.Error(err)
	}
}

// checkTotals compares what the session said last with what its journal sums up to.
func (l *life) checkTotals(said *Totals, h *session.History) {
	if d := cmp.Diff(said.Models, h.Models, ofTheModel, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateEmpty()); d != "" {
		l.Errorf("the session said (-) and its journal says (+):\n%s", d)
	}
}

// end closes the session.
func (l *life) end() {
	closed := make(chan error, 1)
	go func() { closed <- l.s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			l.Errorf("close: %v", err)
		}
	case <-time.After(20 * time.Second):
		l.Fatalf("Close does not return; %s", strings.Join(l.did, ", "))
	}
	l.pump.stop()
	l.state.Close()
	l.waiting = nil
}

// reopen ends the session and takes it up again.
func (l *life) reopen() {
	l.log("reopen")
	l.end()
	l.past = append(l.past, l.journal.records()...)
	l.begin(l.load())
}

// crash takes the journal as a kill, or a loss of power, would leave it, and goes on
// from there.
func (l *life) crash() {
	l.log("crash")
	durable, was := l.journal.safe(), l.dir
	l.newFolder()
	if err := copyOf(was, l.dir); err != nil {
		l.Fatal(err)
	}
	recorded := slices.Concat(l.past, l.journal.records())
	l.end()
	if err := os.RemoveAll(was); err != nil {
		l.Error(err)
	}
	l.past, l.last = nil, nil
	name := journalIn(l.dir)
	if name == "" {
		l.begin(nil) // nothing was said
		return
	}
	path := filepath.Join(l.dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		l.Fatal(err)
	}
	// A kill leaves all that was written, a loss of power at least what was flushed.
	if l.chance(50) {
		data = data[:durable+l.rng.IntN(len(data)-durable+1)]
	}
	if linesIn(data) == 0 { // the session never began
		l.newFolder()
		l.begin(nil)
		return
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		l.Fatal(err)
	}
	l.past = recorded[:linesIn(data)-1] // the first line is the start
	l.begin(l.load())
}

// load verifies the journal on disk, and compares what it loads as with the records of
// the past. It is nil where nothing was said.
func (l *life) load() *session.History {
	dir, err := state.Open(l.dir)
	if err != nil {
		l.Fatal(err)
	}
	defer dir.Close()
	store := session.NewStore(dir, session.Options{})
	report, err := store.Verify(lifeID)
	if errors.Is(err, session.ErrNotFound) {
		l.past = nil
		return nil
	}
	if err != nil || len(report.Problems) > 0 || report.Records-1 != len(l.past) {
		l.Fatalf("verify: %v, %+v, want %d records", err, report, len(l.past))
	}
	h, err := store.Load(lifeID)
	if err != nil {
		l.Fatalf("load: %v", err)
	}
	l.compare(h)
	if total := h.Usage.Total(); l.limits.TokenBudget > 0 && total > l.limits.TokenBudget+l.slack {
		l.Errorf("%d tokens of %d are spent", total, l.limits.TokenBudget)
	}
	return h
}

// compare holds a loaded session against its records.
func (l *life) compare(h *session.History) {
	if d := cmp.Diff(asJSON(conversationOf(l.past)), asJSON(h.Messages)); d != "" {
		l.Errorf("the records (-) load as another conversation (+):\n%s", d)
	}
	var sum core.Usage
	l.slack = 0
	for _, r := range l.past {
		sum = sum.Add(usageOf(r))
		if lost, ok := r.(*session.Unreported); ok && strings.HasPrefix(lost.Reason, "the program ended") {
			l.slack += lost.Tokens
		}
	}
	if d := cmp.Diff(sum, h.Usage); d != "" {
		l.Errorf("the records (-) load with other sums (+):\n%s", d)
	}
}

// usageOf is what a record adds to the sums. Agents report what was booked before.
func usageOf(r session.Record) core.Usage {
	switch r := r.(type) {
	case *session.Assistant:
		return r.Usage
	case *session.Unreported:
		return core.Usage{Unreported: r.Tokens}
	case *session.SideUsage:
		return r.Usage
	case *session.ChildSpend:
		return r.Usage
	}
	return core.Usage{}
}

func asJSON(msgs []*core.Message) []string {
	out := make([]string, len(msgs))
	for i, m := range msgs {
		b, err := json.Marshal(m)
		if err != nil {
			panic(err) // no message fails
		}
		out[i] = string(b)
	}
	return out
}
