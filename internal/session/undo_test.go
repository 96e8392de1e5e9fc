package session

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"garuda/internal/core"
)

// said are the texts of a conversation, in order.
func said(messages []*core.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.PlainText())
	}
	return out
}

// TestTakenBack: undo cuts the conversation where the turn began, redo brings it again,
// a new message ends that, and what says another turn changes nothing.
func TestTakenBack(t *testing.T) {
	h := &History{}
	var steps int
	do := func(want []string, records ...Record) {
		t.Helper()
		for _, rec := range records {
			steps++
			h.apply(loadedRecord{rec: rec})
		}
		if diff := cmp.Diff(want, said(h.Messages)); diff != "" {
			t.Fatalf("after record %d:\n%s", steps, diff)
		}
	}
	answer := func(text string) *Assistant {
		return &Assistant{Message: &core.Message{Role: core.RoleAssistant, Blocks: []core.Block{core.Text(text)}}}
	}
	do([]string{"one", "1"}, &Snapshot{Point: "a"}, &User{Message: core.UserText("one")}, answer("1"))
	do([]string{"one", "1", "two", "2"}, &Snapshot{Point: "b"}, &User{Message: core.UserText("two")}, answer("2"))
	do([]string{"one", "1"}, &Undo{Point: "b", Files: true, After: "b.after", Conversation: true})
	do([]string{"one", "1"}, &Undo{Point: "a", Files: true, After: "a.after"})
	if len(h.Back.Points) != 0 || len(h.Back.Undone) != 2 || h.Back.Undone[0].Undo.After != "b.after" {
		t.Fatalf("%+v", h.Back)
	}
	do([]string{"one", "1"}, &Redo{Point: "b"}) // not the last undo
	do([]string{"one", "1"}, &Redo{Point: "a"})
	do([]string{"one", "1", "two", "2"}, &Redo{Point: "b"})
	do([]string{"one", "1", "two", "2"}, &Undo{Point: "a", Conversation: true}) // not the newest turn
	do([]string{"one", "1"}, &Undo{Point: "b", Conversation: true})
	do([]string{"one", "1", "three"}, &Snapshot{Point: "c"}, &User{Message: core.UserText("three")})
	do([]string{"one", "1", "three"}, &Redo{Point: "b"})
	if len(h.Back.Undone) != 0 || len(h.Back.Points) != 2 {
		t.Fatalf("%+v", h.Back)
	}
}
