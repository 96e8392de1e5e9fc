package session

import (
	"strings"
	"testing"

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
	fork, h, err := s.Fork("20260101-000000-aaaa", "20260101-000000-bbbb")
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
	if _, _, err := s.Fork("20260101-000000-aaaa", "20260101-000000-bbbb"); err == nil {
		t.Error("a copy overwrote another session")
	}
	if _, _, err := s.Fork("20260101-000000-aaaa", "../x"); err == nil {
		t.Error("a copy was made outside the folder")
	}
}
