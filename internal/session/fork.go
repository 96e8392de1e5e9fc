package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"garuda/internal/core"
	"garuda/internal/state"
)

// ErrNoStep says that a session has no step of that number.
var ErrNoStep = errors.New("no such step")

// Fork copies a session under a new id, lines, blobs and kept files as they are, and opens
// the copy. step, from 1, is the last of the session's steps that goes along, with the
// results of its calls; 0 copies all. The session may be open elsewhere: its whole
// lines are copied. A journal that Resume refuses as another's is refused here too, and
// where the disk cannot be written the copy is one in memory, as there, and of all. The
// error is ErrNoStep where the session has not so many.
func (s *Store) Fork(id, copyID string, step int) (*Journal, *History, error) {
	if !core.ValidSessionID(copyID) {
		return nil, nil, fmt.Errorf("copy session %s to %q: %w", id, copyID, errBadID)
	}
	err := s.copySession(id, copyID, step)
	if unwritable(err) && step == 0 {
		return s.inMemory(id, copyID, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("copy session %s: %w", id, err)
	}
	return s.Resume(copyID)
}

func (s *Store) copySession(id, copyID string, step int) error {
	if err := s.checkOwn(id); err != nil {
		return err
	}
	sessions, err := s.folderOf(id)
	if err != nil {
		return err
	}
	defer sessions.Close()
	data, err := sessions.ReadFile(id + journalExt)
	if err != nil {
		return err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1] // a line may be on its way
	if step > 0 {
		if data, err = upTo(data, step); err != nil {
			return err
		}
	}
	if err := errors.Join(copyBlobs(sessions, id, copyID), copyKept(sessions, id, copyID)); err != nil {
		return err
	}
	return sessions.WriteNew(copyID+journalExt, data)
}

// upTo is the part of a journal up to the end of a step, counted from 1.
func upTo(data []byte, step int) ([]byte, error) {
	steps, at := 0, 0
	for at < len(data) {
		next := at + bytes.IndexByte(data[at:], '\n') + 1
		env, err := parseLine(data[at : next-1])
		var version *VersionError
		if errors.As(err, &version) {
			return nil, err
		}
		if err == nil {
			if steps == step && beginsAnew(env.Type) {
				return data[:at], nil
			}
			if env.Type == (*Assistant)(nil).RecordType() {
				steps++
			}
		}
		at = next
	}
	if steps < step {
		return nil, fmt.Errorf("%w: it has %d, and not %d", ErrNoStep, steps, step)
	}
	return data, nil
}

// beginsAnew reports whether a record of this type is no part of the step before it.
func beginsAnew(kind string) bool {
	switch kind {
	case "assistant", "user", "snapshot", "continue", "unreported", "side_usage", "compaction", "resume", "model", "thinking", "undo", "redo":
		return true
	}
	return false
}

func copyBlobs(sessions *state.Folder, id, copyID string) error {
	from, err := sessions.Sub(id + "/" + blobsName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	folder, err := sessions.MakeSub(copyID)
	if err != nil {
		return err
	}
	defer folder.Close()
	to, err := folder.MakeSub(blobsName)
	if err != nil {
		return err
	}
	defer to.Close()
	entries, err := from.ReadDir()
	if err != nil {
		return err
	}
	for _, e := range entries {
		body, err := from.ReadFile(e.Name())
		if err != nil {
			return err
		}
		if err := to.WriteNew(e.Name(), body); err != nil {
			return err
		}
	}
	return nil
}
