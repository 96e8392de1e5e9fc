package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"garuda/internal/core"
	"garuda/internal/session"
)

// recorder keeps the records of a replayed session.
type recorder struct {
	mu      sync.Mutex
	records []session.Record
}

// Append implements engine.Journal.
func (r *recorder) Append(rec session.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records = append(r.records, rec)
	return nil
}

// Flush implements engine.Journal.
func (*recorder) Flush() error { return nil }

// Err implements engine.Journal.
func (*recorder) Err() error { return nil }

// Close implements engine.Journal.
func (*recorder) Close() error { return nil }

func (r *recorder) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.records)
}

func (r *recorder) from(n int) []session.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records[n:]
}

// compare holds what a turn made against what was recorded of it, up to the first
// difference.
func (r *replayer) compare(t *turn, got []session.Record) {
	var made []session.Record
	for _, rec := range got {
		if t.cut {
			if _, end := rec.(*session.End); end {
				continue // it ended with the recording
			}
		}
		if essence(rec) != nil {
			made = append(made, rec)
		}
	}
	for i, want := range t.want {
		if i >= len(made) {
			r.differs(want.line, "the replay did not come as far as this "+want.rec.RecordType()+" record", short(want.rec), "")
			return
		}
		if a, b := encoded(want.rec), encoded(made[i]); !bytes.Equal(a, b) {
			r.differs(want.line, "the "+want.rec.RecordType()+" record", clip(a, b), clip(b, a))
			return
		}
	}
	if len(made) > len(t.want) {
		extra := made[len(t.want)]
		r.differs(r.rec.Records[t.last].Line, "the replay went on with a "+extra.RecordType()+" record", "", short(extra))
	}
}

// essence is what of a record must be the same again: the conversation, the calls, and
// how it ended. Times, costs and who asked whom are not; nil for a record that holds
// nothing else.
func essence(rec session.Record) any {
	type call struct{ ID, Name string }
	switch rec := rec.(type) {
	case *session.User:
		return rec.Message
	case *session.Assistant:
		return struct {
			Step    int
			Message *core.Message
			Stop    core.StopReason
		}{rec.Step, rec.Message, rec.Stop}
	case *session.ToolResults:
		calls := make([]call, len(rec.Calls))
		for i, c := range rec.Calls {
			calls[i] = call{c.ID, c.Name}
		}
		return struct {
			Message   *core.Message
			Calls     []call
			Synthetic bool
		}{rec.Message, calls, rec.Synthetic}
	case *session.Continue:
		return rec
	case *session.Compaction:
		return struct {
			Stage    int
			Reason   string
			Messages []session.Placed
		}{rec.Stage, rec.Reason, rec.Messages}
	case *session.Tools:
		return rec
	case *session.End:
		return struct {
			Stop  core.TurnEnd
			Steps int
		}{rec.StopReason, rec.Steps}
	default:
		return nil
	}
}

// encoded is a record's essence in bytes.
func encoded(rec session.Record) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(essence(rec)); err != nil {
		return []byte(fmt.Sprintf("%T: %v", rec, err)) // no record holds what cannot be encoded
	}
	return bytes.TrimSpace(b.Bytes())
}

func short(rec session.Record) string { return core.Cut(core.Visible(string(encoded(rec))), maxShown) }

// maxShown is how many bytes a report shows of a record that differs.
const maxShown = 300

// clip shows a from a little before where it differs from b.
func clip(a, b []byte) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	const before = 60
	from := max(at-before, 0)
	out := core.Cut(core.Visible(string(bytes.ToValidUTF8(a[from:min(from+2*maxShown, len(a))], nil))), maxShown)
	if from > 0 {
		out = "…" + out
	}
	return out
}
