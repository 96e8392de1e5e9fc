package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"garuda/internal/core"
	"garuda/internal/session/redact"
	"garuda/internal/state"
)

const (
	journalExt = ".jsonl"
	lockName   = "lock"
	tornInfix  = ".torn-"
	// maxPrompt, maxTitle and maxModel are in characters.
	maxPrompt, maxTitle, maxModel = 60, 60, 120
)

// ErrNotFound says that no session has the name that was given.
var ErrNotFound = errors.New("no such session")

// Options is what all journals of a store share.
type Options struct {
	// Redactor takes secrets out of all that is written; nil knows token shapes only.
	Redactor *redact.Redactor
	// Clock dates the records; nil means the system's.
	Clock core.Clock
	// OnFail is told once, from the goroutine that appends or flushes, why a
	// journal goes on in memory; may be nil.
	OnFail func(error)
}

// Store is the sessions of one root.
type Store struct {
	dir       *state.Dir
	redactor  *redact.Redactor
	redaction rewriter
	clock     core.Clock
	onFail    func(error)
	// wrap stands between journals and their files; tests let writes fail there.
	wrap func(file) file
}

// NewStore makes the store of the root whose state folder is given. It reads
// and makes nothing yet.
func NewStore(dir *state.Dir, o Options) *Store {
	if o.Clock == nil {
		o.Clock = core.SystemClock
	}
	return &Store{
		dir: dir, redactor: o.Redactor, redaction: redaction(o.Redactor), clock: o.Clock, onFail: o.OnFail,
		wrap: func(f file) file { return f },
	}
}

func (s *Store) report(err error) {
	if s.onFail != nil {
		s.onFail(err)
	}
}

// Create begins a session's journal. Its file is made with the first user
// message; that it cannot be made is told then.
func (s *Store) Create(id string, start *Start) (*Journal, error) {
	if !core.ValidSessionID(id) {
		return nil, fmt.Errorf("begin session %q: %w", id, errBadID)
	}
	j := &Journal{id: id, store: s}
	if err := j.Append(start); err != nil {
		return nil, err
	}
	return j, nil
}

var errBadID = errors.New("a session's id consists of letters, digits, - and _")

// Resume opens a journal to go on with it. A last line that was cut off is
// removed, and kept beside the journal. The error is ErrNotFound, a
// *state.LockedError when another process has the session open, a *ForeignError
// when the journal may not be this user's, or a *VersionError. Where the disk cannot be written the journal is one in memory
// whose Err says so.
//
// The caller appends a Resume record before anything else.
func (s *Store) Resume(id string) (*Journal, *History, error) {
	if err := s.checkOwn(id); err != nil {
		return nil, nil, fmt.Errorf("open session %s: %w", id, err)
	}
	j, l, err := s.open(id)
	if unwritable(err) {
		return s.inMemory(id, id, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open session %s: %w", id, err)
	}
	return j, rebuild(id, j.path(), l), nil
}

func unwritable(err error) bool {
	return errors.Is(err, state.ErrReadOnly) || errors.Is(err, state.ErrFull)
}

// inMemory goes on with what session id holds, under the name of another one, in
// a journal that has failed already.
func (s *Store) inMemory(id, as string, why error) (*Journal, *History, error) {
	h, err := s.Load(id)
	if err != nil {
		return nil, nil, errors.Join(why, err)
	}
	h.ID = as
	s.report(why)
	return &Journal{id: as, store: s, seq: h.LastSeq, failed: why}, h, nil
}

// open locks a journal, reads it and makes it ready for appending.
func (s *Store) open(id string) (*Journal, *loaded, error) {
	sessions, err := s.folderOf(id)
	if err != nil {
		return nil, nil, err
	}
	j := &Journal{id: id, store: s}
	if err := j.lockIn(sessions); err != nil {
		return nil, nil, errors.Join(err, j.release())
	}
	f, err := sessions.OpenAppend(id + journalExt)
	if err != nil {
		return nil, nil, errors.Join(err, j.release())
	}
	j.file = s.wrap(diskFile{f})
	src, err := newestOf(sessions, id)
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	l, err := loadFrom(j.path(), src, j.session)
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	if _, err := cutTorn(sessions, id, j.file, l); err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	j.totals = tallyOf(l.begins())
	if begins := l.begins(); begins != nil {
		j.known.restore(begins)
	}
	for _, r := range l.records {
		j.totals.add(r.rec)
		j.learn(r.rec)
	}
	j.seq, j.size = l.lastSeq, l.whole
	j.written.Store(j.size)
	return j, l, nil
}

// folderOf opens the folder of journals where it holds this one.
func (s *Store) folderOf(id string) (*state.Folder, error) {
	if !core.ValidSessionID(id) {
		return nil, fmt.Errorf("%w: %q (%w)", ErrNotFound, id, errBadID)
	}
	sessions, err := s.dir.Sessions()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	if err != nil {
		return nil, err
	}
	if _, err := sessions.Stat(id + journalExt); errors.Is(err, fs.ErrNotExist) {
		sessions.Close()
		return nil, fmt.Errorf("%w: %s", ErrNotFound, id)
	}
	return sessions, nil
}

// Load reads a session without opening it for writing; another process may have it open.
func (s *Store) Load(id string) (*History, error) {
	l, file, err := s.read(id, newestOf)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	return rebuild(id, file, l), nil
}

// read loads what of a journal is read by that.
func (s *Store) read(id string, by func(*state.Folder, string) (*source, error)) (l *loaded, file string, err error) {
	sessions, err := s.folderOf(id)
	if err != nil {
		return nil, "", err
	}
	defer sessions.Close()
	src, err := by(sessions, id)
	if err != nil {
		return nil, "", err
	}
	blobs, err := sessions.Sub(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if blobs != nil {
		defer blobs.Close()
	}
	file = filepath.Join(sessions.Path(), id+journalExt)
	l, err = loadFrom(file, src, blobs)
	return l, file, err
}

// cutTorn removes a last line that was cut off, after a copy of it was kept
// beside the journal, whose name it returns.
func cutTorn(sessions *state.Folder, id string, f file, l *loaded) (kept string, err error) {
	if len(l.torn) == 0 {
		return "", nil
	}
	const copies = 100 // at one and the same place
	for n := 1; ; n++ {
		kept = id + journalExt + tornInfix + strconv.FormatInt(l.whole, 10)
		if n > 1 {
			kept += "-" + strconv.Itoa(n)
		}
		if err = sessions.WriteNew(kept, l.torn); err == nil {
			break
		}
		if have, rerr := sessions.ReadFile(kept); rerr == nil && bytes.Equal(have, l.torn) {
			break // kept before, and the cut was lost
		}
		if !errors.Is(err, fs.ErrExist) || n == copies {
			return "", err
		}
	}
	if err := f.Truncate(l.whole); err != nil {
		return "", state.Explain("cut the torn line off", filepath.Join(sessions.Path(), id+journalExt), err)
	}
	return kept, nil
}

// Rename gives a session that is not open a title: one line of at most 60
// characters. The session keeps its place in the list.
func (s *Store) Rename(id, title string) error {
	title = CleanTitle(title)
	if title == "" {
		return fmt.Errorf("rename session %s: the title is empty", id)
	}
	sessions, err := s.folderOf(id)
	if err != nil {
		return fmt.Errorf("rename session %s: %w", id, err)
	}
	defer sessions.Close()
	info, err := sessions.Stat(id + journalExt)
	if err != nil {
		return fmt.Errorf("rename session %s: %w", id, err)
	}
	j, _, err := s.open(id)
	if err != nil {
		return fmt.Errorf("rename session %s: %w", id, err)
	}
	err = errors.Join(j.Append(&Title{Title: title}), j.Close())
	return errors.Join(err, sessions.SetTime(id+journalExt, info.ModTime()))
}

// CleanTitle makes a text one line of at most 60 characters.
func CleanTitle(title string) string { return oneLine(title, maxTitle) }

// Delete removes a session with all that belongs to it. One that is open
// anywhere is refused with a *state.LockedError.
func (s *Store) Delete(id string) error {
	sessions, err := s.folderOf(id)
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	j := &Journal{id: id, store: s}
	if err := j.lockIn(sessions); err != nil {
		return errors.Join(fmt.Errorf("delete session %s: %w", id, err), j.release())
	}
	entries, err := sessions.ReadDir()
	if err != nil {
		return errors.Join(err, j.release())
	}
	err = sessions.Remove(id + journalExt)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), id+journalExt+tornInfix) {
			err = errors.Join(err, sessions.Remove(e.Name()))
		}
	}
	// Last, since it holds the lock: whoever finds it gone finds no journal either.
	err = errors.Join(err, sessions.Remove(id))
	return errors.Join(err, j.release())
}

