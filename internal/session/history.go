package session

import (
	"fmt"
	"slices"
	"strings"
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
	// Models are Usage, Cost and UnreportedUSD by model.
	Models core.ByModel
	// Asking is true when the journal breaks off where the model was to answer: a
	// request may have been on its way.
	Asking bool
	// Turns counts the user's messages, Steps the model's responses.
	Turns, Steps int
	// Context is the size in tokens of the last request with its answer.
	Context int
	Model   string
	// Told is the model that the conversation was last told of.
	Told string
	// Thinking is the last choice of how much the model thinks; nil when there was none.
	Thinking *string
	// Tools are the deferred tools that were loaded, in their order.
	Tools []string
	// Mode is the last one recorded; empty when it never changed. The journal
	// lies in the project, so this is a wish, and not a permission.
	Mode    string
	Title   string
	Prompt  string // the first one
	Notes   []Note // that no user message has taken along yet
	Denials []DenialRecord
	Grants  []GrantRecord
	// Back are the turns that can be taken back, and those that were.
	Back Turns
	// Outline is what the session was about so far.
	Outline Outline
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
	begins := l.begins()
	totals := tallyOf(begins)
	if begins != nil {
		h.restore(begins)
	}
	var mends []string
	for _, r := range l.records {
		mends = append(mends, h.apply(r)...)
		totals.add(r.rec)
		h.Outline.Add(r.rec)
		h.Updated = r.env.T
	}
	h.Turns, h.Steps, h.Usage, h.Cost = totals.Turns, totals.Steps, totals.Usage, totals.Cost
	h.Title, h.UnreportedUSD, h.Models = totals.Title, totals.UnreportedUSD, totals.Models
	fixed, more := core.Validate(h.Messages)
	h.Messages = fixed
	for _, m := range append(mends, more...) {
		h.Notices = append(h.Notices, file+": "+m)
	}
	return h
}

// apply takes up one record and says what it had to mend.
func (h *History) apply(r loadedRecord) (mends []string) {
	switch rec := r.rec.(type) {
	case *Start:
		h.Start, h.Model, h.Told = rec, rec.Model, rec.Model
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
		h.Notes, h.LastEnd, h.Asking, h.Told = nil, "", true, h.Model
		h.Back.Message(rec.Message)
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
	case *Compaction:
		return h.compact(r.env, rec)
	case *Thinking:
		h.Thinking = &rec.Choice
	case *Tools:
		h.Tools = append(h.Tools, rec.Added...)
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
	default:
		h.takeBack(rec)
	}
	return nil
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

// compact puts the messages of a compaction in place of those they stand for. One
// whose place is lost, in a damaged journal, is left out and said.
func (h *History) compact(env envelope, c *Compaction) (mends []string) {
	if c.Stage >= StageSummary {
		h.summarised(env, c)
		return nil
	}
	// The places were counted in a conversation that could be sent.
	fixed, mends := core.Validate(h.Messages)
	h.Messages = slices.Clone(fixed)
	first := len(h.Messages)
	for _, p := range c.Messages {
		at := h.placeOf(p)
		if at < 0 {
			mends = append(mends, fmt.Sprintf("a message that was made smaller (number %d) is not where it was; it stays whole", p.At+1))
			continue
		}
		h.Messages[at] = p.Message
		first = min(first, at)
	}
	if env.redacted && !h.Redacted {
		h.Redacted = true
		h.Messages = append(h.Messages[:first:first], unbound(h.Messages[first:], true)...)
	}
	return mends
}

// summarised begins anew with what a summary left of the conversation: what was
// redacted before it is no part of that any more.
func (h *History) summarised(env envelope, c *Compaction) {
	h.Messages, h.Redacted = nil, false
	for _, p := range c.Messages {
		h.message(env, p.Message)
	}
}

// placeOf finds the message that p stands for: the one that answers the same
// calls, nearest to p's place; -1 when there is none.
func (h *History) placeOf(p Placed) int {
	if p.At >= 0 && p.At < len(h.Messages) && alike(h.Messages[p.At], p.Message) {
		return p.At
	}
	best := -1
	for i, m := range h.Messages {
		if alike(m, p.Message) && (best < 0 || distance(i, p.At) < distance(best, p.At)) {
			best = i
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// alike reports whether one of two messages of the user may stand for the other:
// as many blocks, and results for the same calls.
func alike(a, b *core.Message) bool {
	if a == nil || b == nil || a.Role != core.RoleUser || b.Role != core.RoleUser || len(a.Blocks) != len(b.Blocks) {
		return false
	}
	for i := range a.Blocks {
		isResult := a.Blocks[i].Type == core.BlockToolResult
		if isResult != (b.Blocks[i].Type == core.BlockToolResult) || isResult && a.Blocks[i].ID != b.Blocks[i].ID {
			return false
		}
	}
	return true
}

func (h *History) switchModel(to string) {
	if h.Model != "" && to != "" && to != h.Model {
		h.Messages = ForAnotherModel(h.Messages)
	}
	if to != "" {
		h.Model = to
	}
}

// WithoutThinking returns the conversation without thinking and without the bytes
// that the model bound to its words and calls. Messages that hold neither keep their
// address; an answer that was nothing but thinking is left out.
func WithoutThinking(msgs []*core.Message) []*core.Message { return unbound(msgs, false) }

// ForAnotherModel returns the conversation as another model may get it: as
// WithoutThinking does, and without the blocks that are a provider's own too. Of the
// same format they would go to a model that did not make them.
func ForAnotherModel(msgs []*core.Message) []*core.Message { return unbound(msgs, true) }

func unbound(msgs []*core.Message, whole bool) []*core.Message {
	out := make([]*core.Message, 0, len(msgs))
	for _, m := range msgs {
		if m = unbind(m, whole); m != nil {
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
	goes := func(b *core.Block) bool {
		return b.Type == core.BlockThinking || whole && b.Type == core.BlockOpaque
	}
	carries := func(b *core.Block) bool { return b.Type != core.BlockOpaque && b.Opaque != "" }
	if !slices.ContainsFunc(m.Blocks, func(b core.Block) bool { return goes(&b) || carries(&b) }) {
		return m
	}
	var kept []core.Block
	for _, b := range m.Blocks {
		if goes(&b) {
			continue
		}
		if carries(&b) {
			b.Opaque, b.Provider = "", ""
			switch {
			case b.Type == core.BlockText && strings.TrimSpace(b.Text) == "":
				continue // it stood for nothing else
			case b.Type == core.BlockImage: // only its own model takes it in an answer
				b = core.Text("[an image stood here]")
			}
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
