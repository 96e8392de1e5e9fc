package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"garuda/internal/core"
)

func TestRoundTrip(t *testing.T) {
	f := newFixture(t)
	recs := append(turn(1), &Mode{Mode: "plan", By: "user"}, &Unreported{Tokens: 7, Reason: "abort"},
		&DenialRecord{CallID: "d", Tool: "bash", Target: "rm x"}, &GrantRecord{CallID: "g", Tool: "bash", Choice: "once"}, &Title{Title: "A title"})
	recs = append(append(recs, turn(2)...), &Note{Text: "later", Kind: "undo"})
	f.write(t, testID, recs...)
	h := f.load(t, testID)
	var want []*core.Message
	for _, r := range recs {
		switch r := r.(type) {
		case *User:
			want = append(want, r.Message)
		case *Assistant:
			want = append(want, r.Message)
		case *ToolResults:
			want = append(want, r.Message)
		}
	}
	if d := cmp.Diff(want, h.Messages); d != "" {
		t.Error(d)
	}
	h.Messages, h.Start = nil, nil
	if d := cmp.Diff(&History{
		ID: testID, Usage: core.Usage{Input: 40, Output: 20, Unreported: 7}, Cost: core.Cost{USD: 2, Known: true},
		Models: core.ByModel{{Spec: "anthropic/a", Usage: core.Usage{Input: 40, Output: 20, Unreported: 7}, Cost: core.Cost{USD: 2, Known: true}, Requests: 5}},
		Turns:  2, Steps: 4, Context: 15, Model: "anthropic/a", Told: "anthropic/a", Mode: "plan", Title: "A title", Prompt: "prompt 1",
		Notes: []Note{{Text: "later", Kind: "undo"}}, Denials: []DenialRecord{{CallID: "d", Tool: "bash", Target: "rm x"}},
		Outline: Outline{
			First: "prompt 1", Newest: "prompt 2", Answers: []string{"done", "done"},
			Denials: []DenialRecord{{CallID: "d", Tool: "bash", Target: "rm x"}},
		},
		Grants: []GrantRecord{{CallID: "g", Tool: "bash", Choice: "once"}}, LastEnd: core.EndDone, LastSeq: 17,
		Updated: time.Date(2026, 1, 1, 12, 0, 17, 0, time.UTC),
	}, h, cmpopts.IgnoreFields(History{}, "Back")); d != "" {
		t.Error(d)
	}
}

func TestOpenCallIsClosed(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, user("x"), answer(call("a"), call("b")), &Intent{ID: "a", Name: "bash", Target: "make"})
	j, h, err := f.Resume(testID)
	if err != nil {
		t.Fatal(err)
	}
	last := h.Messages[len(h.Messages)-1]
	want := &core.Message{Role: core.RoleUser, Blocks: []core.Block{
		core.ToolResult("a", true, core.Text(core.Interrupted)), core.ToolResult("b", true, core.Text(core.Interrupted)),
	}}
	if d := cmp.Diff(want, last); d != "" {
		t.Error(d)
	}
	add(t, j, &Resume{Model: "anthropic/a"}, user("go on"), answer(core.Text("ok")))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again := f.load(t, testID)
	if d := cmp.Diff(h.Messages, again.Messages[:len(h.Messages)]); d != "" {
		t.Errorf("the second load differs from the first: %s", d)
	}
	if again.LastSeq != 7 || again.Turns != 2 {
		t.Errorf("%+v", again)
	}
}

func TestThinkingAfterRedaction(t *testing.T) {
	f := newFixture(t)
	opaque := core.Block{Type: core.BlockOpaque, Provider: "anthropic", Opaque: `{"type":"search"}`}
	bound := call("c")
	bound.Opaque = `{"id":"fc_1"}`
	f.write(t, testID, user("a"), answer(think("1"), core.Text("kept")), user("the key "+secret), answer(think("2"), opaque, bound),
		results("c"), answer(think("only")), user("b"), answer(think("3"), core.Text("end")))
	h := f.load(t, testID)
	if !h.Redacted || h.Messages[1].Blocks[0].Type != core.BlockThinking {
		t.Error("thinking before the redacted message is gone")
	}
	plain := call("c")
	want := []*core.Message{
		core.UserText("the key [REDACTED]"), {Role: core.RoleAssistant, Blocks: []core.Block{plain}}, results("c").Message,
		core.UserText("b"), {Role: core.RoleAssistant, Blocks: []core.Block{core.Text("end")}},
	}
	if d := cmp.Diff(want, h.Messages[2:]); d != "" {
		t.Error(d)
	}
}

