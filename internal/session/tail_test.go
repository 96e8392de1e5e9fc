package session

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"garuda/internal/core"
)

// summedUp is a compaction by summary that keeps the newest messages.
func summedUp(kept ...*core.Message) *Compaction {
	c := &Compaction{Stage: StageSummary, Reason: "due", Before: 900, After: 100, Cost: core.Cost{Known: true}}
	for i, m := range append([]*core.Message{core.UserText("what was said so far, in short")}, kept...) {
		c.Messages = append(c.Messages, Placed{At: i, Message: m})
	}
	return c
}

// anyRecords are records in an order in which a session could write them.
func anyRecords(t *rapid.T) []Record {
	var out []Record
	turns := rapid.IntRange(1, 6).Draw(t, "turns")
	for n := range turns {
		if rapid.Bool().Draw(t, "point") {
			out = append(out, &Snapshot{Point: fmt.Sprintf("point-%d", n)})
		}
		out = append(out, user(fmt.Sprintf("prompt %d %s", n, strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "size")))))
		for step := range rapid.IntRange(0, 3).Draw(t, "steps") {
			id := fmt.Sprintf("call_%d_%d", n, step)
			res := results(id)
			if rapid.Bool().Draw(t, "todos") {
				res.Calls = []CallInfo{{ID: id, Name: "todo_write", Todos: []core.Todo{{Content: id, Status: core.TodoPending}}}}
			}
			out = append(out, answer(think("hm"), call(id)), res)
			if rapid.Bool().Draw(t, "denied") {
				out = append(out, &DenialRecord{CallID: id, Tool: "bash", Target: "rm x", By: "user"})
			}
		}
		out = append(out, rapid.SampledFrom([]Record{
			&Mode{Mode: "plan", By: "user"}, &Title{Title: "a title"}, &Thinking{Choice: "high"}, &Model{Model: "openai/b"},
			&Tools{Added: []string{"git_blame"}, Why: ToolsSearched}, &Unreported{Tokens: 7, Reason: "x"},
			&ChildSpend{Call: "c", Tokens: 3, ModelUsage: core.ModelUsage{Spec: "a/b", Usage: core.Usage{Input: 3}, Requests: 1}},
		}).Draw(t, "more"))
		if rapid.Bool().Draw(t, "summary") {
			out = append(out, summedUp(core.UserText("newest")))
		}
		out = append(out, answer(core.Text("done")), &End{StopReason: core.EndDone, Steps: 1})
	}
	return out
}

// TestTailIsTheWhole: a journal that is read back to its newest compaction says the
// same as one that is read from its beginning, wherever the first look back falls.
func TestTailIsTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := fixtureIn(t, t.TempDir())
		f.write(t, testID, anyRecords(rt)...)
		sessions, err := f.folderOf(testID)
		if err != nil {
			rt.Fatal(err)
		}
		defer sessions.Close()
		src, err := newestFrom(sessions, testID, int64(rapid.IntRange(1, 3000).Draw(rt, "first")))
		if err != nil {
			rt.Fatal(err)
		}
		tail, err := loadFrom("f", src, nil)
		if err != nil {
			rt.Fatal(err)
		}
		data, err := os.ReadFile(f.path(testID))
		if err != nil {
			rt.Fatal(err)
		}
		all, err := load("f", data, nil)
		if err != nil {
			rt.Fatal(err)
		}
		if tail.whole != int64(len(data)) || tail.lastSeq != all.lastSeq || len(tail.problems) > 0 {
			rt.Fatalf("%d bytes of %d, record %d of %d, %v", tail.whole, len(data), tail.lastSeq, all.lastSeq, tail.problems)
		}
		same := cmp.Options{cmpopts.IgnoreFields(History{}, "Back"), cmpopts.EquateEmpty()}
		if d := cmp.Diff(rebuild(testID, "f", all), rebuild(testID, "f", tail), same); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestTailOfALongJournal(t *testing.T) {
	f := newFixture(t)
	var recs []Record
	for n := range 40 {
		recs = append(recs, turn(n)...)
	}
	recs = append(recs, user("now"), summedUp(core.UserText("now")), answer(core.Text("on we go")), &End{StopReason: core.EndDone, Steps: 1})
	f.write(t, testID, recs...)
	sessions, err := f.folderOf(testID)
	if err != nil {
		t.Fatal(err)
	}
	defer sessions.Close()
	src, err := newestFrom(sessions, testID, 1000)
	if err != nil || src.after == 0 || len(src.data) > 8<<10 {
		t.Fatalf("%v: read %d bytes, after record %d: more than is needed", err, len(src.data), src.after)
	}
	h := f.load(t, testID)
	if h.Turns != 41 || h.Prompt != "prompt 0" || len(h.Messages) != 3 || h.Start == nil {
		t.Errorf("%d turns, first prompt %q, %d messages, start %v", h.Turns, h.Prompt, len(h.Messages), h.Start)
	}
	// A damaged line behind it is named with its place in the whole file.
	data := read(t, f.path(testID))
	damaged := strings.Replace(data, "on we go", "on we gu", 1)
	if err := os.WriteFile(f.path(testID), []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err = newestFrom(sessions, testID, 1000)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loadFrom("f", src, nil)
	before, _, _ := strings.Cut(data, "on we go")
	if want := strings.Count(before, "\n") + 1; err != nil || len(l.problems) != 1 || l.problems[0].Line != want {
		t.Errorf("%v %v, want line %d", err, l.problems, want)
	}
}

func FuzzTail(f *testing.F) {
	rec, err := json.Marshal(&Compaction{Stage: StageSummary, State: &State{}, Messages: []Placed{{Message: core.UserText("x")}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("x\n" + string(appendLine(nil, 5, core.SystemClock.Now(), "compaction", false, rec))))
	f.Add(compactionHead)
	f.Fuzz(func(t *testing.T, data []byte) {
		at, seq, ok := newestCompaction(data)
		if !ok {
			return
		}
		l, err := loadFrom("f", &source{data: data[at:], base: int64(at), after: seq - 1}, nil)
		if err == nil && l.begins() == nil {
			t.Fatal("what was found is no beginning")
		}
		if err == nil {
			rebuild(testID, "f", l)
		}
	})
}
