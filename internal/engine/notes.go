package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"garuda/internal/core"
	"garuda/internal/tool"
)

const (
	// maxNotes is how many notes wait at most; of more only their number is kept.
	maxNotes = 64
	// maxNoteText and maxNoteQuote bound one note, in bytes.
	maxNoteText, maxNoteQuote = 2_000, 8_000
)

// noteLost marks the note that tells how many others were left out.
const noteLost = "lost"

// pending are the notes that wait for the model's next message or step, in the
// order they arose. Turn and session share it.
type pending struct {
	mu    sync.Mutex
	notes []waitingNote
	lost  int
	// arrived is closed and replaced with each arrival; news says of the newest
	// arrival what it was.
	arrived chan struct{}
	news    string
	// recorded gives, in a replay, what take gives.
	recorded func() []core.Block
}

type waitingNote struct {
	block core.Block
	stale func() bool
	// brief is set for what a tool added; only that ends a wait and wakes a chat.
	brief string
}

// put adds one of the session's own notes.
func (p *pending) put(b core.Block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, waitingNote{block: b})
}

// add adds a tool's note, or counts it where too many wait.
func (p *pending) add(n *tool.Note) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) >= maxNotes {
		p.lost++
	} else {
		p.notes = append(p.notes, waitingNote{block: noteBlock(n), stale: n.Stale, brief: n.Brief})
	}
	p.arrive(n.Brief)
}

// message tells those who wait that the user has sent one.
func (p *pending) message() {
	p.arrival("the user sent a message, which comes when this turn ends")
}

// arrival ends the waits with this news.
func (p *pending) arrival(news string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.arrive(news)
}

// arrive ends the waits; the lock is held.
func (p *pending) arrive(news string) {
	p.news = news
	if p.arrived != nil {
		close(p.arrived)
		p.arrived = nil
	}
}

// drop takes out the notes of a kind.
func (p *pending) drop(kind string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = slices.DeleteFunc(p.notes, func(n waitingNote) bool { return n.block.Note == kind })
}

// take gives what waits and is still news, and empties the queue.
func (p *pending) take() []core.Block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recorded != nil {
		p.notes, p.lost = nil, 0
		return p.recorded()
	}
	p.freshen()
	var out []core.Block
	for _, n := range p.notes {
		out = append(out, n.block)
	}
	if p.lost > 0 {
		were := " were"
		if p.lost == 1 {
			were = " was"
		}
		out = append(out, core.Block{
			Type: core.BlockText, Note: noteLost,
			Text: "<garuda_note>" + count(p.lost, "more note") + were + " left out, as too many waited. process_manager shows how things stand.</garuda_note>",
		})
	}
	p.notes, p.lost = nil, 0
	return out
}

// freshen drops what the model knows by now; the lock is held.
func (p *pending) freshen() {
	p.notes = slices.DeleteFunc(p.notes, func(n waitingNote) bool { return n.stale != nil && n.stale() })
}

// wakes reports whether a note waits for which a turn should begin.
func (p *pending) wakes() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freshen()
	return p.briefOf() != ""
}

// briefOf is the first note of a tool that waits, in a line; the lock is held.
func (p *pending) briefOf() string {
	for _, n := range p.notes {
		if n.brief != "" {
			return n.brief
		}
	}
	return ""
}

// next waits for the next arrival.
func (p *pending) next(ctx context.Context) (string, error) {
	p.mu.Lock()
	p.freshen()
	if brief := p.briefOf(); brief != "" {
		p.mu.Unlock()
		return brief, nil
	}
	if p.arrived == nil {
		p.arrived = make(chan struct{})
	}
	arrived := p.arrived
	p.mu.Unlock()
	select {
	case <-arrived:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news, nil
}

// noteBlock is a note as the model gets it.
func noteBlock(n *tool.Note) core.Block {
	text := "<garuda_note>" + harmless(n.Text, maxNoteText)
	if n.Quote != "" {
		text += "\n<output>\n" + harmless(n.Quote, maxNoteQuote) + "\n</output>\n"
	}
	return core.Block{Type: core.BlockText, Note: n.Kind, Text: text + "</garuda_note>"}
}

// harmless shows hidden characters, cuts what is too long, and leaves no mark in
// a text that could end the note which holds it or begin another one.
func harmless(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit] + "…"
	}
	return withoutMarks(core.Visible(s))
}

// withoutMarks leaves no mark of Garuda's in a text, and all else as it is.
func withoutMarks(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(s, '<')
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at+1])
		s = s[at+1:]
		if isMark(s) {
			b.WriteByte('\\')
		}
	}
}

// isMark reports whether what follows a "<" could be read as a note's marks.
func isMark(s string) bool {
	s = strings.TrimLeft(s, "/ \t\n\\")
	for _, mark := range []string{"garuda_", "output"} {
		if len(s) >= len(mark) && strings.EqualFold(s[:len(mark)], mark) {
			return true
		}
	}
	return false
}

// sessionNotes is tool.Notes for a session.
type sessionNotes struct{ s *Session }

// Add implements tool.Notes.
func (n sessionNotes) Add(note tool.Note) {
	n.s.do(func(a *actor) {
		if a.closing {
			return
		}
		a.notes.add(&note)
		a.s.log.publish(Notice{Text: note.Brief})
		a.wake()
	})
}

// Next implements tool.Notes.
func (n sessionNotes) Next(ctx context.Context) (string, error) { return n.s.notes.next(ctx) }

// MessageWaits tells the session that a message of the user waits, elsewhere than
// in its own queue, for the end of the turn: who sleeps until something happens
// wakes up.
func (s *Session) MessageWaits() { s.notes.message() }

// wake begins a turn for notes that wait, where that is wanted: a chat is open,
// nothing runs, and the last turn came to its end by itself. After one that was
// stopped, failed or hit a limit the person speaks first.
func (a *actor) wake() {
	if !a.s.cfg.Wakes || !a.restful || a.closing || a.cancelTurn != nil || !a.notes.wakes() {
		return
	}
	if notes := a.notes.take(); len(notes) > 0 {
		a.startTurn(Prompt{notes: notes})
	}
}