// TestCitationsAfterRedaction: the bytes of a cited text go with its words, on the
// disk already; where nothing was redacted they stay.
func TestCitationsAfterRedaction(t *testing.T) {
	cited := func(text, quoted string) core.Block {
		return core.Block{Type: core.BlockText, Text: text, Provider: "anthropic",
			Opaque: `{"type":"text","text":"` + text + `","citations":[{"cited_text":"` + quoted + `","encrypted_index":"Eo8B"}]}`}
	}
	for name, tt := range map[string]struct {
		given core.Block
		want  core.Block
	}{
		"clean":               {cited("fine", "a page"), cited("fine", "a page")},
		"secret in the text":  {cited("it is "+secret, "a page"), core.Text("it is [REDACTED]")},
		"secret in the quote": {cited("fine", "say "+secret), core.Text("fine")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, testID, user("a"), answer(tt.given))
			if d := cmp.Diff([]core.Block{tt.want}, f.load(t, testID).Messages[1].Blocks); d != "" {
				t.Error(d)
			}
			if kept := strings.Contains(read(t, f.path(testID)), "encrypted_index"); kept != (name == "clean") {
				t.Errorf("the citation is in the journal: %v", kept)
			}
		})
	}
}

func TestThinkingBeforeAModelSwitch(t *testing.T) {
	for name, change := range map[string]Record{"model": &Model{Model: "openai/b"}, "resume": &Resume{Model: "openai/b"}} {
		f := newFixture(t)
		own := core.Block{Type: core.BlockOpaque, Provider: "anthropic", Opaque: `{"type":"search"}`}
		f.write(t, testID, user("a"), answer(think("1"), own, core.Text("x")), change, user("b"), answer(think("2"), core.Text("y")))
		h := f.load(t, testID)
		if got := h.Messages[1].Blocks; len(got) != 1 || h.Messages[3].Blocks[0].Type != core.BlockThinking || h.Model != "openai/b" {
			t.Errorf("%s: %v, model %s", name, got, h.Model)
		}
	}
	f := newFixture(t)
	f.write(t, testID, user("a"), answer(think("1"), core.Text("x")), &Resume{Model: "anthropic/a"}, user("b"))
	if h := f.load(t, testID); len(h.Messages[1].Blocks) != 2 {
		t.Error("a resume with the same model drops thinking")
	}
}

// edit changes a closed journal.
func (f *fixture) edit(t *testing.T, change func(string) string) {
	t.Helper()
	if err := os.WriteFile(f.path(testID), []byte(change(read(t, f.path(testID)))), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDamage(t *testing.T) {
	tests := map[string]struct {
		change func(string) string
		notice string
		turns  int
	}{
		"torn":           {func(s string) string { return s[:len(s)-30] }, ":11: the last line was cut off", 2},
		"only a newline": {func(s string) string { return strings.TrimSuffix(s, "\n") }, ":11: the last line was cut off", 2},
		"changed text":   {func(s string) string { return strings.Replace(s, "prompt 1", "prompt 7", 1) }, ":2: the checksum does not match", 1},
		"no JSON":        {func(s string) string { return "garbage\n" + s }, ":1: not a journal record", 2},
		"zeros":          {func(s string) string { return s + strings.Repeat("\x00", 100) }, ":12: the last line was cut off", 2},
		"empty line":     {func(s string) string { return strings.Replace(s, "\n", "\n\n", 1) }, ":2: not a journal record", 2},
		"a line is gone": {func(s string) string { return strings.Join(append(lines(s)[:3:3], lines(s)[4:]...), "") }, ":4: record 5 follows record 3", 2},
		"a line twice":   {func(s string) string { return strings.Join(append(lines(s)[:2:2], lines(s)[1:]...), "") }, ":3: record 2 stands after record 2", 2},
		"unknown type": {func(s string) string {
			return s + string(appendLine(nil, 12, time.Now(), "future", false, []byte(`{"a":1}`)))
		}, `1 records of the unknown type "future"`, 2},
		"wrong shape": {func(s string) string {
			return s + string(appendLine(nil, 12, time.Now(), "user", false, []byte(`{"message":7}`)))
		}, ":12: not a user record", 2},
		"no message": {func(s string) string {
			return s + string(appendLine(nil, 12, time.Now(), "assistant", false, []byte(`{}`)))
		}, "", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, testID, append(turn(1), turn(2)...)...)
			f.edit(t, tt.change)
			h := f.load(t, testID)
			if all := strings.Join(h.Notices, "\n"); !strings.Contains(all, tt.notice) {
				t.Errorf("%q is not in %q", tt.notice, all)
			}
			if h.Turns != tt.turns {
				t.Errorf("%d turns", h.Turns)
			}
		})
	}
}

