package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	V int `json:"v"`
	// Sessions are Infos by id, each as it stands in the file: only those are read
	// that a list shows.
	Sessions map[string]json.RawMessage `json:"sessions"`
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
	all := files
	if limit > 0 && len(files) > limit {
		files = files[:limit]
	}
	known, changed := readIndex(sessions), false
	out := make([]Info, len(files))
	var scans []int
	for i, f := range files {
		if info, ok := known.info(f.ID); ok && info.Size == f.Size && info.Time.Equal(f.Time) {
			info.Time = f.Time // in this machine's time zone
			out[i] = info
		} else {
			scans = append(scans, i)
		}
	}
	scanAll(sessions, files, scans, out)
	for _, i := range scans {
		if text, err := marshal(out[i]); err == nil {
			known.Sessions[out[i].ID], changed = text, true
		}
	}
	if changed {
		writeIndex(sessions, known, all)
	}
	return out, nil
}

// scanAll scans the journals at these places.
func scanAll(sessions *state.Folder, files []Info, scans []int, out []Info) {
	const fewest = 8
	onAllCores(len(scans), fewest, func(n int) {
		i := scans[n]
		out[i] = scanJournal(sessions, files[i])
	})
}

// onAllCores does a thing for each number below n; fewest is for how many it is worth
// to begin another goroutine.
func onAllCores(n, fewest int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), 1+n/fewest)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
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
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		id, ok := strings.CutSuffix(e.Name(), journalExt)
		return !ok || !core.ValidSessionID(id) || !e.Type().IsRegular()
	})
	out, err := lookAtAll(entries)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Info) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return out, nil
}

// lookAtAll asks the system for the time and size of each journal, without those
// that were deleted meanwhile.
func lookAtAll(entries []fs.DirEntry) ([]Info, error) {
	const fewest = 64 // for which it is worth to begin another goroutine
	out, failed := make([]Info, len(entries)), make([]error, len(entries))
	onAllCores(len(entries), fewest, func(i int) {
		info, err := entries[i].Info()
		switch {
		case err == nil:
			out[i] = Info{ID: strings.TrimSuffix(entries[i].Name(), journalExt), Time: info.ModTime(), Size: info.Size()}
		case !errors.Is(err, fs.ErrNotExist):
			failed[i] = err
		}
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(i Info) bool { return i.ID == "" }), nil
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
	blobs := &lazyFolder{in: sessions, name: f.ID}
	defer blobs.close()
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
	l, err := blobs.load(name, data)
	if err != nil {
		return nil, Totals{}, err
	}
	h, t := sumUp(l)
	return h, t, nil
}

// lazyFolder is a session's folder that is opened when a line needs it.
type lazyFolder struct {
	in     *state.Folder
	name   string
	folder *state.Folder
	opened bool
}

// of gives the folder where data may refer to blobs in it; nil where there is none.
func (l *lazyFolder) of(data []byte) (*state.Folder, error) {
	if l.opened || !mayReferTo(data) {
		return l.folder, nil
	}
	l.opened = true
	folder, err := l.in.Sub(l.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l.folder = folder
	return folder, nil
}

func (l *lazyFolder) close() {
	if l.folder != nil {
		l.folder.Close()
	}
}

// load loads a part of a journal.
func (l *lazyFolder) load(name string, data []byte) (*loaded, error) {
	folder, err := l.of(data)
	if err != nil {
		return nil, err
	}
	return load(name, data, folder)
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
func scanLong(file *os.File, name string, size int64, blobs *lazyFolder) (h *History, t Totals, ok bool, err error) {
	head, tail := make([]byte, headSize), make([]byte, tailSize)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, t, false, err
	}
	if _, err := file.ReadAt(tail, size-tailSize); err != nil {
		return nil, t, false, err
	}
	l, err := blobs.load(name, head)
	if err != nil {
		return nil, t, false, err
	}
	if h, _ = sumUp(l); h.Prompt == "" {
		return nil, t, false, nil
	}
	_, tail, _ = bytes.Cut(tail, []byte("\n"))
	l, err = blobs.load(name, tail)
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
		return index{Sessions: map[string]json.RawMessage{}}
	}
	return x
}

// info is what the index says of a session. The file lies in the project: anything may
// stand in it.
func (x index) info(id string) (Info, bool) {
	text, ok := x.Sessions[id]
	var i Info
	if !ok || json.Unmarshal(text, &i) != nil {
		return Info{}, false
	}
	i.ID, i.Title, i.Prompt, i.Model = id, oneLine(i.Title, maxTitle), oneLine(i.Prompt, maxPrompt), oneLine(i.Model, maxModel)
	return i, true
}

// writeIndex saves the next list some work; there are all journals. Where it cannot be written, on a
// read-only disk, each list scans.
func writeIndex(sessions *state.Folder, x index, there []Info) {
	if len(x.Sessions) > len(there) { // some were deleted
		known := make(map[string]bool, len(there))
		for _, f := range there {
			known[f.ID] = true
		}
		maps.DeleteFunc(x.Sessions, func(id string, _ json.RawMessage) bool { return !known[id] })
	}
	x.V = indexVersion
	if data, err := marshal(x); err == nil {
		_ = sessions.Replace(indexName, data, false)
	}
}
