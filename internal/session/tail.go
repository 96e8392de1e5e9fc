package session

import (
	"bytes"
	"io"
	"slices"

	"garuda/internal/state"
)

const (
	// firstTail is how many bytes are first read from a journal's end; each further
	// look back reads so many times as much.
	firstTail, tailGrowth = 1 << 20, 4
	// maxKeptAnswers is how many of the newest grants and denials a State keeps.
	maxKeptAnswers = 200
)

// compactionHead stands in the head of a compaction's line, and, since quotes are
// escaped within texts, hardly anywhere else.
var compactionHead = []byte(`,"type":"compaction"` + crcMember)

// source is what is read of a journal.
type source struct {
	data []byte
	// base is the offset of data in the file.
	base int64
	// after is the number of the record before data; 0 where data is the whole file.
	after int64
	// lines counts the lines before data, when somebody wants to know.
	lines func() (int, error)
}

// wholeJournal reads all of a journal.
func wholeJournal(folder *state.Folder, id string) (*source, error) {
	data, err := folder.ReadFile(id + journalExt)
	return &source{data: data}, err
}

// newestOf reads a journal back to its newest compaction by summary, which holds what
// is to be known of the records before it; all of it where there is none.
func newestOf(folder *state.Folder, id string) (*source, error) {
	return newestFrom(folder, id, firstTail)
}

// newestFrom is newestOf with so many bytes in the first look.
func newestFrom(folder *state.Folder, id string, first int64) (*source, error) {
	f, err := folder.Open(id + journalExt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, state.Explain("read", id+journalExt, err)
	}
	for want := first; want < info.Size(); want *= tailGrowth {
		base := info.Size() - want
		data := make([]byte, want)
		if _, err := io.ReadFull(io.NewSectionReader(f, base, want), data); err != nil {
			return nil, state.Explain("read", id+journalExt, err)
		}
		at, seq, ok := newestCompaction(data)
		if !ok {
			continue
		}
		base += int64(at)
		return &source{
			data: slices.Clip(data[at:]), base: base, after: seq - 1,
			lines: func() (int, error) { return countLines(folder, id, base) },
		}, nil
	}
	return wholeJournal(folder, id)
}

// newestCompaction finds the newest line that a journal can be taken up from. What
// comes before the first newline is no whole line.
func newestCompaction(data []byte) (at int, seq int64, ok bool) {
	for end := len(data); ; {
		found := bytes.LastIndex(data[:end], compactionHead)
		if found < 0 {
			return 0, 0, false
		}
		start := bytes.LastIndexByte(data[:found], '\n') + 1
		length := bytes.IndexByte(data[start:], '\n')
		if start > 0 && length >= 0 && found-start < maxHead {
			line := data[start : start+length]
			env, err := parseLine(line)
			if err == nil {
				if rec, err := decodeRecord(env, line); err == nil && stateOf(rec) != nil {
					return start, env.Seq, true
				}
			}
		}
		end = found
	}
}

// countLines counts the lines of a journal that end before an offset.
func countLines(folder *state.Folder, id string, before int64) (int, error) {
	f, err := folder.Open(id + journalExt)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	const piece = 256 << 10
	buf, n := make([]byte, piece), 0
	for r := io.LimitReader(f, before); ; {
		got, err := r.Read(buf)
		n += bytes.Count(buf[:got], []byte("\n"))
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, state.Explain("read", id+journalExt, err)
		}
	}
}

// stateOf is the state that a record brings, or nil.
func stateOf(rec Record) *State {
	if c, ok := rec.(*Compaction); ok && c.Stage >= StageSummary {
		return c.State
	}
	return nil
}

// begins is the state with which what was loaded begins, or nil.
func (l *loaded) begins() *State {
	if len(l.records) == 0 {
		return nil
	}
	return stateOf(l.records[0].rec)
}

// checkpoint is the state as a compaction keeps it; the journal's lock is held.
func (j *Journal) checkpoint() *State {
	h := &j.known
	s := &State{
		Totals: j.totals.Totals, Debits: j.totals.debits, Told: h.Told, Thinking: h.Thinking, Tools: h.Tools, Mode: h.Mode,
		Prompt: h.Prompt, Outline: h.Outline, Context: h.Context, Asking: h.Asking, LastEnd: h.LastEnd,
		Denials: h.Denials[max(len(h.Denials)-maxKeptAnswers, 0):], Grants: h.Grants[max(len(h.Grants)-maxKeptAnswers, 0):],
	}
	if h.Start != nil {
		start := *h.Start
		start.Setup = nil // who replays reads all
		s.Start = &start
	}
	for _, p := range h.Back.Points {
		s.Points = append(s.Points, p.ID)
	}
	return s
}

// learn takes up a record without its messages.
func (j *Journal) learn(rec Record) {
	h := &j.known
	h.apply(loadedRecord{rec: rec})
	h.Outline.Add(rec)
	h.Messages = nil
	h.Denials = h.Denials[max(len(h.Denials)-maxKeptAnswers, 0):]
	h.Grants = h.Grants[max(len(h.Grants)-maxKeptAnswers, 0):]
}

// restore begins with what a compaction keeps of the records before it.
func (h *History) restore(s *State) {
	h.Start, h.Model, h.Told, h.Thinking, h.Tools, h.Mode = s.Start, s.Totals.Model, s.Told, s.Thinking, s.Tools, s.Mode
	h.Prompt, h.Outline, h.Context, h.Asking, h.LastEnd = s.Prompt, s.Outline, s.Context, s.Asking, s.LastEnd
	h.Denials, h.Grants = s.Denials, s.Grants
	for _, id := range s.Points {
		h.Back.Points = append(h.Back.Points, TurnPoint{ID: id})
	}
}

// tallyOf begins with the sums that a compaction keeps.
func tallyOf(s *State) tally {
	if s == nil {
		return tally{}
	}
	return tally{Totals: s.Totals, debits: s.Debits}
}
