package workspace

import (
	"slices"
	"sync"
)

// ReadState is what a session knows of a file.
type ReadState uint8

const (
	// Unread: no successful read of the file in this session.
	Unread ReadState = iota
	// Changed: it was read, and looks different now.
	Changed
	// Current: it was read, and its contents are still those.
	Current
)

// Lines is a range of lines, both ends counted from 1 and included.
type Lines struct{ From, To int }

// Tracker remembers which files a session has read, which lines of them, and
// how they looked. Files go by their real path. It is safe for concurrent use.
type Tracker struct {
	mu    sync.Mutex
	files map[string]*tracked
}

type tracked struct {
	snap  Snapshot
	lines []Lines // sorted, apart
	whole bool
	shown map[Lines]bool // requests whose result is still in the conversation
}

// NewTracker returns a tracker that knows no file.
func NewTracker() *Tracker { return &Tracker{files: map[string]*tracked{}} }

// Read is one successful read of a file.
type Read struct {
	Snapshot Snapshot
	// Asked is the range as it was asked for: equal requests for an unchanged
	// file are answered with a note.
	Asked Lines
	// Got are the lines that were shown in full, and Total how many the file
	// has; 0 when that is not known.
	Got   []Lines
	Total int
}

// Record adds a read. Ranges of reads of the same contents add up; a read of
// changed contents starts anew.
func (t *Tracker) Record(real string, r Read) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.files[real]
	if f == nil || !f.snap.Same(r.Snapshot) {
		f = &tracked{shown: map[Lines]bool{}}
		t.files[real] = f
	}
	f.snap = r.Snapshot
	f.shown[r.Asked] = true
	f.lines = mergeLines(append(f.lines, r.Got...))
	if r.Total > 0 {
		f.whole = f.whole || len(f.lines) == 1 && f.lines[0].From <= 1 && f.lines[0].To >= r.Total
	} else if r.Snapshot.Size == 0 {
		f.whole = true
	}
}

// Wrote notes that this session wrote the file as a whole: it knows all of it.
func (t *Tracker) Wrote(real string, snap Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files[real] = &tracked{snap: snap, whole: true, shown: map[Lines]bool{}}
}

// LineEdit is one replaced place: the lines before that it touched, and how
// many lines stand there now.
type LineEdit struct {
	Old Lines
	New int
}

// Edited notes that this session changed parts of a file that was in the given
// state; edits are in the order of the file. What was read of it stays read, at
// its new lines, and the new lines count as read. If the file was in another
// state only the new lines do.
func (t *Tracker) Edited(real string, before, after Snapshot, edits []LineEdit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := &tracked{snap: after, shown: map[Lines]bool{}}
	if f := t.files[real]; f != nil && f.snap.Same(before) {
		next.whole = f.whole
		next.lines = f.lines
	}
	shift := 0
	for _, e := range edits {
		e.Old.From += shift
		e.Old.To += shift
		delta := e.New - (e.Old.To - e.Old.From + 1)
		next.lines = shiftLines(next.lines, e, delta)
		shift += delta
	}
	t.files[real] = next
}

// Moved notes that a file has another path now; what was read of it stays read.
// A file that was there before is forgotten.
func (t *Tracker) Moved(from, to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.files[from]; f != nil {
		clear(f.shown) // under its old name
		t.files[to] = f
	} else {
		delete(t.files, to)
	}
	delete(t.files, from)
}

// Removed notes that a file is gone.
func (t *Tracker) Removed(real string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.files, real)
}

// Status says what the session knows of a file that looks like now.
func (t *Tracker) Status(real string, now Snapshot) ReadState {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch f := t.files[real]; {
	case f == nil:
		return Unread
	case !f.snap.Same(now):
		return Changed
	}
	return Current
}

// Whole reports whether the session has seen every line of the file as it is now.
func (t *Tracker) Whole(real string, now Snapshot) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.files[real]
	return f != nil && f.whole && f.snap.Same(now)
}

// Seen returns the lines of the file that were read, for error texts.
func (t *Tracker) Seen(real string) []Lines {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.files[real]; f != nil {
		return slices.Clone(f.lines)
	}
	return nil
}

// Shown reports whether the result of an equal request for the same contents is
// still in the conversation.
func (t *Tracker) Shown(real string, asked Lines, now Snapshot) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	f := t.files[real]
	return f != nil && f.shown[asked] && f.snap.Same(now)
}

// ClearShown notes that earlier results are no longer in the conversation:
// after a compaction, or when results were dropped from it. What was read
// stays read.
func (t *Tracker) ClearShown() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.files {
		clear(f.shown)
	}
}

// Forget removes everything: a new session.
func (t *Tracker) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.files)
}

// mergeLines sorts ranges and joins those that touch.
func mergeLines(in []Lines) []Lines {
	in = slices.DeleteFunc(in, func(l Lines) bool { return l.To < l.From })
	slices.SortFunc(in, func(a, b Lines) int { return a.From - b.From })
	out := in[:0]
	for _, l := range in {
		if n := len(out); n > 0 && l.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, l.To)
			continue
		}
		out = append(out, l)
	}
	return out
}

// shiftLines carries ranges over an edit that changes the line count by delta.
func shiftLines(in []Lines, e LineEdit, delta int) []Lines {
	var out []Lines
	for _, l := range in {
		if l.From < e.Old.From {
			out = append(out, Lines{l.From, min(l.To, e.Old.From-1)})
		}
		if l.To > e.Old.To {
			out = append(out, Lines{max(l.From, e.Old.To+1) + delta, l.To + delta})
		}
	}
	if e.New > 0 {
		out = append(out, Lines{e.Old.From, e.Old.From + e.New - 1})
	}
	return mergeLines(out)
}
