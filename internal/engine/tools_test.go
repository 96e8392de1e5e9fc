package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"garuda/internal/core"
	"garuda/internal/engine/budget"
	"garuda/internal/llm"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// finder loads the tools that its path names.
func finder() *fakeTool {
	return newTool("tool_search", tool.Plan{ReadOnly: true, Alone: true}, func(_ context.Context, _ *tool.Call, in map[string]any) (*tool.Output, error) {
		names := strings.Fields(in["path"].(string))
		return &tool.Output{Text: "loaded", Load: names}, nil
	})
}

func named(name string) *fakeTool {
	return newTool(name, tool.Plan{ReadOnly: true, Parallel: true}, echo)
}

// deferring is a session with look and tool_search, where a, b and c are deferred.
func deferring() (Config, []tool.Tool) {
	spec := func(name string) llm.ToolSpec {
		return llm.ToolSpec{Name: name, Description: "about " + name, Schema: json.RawMessage(fakeSchema)}
	}
	return Config{
		Tools:    []llm.ToolSpec{spec("look"), spec("tool_search")},
		Deferred: []llm.ToolSpec{spec("a"), spec("b"), spec("c")},
	}, []tool.Tool{looker(), finder(), named("a"), named("b"), named("c")}
}

// listed are the tools of each request, by name.
func (b *bench) listed() []string {
	var out []string
	for _, r := range b.model.sent() {
		var names []string
		for _, s := range r.Tools {
			names = append(names, s.Name)
		}
		out = append(out, strings.Join(names, " "))
	}
	return out
}

func (b *bench) toolRecords() []string {
	var out []string
	for _, r := range b.journal.records {
		if rec, ok := r.(*session.Tools); ok {
			out = append(out, rec.Why+": "+strings.Join(rec.Added, " "))
		}
	}
	return out
}

func TestLoadedToolsStandAtTheEndOfTheNextRequest(t *testing.T) {
	cfg, tools := deferring()
	b := newBench(t, cfg, tools,
		calls(use("1", "c", `{"path":"x"}`)),
		calls(use("2", "tool_search", `{"path":"c"}`)),
		calls(use("3", "c", `{"path":"x"}`), use("4", "a", `{"path":"y"}`)),
		calls(use("5", "tool_search", `{"path":"b c look nothing a"}`)),
		calls(use("6", "tool_search", `{"path":"a"}`)),
		says("done"))
	if r := b.turn("go"); r.End != core.EndDone {
		t.Fatalf("ended %s: %v", r.End, r.Err)
	}
	want := []string{
		"look tool_search", "look tool_search",
		"look tool_search c", "look tool_search c", // a call of a, which is not loaded, adds nothing
		"look tool_search c b a", "look tool_search c b a",
	}
	if diff := cmp.Diff(want, b.listed()); diff != "" {
		t.Errorf("tools of the requests (-want +got):\n%s", diff)
	}
	messages := b.model.sent()[5].Messages
	var got []string
	for _, m := range messages {
		for i := range m.Blocks {
			if m.Blocks[i].Type == core.BlockToolResult {
				got = append(got, m.Blocks[i].ID+" "+m.Blocks[i].ResultText())
			}
		}
	}
	wantResults := []string{
		`1 Error: c failed: it is not loaded; call tool_search with the query "select:c" first, and then this again`,
		"2 loaded", "3 seen x",
		`4 Error: a failed: it is not loaded; call tool_search with the query "select:a" first, and then this again`,
		"5 loaded", "6 loaded",
	}
	if diff := cmp.Diff(wantResults, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"search: c", "search: b a"}, b.toolRecords()); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c", "b", "a"}, b.s.LoadedTools()); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}

// What was sent is sent again as it was: lists that were given to a model before
// must not change under it.
func TestListsThatWereSentStay(t *testing.T) {
	cfg, tools := deferring()
	b := newBench(t, cfg, tools,
		calls(use("1", "tool_search", `{"path":"a"}`)), calls(use("2", "tool_search", `{"path":"b"}`)),
		calls(use("3", "tool_search", `{"path":"c"}`)), says("done"))
	b.turn("go")
	sent := b.model.sent()
	for i := 1; i < len(sent); i++ {
		if diff := cmp.Diff(sent[i-1].Tools, sent[i].Tools[:len(sent[i-1].Tools)]); diff != "" {
			t.Errorf("request %d begins with other tools:\n%s", i, diff)
		}
	}
	if n := len(sent[3].Tools); n != 5 {
		t.Errorf("the last request lists %d tools", n)
	}
}

