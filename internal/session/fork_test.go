package session

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

// A copy holds what the session held, blobs too, and goes its own way; the
// session it came from may be open meanwhile.
func TestFork(t *testing.T) {
	s := newFixture(t).Store
	j, err := s.Create("20260101-000000-aaaa", &Start{SessionID: "20260101-000000-aaaa", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	long := strings.Repeat("long text ", 10_000)
	for _, rec := range []Record{
		&User{Message: core.UserText(long)},
		&Assistant{Step: 1, Message: &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text("yes")}}},
		&End{StopReason: core.EndDone, Steps: 1},
	} {
		if err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
	}
	fork, h, err := s.Fork("20260101-000000-aaaa", "20260101-000000-bbbb", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	if len(h.Messages) != 2 || h.Messages[0].PlainText() != long {
		t.Fatalf("the copy holds %d messages", len(h.Messages))
	}
	if err := fork.Append(&User{Message: core.UserText("only in the copy")}); err != nil {
		t.Fatal(err)
	}
	first, err := s.Load("20260101-000000-aaaa")
	if err != nil || len(first.Messages) != 2 {
		t.Errorf("the session it came from holds %d messages (%v), want its 2", len(first.Messages), err)
	}
	if _, _, err := s.Fork("20260101-000000-aaaa", "20260101-000000-bbbb", 0); err == nil {
		t.Error("a copy overwrote another session")
	}
	if _, _, err := s.Fork("20260101-000000-aaaa", "../x", 0); err == nil {
		t.Error("a copy was made outside the folder")
	}
}

// A copy from a step holds that step with the results of its calls, and nothing of what
// came after.
func TestForkFromAStep(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, append(append(turn(1), turn(2)...), &Title{Title: "named later"})...) // two steps a turn
	whole := f.load(t, testID)
	for step, want := range map[int]int{1: 3, 2: 4, 3: 7, 4: 8} {
		id := "20260101-120000-000" + string(rune('0'+step))
		j, h, err := f.Fork(testID, id, step)
		if err != nil {
			t.Fatal(err)
		}
		if h.Steps != step || len(h.Messages) != want || len(h.Notices) > 0 {
			t.Errorf("step %d: %d steps, %d messages, want %d; %q", step, h.Steps, len(h.Messages), want, h.Notices)
		}
		if d := cmp.Diff(whole.Messages[:want], h.Messages); d != "" {
			t.Errorf("step %d: %s", step, d)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err := f.Verify(id); err != nil || len(r.Problems) > 0 {
			t.Errorf("step %d: %v %v", step, r, err)
		}
	}
	if _, _, err := f.Fork(testID, "20260101-120000-9999", 5); !errors.Is(err, ErrNoStep) {
		t.Errorf("%v, want ErrNoStep", err)
	}
}

// What a compaction left out of the conversation is in the transcript.
func TestTranscriptIsWhole(t *testing.T) {
	f := newFixture(t)
	f.write(t, testID, append(turn(1), user("next"), summedUp(core.UserText("next")), answer(core.Text("on we go")))...)
	h, err := f.Transcript(testID)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Export(&b, h); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "prompt 1") || strings.Contains(text, "in short") || !strings.Contains(text, "on we go") {
		t.Errorf("the transcript is\n%s", text)
	}
	if h := f.load(t, testID); len(h.Messages) != 3 {
		t.Errorf("the conversation goes on with %d messages", len(h.Messages))
	}
}