func TestNewerVersion(t *testing.T) {
	for _, line := range []string{`{"v":2,"seq":3,"t":"2027-01-01T00:00:00Z","type":"user","crc":"00000000"}`, `{"v":2,"sum":"x"}`} {
		f := newFixture(t)
		f.write(t, testID, user("x"))
		f.edit(t, func(s string) string { return s + line + "\n" })
		var version *VersionError
		if _, err := f.Load(testID); !errors.As(err, &version) || version.V != 2 || version.Line != 3 || version.File != f.path(testID) {
			t.Errorf("%v", err)
		}
		if _, _, err := f.Resume(testID); !errors.As(err, &version) {
			t.Errorf("%v", err)
		}
		if list, err := f.List(0); err != nil || !strings.Contains(list[0].Unreadable, "newer Garuda") {
			t.Errorf("%+v %v", list, err)
		}
	}
}

func TestTornLineIsKeptBeside(t *testing.T) {
	for name, open := range map[string]func(*fixture) error{
		"resume": func(f *fixture) error {
			j, _, err := f.Resume(testID)
			if err == nil {
				err = errors.Join(j.Append(user("next")), j.Close())
			}
			return err
		},
		"repair": func(f *fixture) error { _, err := f.Repair(testID); return err },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, testID, turn(1)...)
			whole := read(t, f.path(testID))
			const torn = `{"v":1,"seq":8,"t":"2026`
			f.edit(t, func(s string) string { return s + torn })
			if r, err := f.Verify(testID); err != nil || len(r.Problems) != 0 || r.Torn != len(torn) || r.Records != 6 {
				t.Errorf("%+v %v", r, err)
			}
			if err := open(f); err != nil {
				t.Fatal(err)
			}
			if got := read(t, f.path(testID)); !strings.HasPrefix(got, whole) || strings.Contains(got, torn) {
				t.Errorf("the journal is now\n%s", got)
			}
			if got := read(t, fmt.Sprintf("%s.torn-%d", f.path(testID), len(whole))); got != torn {
				t.Errorf("kept %q", got)
			}
			if r, err := f.Verify(testID); err != nil || len(r.Problems) != 0 || r.Torn != 0 {
				t.Errorf("%+v %v", r, err)
			}
			if kept, err := f.Repair(testID); kept != "" || err != nil {
				t.Errorf("repaired twice: %q %v", kept, err)
			}
		})
	}
}

// sample is a journal with every kind of thing in it.
func sample(t testing.TB) []byte {
	f := newFixture(t)
	recs := turn(1)
	recs = append(recs, &Model{Model: "openai/b"}, user("key "+secret), answer(think("x"), call("a"), call("b")), results("a", "b"),
		&Continue{Message: core.UserText("go on"), MaxTokens: 32000}, answer(core.Text("ok")), &Note{Text: "n", Kind: "stopped"},
		&Thinking{Choice: "high"}, compacted(Placed{At: 6, Message: &core.Message{Role: core.RoleUser, Blocks: append(shorter("a").Blocks, shorter("b").Blocks...)}}))
	f.write(t, testID, append(recs, turn(2)...)...)
	return []byte(read(t, f.path(testID)))
}

