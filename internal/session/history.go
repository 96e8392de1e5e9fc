package session

import (
	"time"

	"garuda/internal/core"
)

// History is what a journal holds, ready to go on with.
type History struct {
	ID string
	// Start is how the session began; nil when its record is lost.
	Start *Start
	// Messages is a conversation that core.Validate accepts: a call that waited
	// for its answer is closed as interrupted. Thinking is left out from the
	// first message on that redaction changed, and before a change of model,
	// because a provider refuses thinking that is bound to other text.
	Messages []*core.Message
	Usage    core.Usage
	// Cost is the sum of what is known; Known only when all of it is.
	Cost core.Cost
	// UnreportedUSD is what requests cost at most whose usage nobody reported.
	UnreportedUSD float64
	// Asking is true when the journal breaks off where the model was to answer: a
	// request may have been on its way.
	Asking bool
	// Turns counts the user's messages, Steps the model's responses.
	Turns, Steps int
	// Context is the size in tokens of the last request with its answer.
	Context int
	Model   string
	// Mode is the last one recorded; empty when it never changed. The journal
	// lies in the project, so this is a wish, and not a permission.
	Mode    string
	Title   string
	Prompt  string // the first one
	Notes   []Note // that no user message has taken along yet
	Denials []DenialRecord
	Grants  []GrantRecord
	// LastEnd is how the last turn ended; empty when it was cut off.
	LastEnd core.TurnEnd
	// Updated is the time of the newest record.
	Updated time.Time
	LastSeq int64
	// Redacted is true when the conversation differs from what the model saw.
	Redacted bool
	// Notices say what could not be read and what was mended.
	Notices []string
}

// rebuild goes through a journal's records in order.
func rebuild(id, file string, l *loaded) *History {
	h := &History{ID: id, LastSeq: l.lastSeq, Notices: l.notices(file)}
	var totals Totals
	for _, r := range l.records {
		h.apply(r)
		totals.add(r.rec)
		h.Updated = r.env.T
	}
	h.Turns, h.Steps, h.Usage, h.Cost = totals.Turns, totals.Steps, totals.Usage, totals.Cost
	h.Title, h.UnreportedUSD = totals.Title, totals.UnreportedUSD
	fixed, mends := core.Validate(h.Messages)
	h.Messages = fixed
	for _, m := range mends {
		h.Notices = append(h.Notices, file+": "+m)
	}
	return h
}

func (h *History) apply(r loadedRecord) {
	switch rec := r.rec.(type) {
	case *Start:
		h.Start, h.Model = rec, rec.Model
	case *Resume:
		h.switchModel(rec.Model)
		h.Asking = false // whoever resumed has booked it
		h.Notes = nil    // a resumed session begins without them
	case *Model:
		h.switchModel(rec.Model)
	case *User:
		if h.Prompt == "" && rec.Message != nil {
			h.Prompt = firstWords(rec.Message)
		}
		h.Notes, h.LastEnd, h.Asking = nil, "", true
		h.message(r.env, rec.Message)
	case *Assistant:
		if rec.UsageReported {
			h.Context = rec.Usage.Context()
		}
		h.Asking = false
		h.message(r.env, rec.Message)
	case *ToolResults:
		h.Asking = true
		h.message(r.env, rec.Message)
	case *Continue:
		h.Asking = true
		h.message(r.env, rec.Message)
	case *Mode:
		h.Mode = rec.Mode
	case *Note:
		h.Notes = append(h.Notes, *rec)
	case *GrantRecord:
		h.Grants = append(h.Grants, *rec)
	case *DenialRecord:
		h.Denials = append(h.Denials, *rec)
	case *End:
		h.LastEnd, h.Asking = rec.StopReason, false
	}
}

func (h *History) message(env envelope, m *core.Message) {
	h.Redacted = h.Redacted || env.redacted
	if h.Redacted {
		m = unbind(m, true)
	}
	if m != nil {
		h.Messages = append(h.Messages, m)
	}
}

func (h *History) switchModel(to string) {
	if h.Model != "" && to != "" && to != h.Model {
		h.Messages = WithoutThinking(h.Messages)
	}
	if to != "" {
		h.Model = to
	}
}

// WithoutThinking returns the conversation as another model may get it: without
// thinking and without the bytes that the former model bound to its calls.
// Messages that hold neither keep their address; an answer that was nothing but
// thinking is left out.
func WithoutThinking(msgs []*core.Message) []*core.Message {
	out := make([]*core.Message, 0, len(msgs))
	for _, m := range msgs {
		if m = unbind(m, false); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// unbind takes out what a provider has bound to the text around it, with whole
// also its opaque blocks; nil when nothing is left.
func unbind(m *core.Message, whole bool) *core.Message {
	if m == nil || m.Role != core.RoleAssistant {
		return m
	}
	bound := func(b *core.Block) bool {
		return b.Type == core.BlockThinking || whole && b.Type == core.BlockOpaque
	}
	sound := true
	for i := range m.Blocks {
		sound = sound && !bound(&m.Blocks[i]) && (m.Blocks[i].Type != core.BlockToolUse || m.Blocks[i].Opaque == "")
	}
	if sound {
		return m
	}
	var kept []core.Block
	for _, b := range m.Blocks {
		if bound(&b) {
			continue
		}
		if b.Type == core.BlockToolUse {
			b.Opaque, b.Provider = "", ""
		}
		kept = append(kept, b)
	}
	if len(kept) == 0 {
		return nil
	}
	return &core.Message{Role: m.Role, Blocks: kept}
}

// firstWords is the beginning of what a person wrote, on one line.
func firstWords(m *core.Message) string {
	for _, b := range m.Blocks {
		if b.Type == core.BlockText && b.Note == "" {
			return oneLine(b.Text, maxPrompt)
		}
	}
	return ""
}
