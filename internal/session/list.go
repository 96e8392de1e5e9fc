package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/state"
)

// Info is what a list shows of a session. Texts are one line each, without
// control characters.
type Info struct {
	ID string `json:"id"`
	// Time is when the journal was last written to.
	Time time.Time `json:"time"`
	// Title is empty where nobody gave one; Prompt, the first one's first 60
	// characters, then stands for it.
	Title  string    `json:"title,omitempty"`
	Prompt string    `json:"prompt,omitempty"`
	Turns  int       `json:"turns"`
	Model  string    `json:"model"`
	Cost   core.Cost `json:"cost"`
	// AtLeast is true where a provider did not report all usage.
	AtLeast bool `json:"atLeast,omitempty"`
	// Size is the journal's, in bytes.
	Size int64 `json:"size"`
	// Unreadable says why nothing else is known of the session.
	Unreadable string `json:"unreadable,omitempty"`
}

// AmbiguousError says that more than one session has the name that was given.
type AmbiguousError struct {
	Ref string
	IDs []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q stands for more than one session: %s", e.Ref, strings.Join(e.IDs, ", "))
}

const (
	indexName    = "index.json"
	indexVersion = 1
	// headSize and tailSize are how many bytes are read of a long journal.
	headSize, tailSize = 64 << 10, 64 << 10
)

// index is a cache of what journals say, kept in index.json. An entry counts
// only while size and time of its journal are what they were; the file may be
// deleted at any time.
type index struct {
	V        int             `json:"v"`
	Sessions map[string]Info `json:"sessions"`
}

// List returns the newest sessions first, by when they were last written to; at
// most limit, or all when limit is 0.
func (s *Store) List(limit int) ([]Info, error) {
	sessions, err := s.dir.Sessions()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	defer sessions.Close()
	files, err := journals(sessions)
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	if limit > 0 && len(files) > limit {
		files = files[:limit]
	}
	known, changed := readIndex(sessions), false
	out := make([]Info, len(files))
	for i, f := range files {
		info, ok := known.Sessions[f.ID]
		if !ok || info.Size != f.Size || !info.Time.Equal(f.Time) {
			info, changed = scanJournal(sessions, f), true
			known.Sessions[f.ID] = info
		}
		info.Time = f.Time // in this machine's time zone
		out[i] = info
	}
	if changed {
		writeIndex(sessions, known)
	}
	return out, nil
}

// Latest is the session that was last written to; ErrNotFound when there is none.
func (s *Store) Latest() (Info, error) {
	list, err := s.List(1)
	if err != nil {
		return Info{}, err
	}
	if len(list) == 0 {
		return Info{}, ErrNotFound
	}
	return list[0], nil
}

// Find returns the session that a person means: an id, its number in List
// counting from 1, an id's beginning that only it has, or its title. The error
// is ErrNotFound or an *AmbiguousError.
func (s *Store) Find(ref string) (Info, error) {
	list, err := s.List(0)
	if err != nil {
		return Info{}, err
	}
	ref = strings.TrimSpace(ref)
	const maxDigits = 4 // an id's beginning is a year
	if n, err := strconv.Atoi(ref); err == nil && len(ref) < maxDigits && n >= 1 && n <= len(list) {
		return list[n-1], nil
	}
	for _, match := range []func(Info) bool{
		func(i Info) bool { return i.ID == ref },
		func(i Info) bool { return core.ValidSessionID(ref) && strings.HasPrefix(i.ID, ref) },
		func(i Info) bool { return ref != "" && strings.EqualFold(i.Title, CleanTitle(ref)) },
	} {
		var found []Info
		for _, i := range list {
			if match(i) {
				found = append(found, i)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			e := &AmbiguousError{Ref: ref}
			for _, i := range found {
				e.IDs = append(e.IDs, i.ID)
			}
			return Info{}, e
		}
	}
	return Info{}, fmt.Errorf("%w: %q", ErrNotFound, ref)
}

// journals lists the journals' files, newest first. Folders hold children's,
// which never count as sessions.
func journals(sessions *state.Folder) ([]Info, error) {
	entries, err := sessions.ReadDir()
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), journalExt)
		if !ok || !core.ValidSessionID(id) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Info{ID: id, Time: info.ModTime(), Size: info.Size()})
	}
	slices.SortFunc(out, func(a, b Info) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return out, nil
}