// Wherever a journal is cut, it loads, nothing whole is lost, and the
// conversation can be sent.
func TestCutAnywhere(t *testing.T) {
	data := sample(t)
	const stride = 7 // beside every place around a line's end
	for n := range len(data) + 1 {
		cut := data[:n]
		if n%stride != 0 && !bytes.Contains(data[max(0, n-2):min(len(data), n+2)], []byte("\n")) {
			continue
		}
		l, err := load("x", cut, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if want := bytes.Count(cut, []byte("\n")); len(l.records) != want || len(l.problems) != 0 {
			t.Fatalf("cut at %d: %d records of %d, %v", n, len(l.records), want, l.problems)
		}
		checkSendable(t, rebuild("x", "x", l))
	}
}

func checkSendable(t interface{ Fatalf(string, ...any) }, h *History) {
	if _, mends := core.Validate(h.Messages); len(mends) != 0 {
		t.Fatalf("cannot be sent: %q", mends)
	}
}

func TestDamagedAnywhere(t *testing.T) {
	data := sample(t)
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(data)
		for range rapid.IntRange(1, 4).Draw(t, "places") {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				b[at] = rapid.Byte().Draw(t, "byte")
			case 1:
				b = append(b[:at:at], b[min(len(b), at+rapid.IntRange(1, 300).Draw(t, "cut")):]...)
			case 2:
				b = append(b[:at:at], append([]byte("\n"), b[at:]...)...)
			}
			if len(b) == 0 {
				return
			}
		}
		l, err := load("x", b, nil)
		var version *VersionError
		if errors.As(err, &version) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		checkSendable(t, rebuild("x", "x", l))
	})
}

func FuzzLoad(f *testing.F) {
	data := sample(f)
	f.Add(data)
	for _, l := range lines(string(data)) {
		f.Add([]byte(l))
	}
	f.Add([]byte(`{"v":1,"crc":"00000000"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := load("x", data, nil)
		if err != nil {
			return
		}
		checkSendable(t, rebuild("x", "x", l))
	})
}

func BenchmarkLoad5MB(b *testing.B) {
	f := newFixture(b)
	text := strings.Repeat("\tif err := j.write(n); err != nil { // line of code\n", 200)
	j := f.create(b, testID)
	for i := range 500 {
		id := fmt.Sprint("c", i)
		r := results(id)
		r.Message.Blocks[0].Content[0].Text = text
		if i%20 == 0 {
			add(b, j, user("prompt"))
		}
		add(b, j, answer(think("hm"), call(id)), r)
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Clean(f.path(testID)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Load(testID); err != nil {
			b.Fatal(err)
		}
	}
}

// A journal that breaks off where the model was to answer says so, until it was
// resumed: then that request is booked.
func TestAsking(t *testing.T) {
	lost := &Unreported{Tokens: 70, USD: 0.25, Reason: "killed"}
	for _, tc := range []struct {
		name   string
		recs   []Record
		asking bool
		usd    float64
	}{
		{"after a message", []Record{user("go")}, true, 0},
		{"after an answer", []Record{user("go"), answer(call("1"))}, false, 0},
		{"after results", []Record{user("go"), answer(call("1")), results("1")}, true, 0},
		{"after the end", turn(1), false, 0},
		{"after an interrupt", []Record{user("go"), lost, &End{StopReason: core.EndInterrupted}}, false, 0.25},
		{"after it was resumed", []Record{user("go"), &Resume{Model: "anthropic/a"}, lost}, false, 0.25},
		{"in the next turn", []Record{user("go"), &Resume{Model: "anthropic/a"}, lost, user("again")}, true, 0.25},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, testID, tc.recs...)
			h := f.load(t, testID)
			if h.Asking != tc.asking || h.UnreportedUSD != tc.usd || h.Usage.Unreported != int(tc.usd*280) {
				t.Errorf("asking %v, %f dollars and %d tokens unreported", h.Asking, h.UnreportedUSD, h.Usage.Unreported)
			}
		})
	}
}

// A journal of rubbish does not flood whoever opens it.
func TestManyProblemsAreSummedUp(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, turn(1)...)
	rubbish := strings.Repeat("rubbish\n", 30)
	if err := os.WriteFile(f.path(testID), []byte(rubbish+read(t, f.path(testID))), 0o600); err != nil {
		t.Fatal(err)
	}
	h := f.load(t, testID)
	if n := len(h.Notices); n != 6 || !strings.Contains(h.Notices[5], "25 more lines") || len(h.Messages) != 4 {
		t.Errorf("%d notices for %d messages: %q", n, len(h.Messages), h.Notices)
	}
}
