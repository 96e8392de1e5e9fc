package session

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"garuda/internal/core"
	"garuda/internal/session/redact"
	"garuda/internal/state"
)

const (
	testID = "20260101-120000-abcd"
	secret = "corp-internal-value"
)

// stepClock is a second later each time it is asked.
type stepClock struct {
	core.Clock
	now time.Time
}

func (c *stepClock) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

type fixture struct {
	*Store
	root string
	fail []error
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return fixtureIn(t, t.TempDir())
}

func fixtureIn(t testing.TB, root string) *fixture {
	t.Helper()
	dir, err := state.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dir.Close)
	f := &fixture{root: root}
	f.Store = NewStore(dir, Options{
		Redactor: redact.New([]string{secret}),
		Clock:    &stepClock{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)},
		OnFail:   func(err error) { f.fail = append(f.fail, err) },
	})
	return f
}

func (f *fixture) path(id string) string {
	return filepath.Join(f.root, ".garuda", "sessions", id+journalExt)
}

func (f *fixture) create(t testing.TB, id string, recs ...Record) *Journal {
	t.Helper()
	j, err := f.Create(id, &Start{SessionID: id, Root: f.root, Version: "0.1", Model: "anthropic/a"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	add(t, j, recs...)
	return j
}

// write makes a whole session and closes it.
func (f *fixture) write(t testing.TB, id string, recs ...Record) {
	t.Helper()
	if err := f.create(t, id, recs...).Close(); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) load(t testing.TB, id string) *History {
	t.Helper()
	h, err := f.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, mends := core.Validate(h.Messages); len(mends) != 0 {
		t.Errorf("the loaded conversation cannot be sent: %q", mends)
	}
	return h
}

func add(t testing.TB, j *Journal, recs ...Record) {
	t.Helper()
	for _, r := range recs {
		if err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func user(text string) *User { return &User{Message: core.UserText(text)} }

func think(text string) core.Block {
	return core.Block{Type: core.BlockThinking, Text: text, Provider: "anthropic", Opaque: `{"type":"thinking","signature":"c2ln"}`}
}

func call(id string) core.Block {
	return core.Block{Type: core.BlockToolUse, ID: id, Name: "read_file", Input: `{"path":"a.go"}`}
}

// answer is a response with some usage and cost.
func answer(blocks ...core.Block) *Assistant {
	return &Assistant{
		Message: &core.Message{Role: core.RoleAssistant, Blocks: blocks}, Stop: core.StopEndTurn,
		Usage: core.Usage{Input: 10, Output: 5}, UsageReported: true, Cost: core.Cost{USD: 0.5, Known: true},
	}
}

func results(ids ...string) *ToolResults {
	m := &core.Message{Role: core.RoleUser}
	r := &ToolResults{Message: m}
	for _, id := range ids {
		m.Blocks = append(m.Blocks, core.ToolResult(id, false, core.Text("content of "+id)))
		r.Calls = append(r.Calls, CallInfo{ID: id, Name: "read_file", Ms: 3})
	}
	return r
}

// turn is a turn of one step with a call, and its answer.
func turn(n int) []Record {
	id := "call_" + strconv.Itoa(n)
	return []Record{
		user("prompt " + strconv.Itoa(n)), answer(think("hm"), call(id)), results(id), answer(core.Text("done")),
		&End{StopReason: core.EndDone, Steps: 2},
	}
}

func lines(s string) []string { return strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n") }