func TestACallBehindItsSearchRuns(t *testing.T) {
	cfg, tools := deferring()
	b := newBench(t, cfg, tools,
		calls(use("1", "a", `{"path":"x"}`), use("2", "tool_search", `{"path":"a"}`), use("3", "a", `{"path":"y"}`)), says("done"))
	b.turn("go")
	last := b.model.sent()[1].Messages[2]
	var got []string
	for i := range last.Blocks {
		got = append(got, last.Blocks[i].ResultText())
	}
	want := []string{
		`Error: a failed: it is not loaded; call tool_search with the query "select:a" first, and then this again`, "loaded", "seen y",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// A denied search loads nothing.
func TestADeniedSearchLoadsNothing(t *testing.T) {
	cfg, tools := deferring()
	b := newBench(t, cfg, tools, calls(use("1", "tool_search", `{"path":"a"}`)), says("done"))
	b.decider.deny["tool_search"] = true
	b.turn("go")
	if got := b.listed()[1]; got != "look tool_search" || len(b.toolRecords()) > 0 {
		t.Errorf("listed %s, records %q", got, b.toolRecords())
	}
}

func TestResumedAndForkedSessionsHaveTheirTools(t *testing.T) {
	cfg, tools := deferring()
	b := storedBench(t, cfg, tools,
		calls(use("1", "tool_search", `{"path":"c"}`)), calls(use("2", "tool_search", `{"path":"a"}`)), says("done"))
	b.turn("go")
	before := b.listed()[2]
	if err := b.s.Close(); err != nil {
		t.Fatal(err)
	}
	resumed, history, err := b.store.Resume("20260101-000000-abcd")
	if err != nil {
		t.Fatal(err)
	}
	if err := resumed.Close(); err != nil {
		t.Fatal(err)
	}
	fork, forked, err := b.store.Fork("20260101-000000-abcd", "20260101-000000-beef", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := fork.Close(); err != nil {
		t.Fatal(err)
	}
	for name, h := range map[string]*session.History{"resumed": history, "forked": forked} {
		cfg, tools := deferring()
		cfg.History = h
		again := newBench(t, cfg, tools, calls(use("3", "c", `{"path":"x"}`), use("4", "b", `{"path":"x"}`)), says("done"))
		again.turn("go on")
		if got := again.listed()[0]; got != before || before != "look tool_search c a" {
			t.Errorf("%s: lists %q, was %q", name, got, before)
		}
		messages := again.model.sent()[1].Messages
		last := messages[len(messages)-1].Blocks
		if last[0].ResultText() != "seen x" || !last[1].IsError {
			t.Errorf("%s: the loaded tool says %q, the deferred one %q", name, last[0].ResultText(), last[1].ResultText())
		}
	}
}

// A journal lies in the project: it loads nothing that the settings leave off, and
// what is in every request by now is listed once.
func TestAJournalLoadsOnlyWhatIsDeferred(t *testing.T) {
	cfg, tools := deferring()
	cfg.History = &session.History{Model: "fake/m", Told: "fake/m", Tools: []string{"gone", "b", "look", "b"}}
	b := newBench(t, cfg, tools, says("done"))
	b.s.Submit(Prompt{Text: "go"})
	var notices []string
	for _, e := range b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok }) {
		if n, ok := e.(Notice); ok {
			notices = append(notices, n.Text)
		}
	}
	if got := b.listed()[0]; got != "look tool_search b" {
		t.Errorf("lists %q", got)
	}
	want := []string{"tools that this session had loaded are not offered any more: gone"}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

// Whatever is loaded in whatever order, a list begins with the one before it, and
// names no tool twice and none but what is on or deferred.
func TestAnyLoadsKeepTheListsBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg, _ := deferring()
		l := newToolList(cfg.Tools, cfg.Deferred)
		names := rapid.SampledFrom([]string{"a", "b", "c", "look", "tool_search", "none", ""})
		for range rapid.IntRange(1, 6).Draw(t, "searches") {
			before := l.current()
			added, _ := l.load(rapid.SliceOfN(names, 0, 5).Draw(t, "names"))
			after := l.current()
			if diff := cmp.Diff(append(slices.Clone(before), added...), after); diff != "" {
				t.Fatal(diff)
			}
			seen := map[string]bool{}
			for _, s := range after {
				if seen[s.Name] || l.waits(s.Name) || s.Name == "none" {
					t.Fatalf("lists %s: twice %v, waits %v", s.Name, seen[s.Name], l.waits(s.Name))
				}
				seen[s.Name] = true
			}
			if len(l.loaded) != len(after)-len(cfg.Tools) {
				t.Fatalf("%d loaded of %d listed", len(l.loaded), len(after))
			}
		}
	})
}

func TestLoadedToolsCount(t *testing.T) {
	for _, measured := range []bool{false, true} {
		c := conversation{fixedBytes: 4_000}
		c.append(core.UserText(strings.Repeat("x", 2_000)))
		if measured {
			c.measure(c.bytes, core.Usage{Input: 1_600, Output: 5_000}) // thinking that is not in the bytes
		}
		reserved := func() int {
			whole, after := c.estimate()
			return budget.Largest("", core.Price{}, budget.Size{Estimate: whole, Measured: c.measured, After: after}).Tokens
		}
		before := reserved()
		const bytes = 8_000
		c.listMore(bytes)
		grown := reserved() - before
		if want := c.estimator.Tokens(bytes); grown < want-1 || grown > want+1 {
			t.Errorf("measured %v: the next request is taken for %d tokens more, want %d", measured, grown, want)
		}
	}
}
