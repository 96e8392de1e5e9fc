package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"garuda/internal/core"
	"garuda/internal/state"
)

// Recorded is a record as it stands in a journal.
type Recorded struct {
	Record Record
	// Line counts from 1.
	Line int
	T    time.Time
	// Redacted is true where redaction changed something.
	Redacted bool
}

// Recording is a whole journal, to be shown or replayed.
type Recording struct {
	ID, File string
	Records  []Recorded
	// Notices say what could not be read.
	Notices []string

	all     *loaded
	prompts map[string]string
}

// Recording reads all of a session's journal.
func (s *Store) Recording(id string) (*Recording, error) {
	sessions, err := s.folderOf(id)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	defer sessions.Close()
	return recordingIn(sessions, id)
}

// ReadRecording reads a journal that may lie anywhere, with what is beside it in the
// folder of its name.
func ReadRecording(path string) (*Recording, error) {
	id, ok := strings.CutSuffix(filepath.Base(path), journalExt)
	if !ok || !core.ValidSessionID(id) {
		return nil, fmt.Errorf("read %s: %w: a journal's name is a session's id and %s", path, ErrNotFound, journalExt)
	}
	folder, err := state.OpenPath(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer folder.Close()
	return recordingIn(folder, id)
}

func recordingIn(folder *state.Folder, id string) (*Recording, error) {
	data, err := folder.ReadFile(id + journalExt)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	session, err := folder.Sub(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	if session != nil {
		defer session.Close()
	}
	r := &Recording{ID: id, File: filepath.Join(folder.Path(), id+journalExt), prompts: map[string]string{}}
	if r.all, err = load(r.File, data, session); err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, err)
	}
	r.Notices = r.all.notices(r.File)
	for _, l := range r.all.records {
		r.Records = append(r.Records, Recorded{Record: l.rec, Line: l.line, T: l.env.T, Redacted: l.env.redacted})
		if setup := setupOf(l.rec); setup != nil {
			if text, err := readPrompt(setup, session); err == nil {
				r.prompts[setup.Prompt] = text
			}
		}
	}
	return r, nil
}

// Prompt is the system prompt of a setup; ok is false where the journal does not
// hold it.
func (r *Recording) Prompt(setup *Setup) (text string, ok bool) {
	if setup == nil {
		return "", false
	}
	text, ok = r.prompts[setup.Prompt]
	return text, ok
}

// Before is what the journal held before Records[n] was written, as who resumes it
// gets it.
func (r *Recording) Before(n int) *History {
	part := &loaded{records: r.all.records[:n]}
	if n > 0 {
		part.lastSeq = r.all.records[n-1].env.Seq
	}
	return rebuild(r.ID, r.File, part)
}
