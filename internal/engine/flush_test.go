package engine

import (
	"strings"
	"sync"
	"testing"

	"garuda/internal/core"
	"garuda/internal/session"
	"garuda/internal/tool"
)

// waitedJournal notes what is appended, and where the disk was waited for.
type waitedJournal struct {
	mu      sync.Mutex
	seen    []string
	written int
	flushed int
}

func (j *waitedJournal) Append(r session.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen, j.written = append(j.seen, r.RecordType()), j.written+1
	return nil
}

// Flush counts as the journal's own does: one that finds all on the disk waits for
// nothing.
func (j *waitedJournal) Flush() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.flushed < j.written {
		j.seen, j.flushed = append(j.seen, "|"), j.written
	}
	return nil
}

func (*waitedJournal) Err() error   { return nil }
func (*waitedJournal) Close() error { return nil }

// TestFourPoints: the disk is waited for when a message is accepted, an answer stored,
// before a call that changes something, and at the end of a step, and nowhere else. The
// wait for an answer runs beside what follows, so where a call comes at once one wait
// may be for both.
func TestFourPoints(t *testing.T) {
	j := &waitedJournal{}
	b := newBench(t, Config{OpenJournal: func() (Journal, error) { return j, nil }}, []tool.Tool{looker(), writer()},
		calls(use("a", "look", `{"path":"x"}`)), calls(use("b", "change", `{"path":"y"}`)), says("Done."))
	if r := b.turn("go"); r.End != core.EndDone {
		t.Fatalf("%+v", r)
	}
	if err := b.s.Close(); err != nil {
		t.Fatal(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	got := strings.Join(j.seen, " ")
	alike := strings.NewReplacer("assistant | tool_results", "assistant tool_results", "assistant | intent", "assistant intent", "assistant | end", "assistant end")
	const want = "user | assistant tool_results | assistant intent | tool_results | assistant end |"
	if text := alike.Replace(got); text != want {
		t.Errorf("the disk was waited for so: %s\nwant %s", got, want)
	}
	if n := strings.Count(got, "|"); n < 5 || n > 8 {
		t.Errorf("%d waits in three steps", n)
	}
}
