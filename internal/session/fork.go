package session

import (
	"errors"
	"fmt"
	"io/fs"

	"garuda/internal/core"
	"garuda/internal/state"
)

// Fork copies a session under a new id, lines, blobs and kept files as they are, and opens
// the copy. The session may be open elsewhere: its whole lines are copied. A
// journal that Resume refuses as another's is refused here too, and where the disk
// cannot be written the copy is one in memory, as there.
func (s *Store) Fork(id, copyID string) (*Journal, *History, error) {
	if !core.ValidSessionID(copyID) {
		return nil, nil, fmt.Errorf("copy session %s to %q: %w", id, copyID, errBadID)
	}
	err := s.copySession(id, copyID)
	if unwritable(err) {
		return s.inMemory(id, copyID, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("copy session %s: %w", id, err)
	}
	return s.Resume(copyID)
}

func (s *Store) copySession(id, copyID string) error {
	if err := s.checkOwn(id); err != nil {
		return err
	}
	l, _, err := s.read(id, newestOf)
	if err != nil {
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
	if err := errors.Join(copyBlobs(sessions, id, copyID), copyKept(sessions, id, copyID)); err != nil {
		return err
	}
	// The journal may have grown since it was read; what was read is whole.
	return sessions.WriteNew(copyID+journalExt, data[:l.whole])
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