// Report is what Verify found.
type Report struct {
	File     string
	Records  int
	Problems []Problem
	// Torn is the length in bytes of a last line that was cut off; it is no
	// problem, since nobody was told that it was kept.
	Torn int
}

// Verify reads every record, checksum and blob of a session. The error is for a
// journal that cannot be read at all.
func (s *Store) Verify(id string) (*Report, error) {
	l, file, err := s.read(id, wholeJournal)
	if err != nil {
		return nil, fmt.Errorf("verify session %s: %w", id, err)
	}
	r := &Report{File: file, Records: len(l.records), Problems: l.problems, Torn: len(l.torn)}
	for _, n := range l.unknown {
		r.Records += n
	}
	return r, nil
}

// Repair cuts off a torn last line and returns the path of the copy that was
// kept; empty when there was nothing to repair.
func (s *Store) Repair(id string) (kept string, err error) {
	sessions, err := s.folderOf(id)
	if err != nil {
		return "", fmt.Errorf("repair session %s: %w", id, err)
	}
	j := &Journal{id: id, store: s}
	kept, err = j.repairIn(sessions)
	if err = errors.Join(err, j.release()); err != nil {
		return "", fmt.Errorf("repair session %s: %w", id, err)
	}
	if kept != "" {
		kept = filepath.Join(sessions.Path(), kept)
	}
	return kept, nil
}

func (j *Journal) repairIn(sessions *state.Folder) (string, error) {
	if err := j.lockIn(sessions); err != nil {
		return "", err
	}
	f, err := sessions.OpenAppend(j.id + journalExt)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := sessions.ReadFile(j.id + journalExt)
	if err != nil {
		return "", err
	}
	l, err := load(j.path(), data, j.session)
	if err != nil {
		return "", err
	}
	return cutTorn(sessions, j.id, diskFile{f}, l)
}

// oneLine turns white space and control characters into single spaces and cuts
// at a number of characters.
func oneLine(s string, limit int) string {
	if len(s) <= limit && isPlain(s) {
		return s
	}
	s = s[:min(len(s), 16*limit)] // enough, whatever it holds
	s = strings.ToValidUTF8(s, "")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	n := 0
	for i := range s {
		if n == limit {
			return strings.TrimSpace(s[:i])
		}
		n++
	}
	return s
}

// isPlain reports whether a text is one line of visible ASCII with single spaces
// between its words, as most are.
func isPlain(s string) bool {
	space := true // none at the beginning
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return !space || s == ""
}
