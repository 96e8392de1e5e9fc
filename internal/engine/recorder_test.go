package engine

import (
	"errors"
	"strings"
	"testing"

	"garuda/internal/core"
	"garuda/internal/tool"
)

func TestJournalFailureIsSaidOnceAndKept(t *testing.T) {
	b := newBench(t, Config{}, []tool.Tool{looker()}, calls(use("1", "look", `{}`)), says("ok"))
	b.journal.failAt = 2
	b.s.Submit(Prompt{Text: "go"})
	notices := 0
	events := b.until(func(e Event) bool { _, ok := e.(TurnEnded); return ok })
	for _, e := range events {
		if n, ok := e.(Notice); ok && strings.Contains(n.Text, "no space left") {
			notices++
		}
	}
	r := events[len(events)-1].(TurnEnded).Result
	if r.End != core.EndDone || r.JournalErr == nil || notices != 1 {
		t.Errorf("ended %s, journal %v, %d notices; want done, the error, 1", r.End, r.JournalErr, notices)
	}
}

func TestUnopenedJournalLeavesTheSessionInMemory(t *testing.T) {
	b := newBench(t, Config{OpenJournal: func() (Journal, error) { return nil, errors.New("read-only file system") }}, nil, says("ok"))
	b.journal.err = errors.New("expected")
	if r := b.turn("go"); r.End != core.EndDone || r.JournalErr == nil {
		t.Errorf("ended %s, journal %v", r.End, r.JournalErr)
	}
}