// scanJournal reads where a journal begins and where it ends. Where that does
// not say enough, after a crash in a long turn, it reads all of it.
func scanJournal(sessions *state.Folder, f Info) Info {
	h, t, err := scanEnds(sessions, f)
	if err != nil {
		f.Unreadable = err.Error()
		return f
	}
	f.Prompt, f.Title, f.Model = h.Prompt, oneLine(t.Title, maxTitle), oneLine(t.Model, maxModel)
	f.Turns, f.Cost = t.Turns, t.Cost
	f.AtLeast = t.Usage.Unreported > 0
	return f
}

func scanEnds(sessions *state.Folder, f Info) (*History, Totals, error) {
	file, err := sessions.Open(f.ID + journalExt)
	if err != nil {
		return nil, Totals{}, err
	}
	defer file.Close()
	blobs, err := sessions.Sub(f.ID)
	if err == nil {
		defer blobs.Close()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, Totals{}, err
	}
	name := f.ID + journalExt
	if f.Size > headSize+tailSize {
		h, t, ok, err := scanLong(file, name, f.Size, blobs)
		if ok || err != nil {
			return h, t, err
		}
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, Totals{}, err
	}
	l, err := load(name, data, blobs)
	if err != nil {
		return nil, Totals{}, err
	}
	h, t := sumUp(l)
	return h, t, nil
}

func sumUp(l *loaded) (*History, Totals) {
	h, t := &History{}, tally{}
	for _, r := range l.records {
		h.apply(r)
		t.add(r.rec)
	}
	return h, t.Totals
}

// scanLong takes the prompt from the head and the totals from the newest end
// record in the tail; ok is false when one of them is not there.
func scanLong(file *os.File, name string, size int64, blobs *state.Folder) (h *History, t Totals, ok bool, err error) {
	head, tail := make([]byte, headSize), make([]byte, tailSize)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, t, false, err
	}
	if _, err := file.ReadAt(tail, size-tailSize); err != nil {
		return nil, t, false, err
	}
	l, err := load(name, head, blobs)
	if err != nil {
		return nil, t, false, err
	}
	if h, _ = sumUp(l); h.Prompt == "" {
		return nil, t, false, nil
	}
	_, tail, _ = bytes.Cut(tail, []byte("\n"))
	l, err = load(name, tail, blobs)
	if err != nil {
		return nil, t, false, err
	}
	for i := len(l.records) - 1; i >= 0; i-- {
		end, isEnd := l.records[i].rec.(*End)
		if !isEnd || end.Totals == nil {
			continue
		}
		sums := tally{Totals: *end.Totals}
		for _, r := range l.records[i+1:] {
			sums.add(r.rec)
		}
		return h, sums.Totals, true, nil
	}
	return nil, t, false, nil
}

func readIndex(sessions *state.Folder) index {
	x := index{}
	data, err := sessions.ReadFile(indexName)
	if err != nil || json.Unmarshal(data, &x) != nil || x.V != indexVersion || x.Sessions == nil {
		x = index{Sessions: map[string]Info{}}
	}
	for id, i := range x.Sessions { // the file lies in the project: anything may stand in it
		i.ID, i.Title, i.Prompt, i.Model = id, oneLine(i.Title, maxTitle), oneLine(i.Prompt, maxPrompt), oneLine(i.Model, maxModel)
		x.Sessions[id] = i
	}
	return x
}

// writeIndex saves the next list some work. Where it cannot be written, on a
// read-only disk, each list scans.
func writeIndex(sessions *state.Folder, x index) {
	for id := range x.Sessions {
		if _, err := sessions.Stat(id + journalExt); err != nil {
			delete(x.Sessions, id)
		}
	}
	x.V = indexVersion
	if data, err := marshal(x); err == nil {
		_ = sessions.Replace(indexName, data, false)
	}
}
